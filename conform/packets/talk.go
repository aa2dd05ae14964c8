package packets

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/packet"
)

// Conversation is two ends, each beside its oracle, and the judge of both. Each datagram comes
// as often as an event refers to it, or never; others are damaged or forged.
type Conversation struct {
	conform.Talk
	Judge *Judge
}

// NewConversation returns two new ends with one configuration, but for their numbers: what the one
// begins to send with is what the other expects. The function makes their machines.
func NewConversation(c WholeConfig, machine func(op *conform.Op, config any) conform.Oracle) *Conversation {
	v := &Conversation{Judge: newJudge(c.NextToSend, c.NextToReceive)}
	v.Judge.forged = rings[c.Rings].SequenceBits != 0 // a datagram may outlive half of so small a space
	for i := range v.Judge.ends {
		m := machine(Whole, c)
		if p, is := m.(*conform.Pair); is {
			p.Judges = append(p.Judges, &v.Judge.ends[i])
		}
		v.Ends = append(v.Ends, &conform.End{
			Op: Whole, Config: c, Machine: m, Poll: Poll{},
			Sent:    func(s conform.Step) []conform.Bytes { return s.(EndpointStep).Datagrams },
			Arrives: func(b conform.Bytes) conform.Event { return Receive{b} },
		})
		c.NextToSend, c.NextToReceive = c.NextToReceive, c.NextToSend
	}
	return v
}

// Converse lets two ends do what a source says. At last nothing is lost any more: what was
// sent is settled, and, if nothing was forged, a packet each way is taken and acked. Then both fall
// silent (PKT-LIVE-2 to PKT-LIVE-5).
func Converse(t conform.T, in conform.Source, most int, judges ...func(*conform.Pair)) {
	t.Helper()
	v := NewConversation(Whole.Configure(in).(WholeConfig), func(op *conform.Op, config any) conform.Oracle {
		p := op.Pair(t, config)
		for _, set := range judges {
			set(p)
		}
		return p
	})
	v.finish(t, v.Play(in, most))
}

func (v *Conversation) finish(t conform.T, now int64) {
	t.Helper()
	for _, end := range v.Ends {
		v.Do(now, end, Above{"take"})
	}
	now += int64(packet.Kept)
	v.Run(now, nil)
	v.Mend(int64(packet.AckDelay) / 4)
	for i, end := range v.Ends {
		e := &v.Judge.ends[i]
		taken, acked := e.taken, e.acked
		v.Do(now, end, Send{"\x01"})
		now += 2 * int64(packet.AckDelay)
		v.Run(now, nil)
		if !v.Judge.forged && (e.taken == taken || e.acked == acked) {
			t.Fatalf("on a network that loses nothing, end %d had %d packets taken and %d acked, then %d and %d", i, taken, acked, e.taken, e.acked)
		}
	}
	before := len(v.Ends[0].Went) + len(v.Ends[1].Went)
	v.Run(now+1_000_000_000, nil)
	for i, end := range v.Ends {
		if at := end.Machine.Look().Deadline; at.Is {
			t.Fatalf("end %d is due at %d, with nothing to do", i, at.V)
		}
	}
	if after := len(v.Ends[0].Went) + len(v.Ends[1].Went); after > before {
		t.Fatalf("nobody sends anything, and %d datagrams are sent", after-before)
	}
}
