package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// channelConversation adds a trace each of a sender and a receiver that talk over a
// network. They run the oracle.
func (g *group) channelConversation(s script.Script) error {
	c, err := script.ParseChannelConversation(s.Lines)
	if err != nil {
		return err
	}
	t, err := newTalk(c)
	if err != nil {
		return err
	}
	t.run()
	rows := append(t.sender.Rows(), t.receiver.Rows()...)
	if err := errors.Join(c.CheckSender(t.sender.Steps), c.CheckReceiver(t.receiver.Steps), namesRows(s, rows), t.truth()); err != nil {
		return err
	}
	g.addScript(s, "-sender", begin(s.Sentences, "CHV- CHG- V"), asJSON(t.sender.Request()), asJSON(conform.Response(t.sender.Steps)))
	s.Level = testvectors.ChannelsReceiver
	g.addScript(s, "-receiver", begin(s.Sentences, "CHS- D"), asJSON(t.receiver.Request()), asJSON(conform.Response(t.receiver.Steps)))
	return nil
}

// talk is a sender and a receiver in virtual time.
type talk struct {
	*script.ChannelConversation
	sender    *conform.Recorded
	receiver  *conform.Recorded
	sent      map[int64][]byte // what was accepted, by its first sequence
	next      int64            // sequence
	packets   [2]int64         // numbers of each end
	newest    int64            // packet of the sender that has come
	arrived   bool             // something, since the application read
	lose      [2]func(int, int64) bool
	duplicate [2]func(int, int64) bool
	jitter    func() int64
	waiting   []happening
	made      int
}

// happening is what is to come. Of those at one time the first made comes first.
type happening struct {
	at    int64
	order int
	do    func(at int64)
}

func newTalk(c *script.ChannelConversation) (*talk, error) {
	sender, err := channels.Sender.Record(c.Sender)
	receiver, err2 := channels.Receiver.Record(c.Receiver)
	t := &talk{
		ChannelConversation: c, sender: sender, receiver: receiver,
		sent: map[int64][]byte{}, next: c.Sender.First, newest: -1, jitter: c.Jitter(),
	}
	for end := range t.lose {
		t.lose[end], t.duplicate[end] = c.Lose[end].Fate(), c.Duplicate[end].Fate()
	}
	for _, p := range c.Paths {
		t.add(p.At, func(at int64) {
			t.toSender(at, channels.SenderPath{SRTT: p.SRTT, Patience: p.Patience})
			t.toReceiver(at, channels.ReceiverPath{SRTT: p.SRTT})
		})
	}
	number := 0
	for _, s := range c.Sends {
		for i := range s.Count {
			number++
			message := conform.Content(number, s.Sizes[i%len(s.Sizes)])
			t.add(s.From+int64(i)*s.Every, func(at int64) { t.send(at, message, s.Lifetime) })
		}
	}
	for _, at := range c.Reads {
		t.add(at, t.read)
	}
	for at := int64(0); at <= c.EndUS; at += c.TickUS {
		t.add(at, t.tick)
	}
	return t, errors.Join(err, err2)
}

func (t *talk) add(at int64, do func(int64)) {
	t.made++
	t.waiting = append(t.waiting, happening{at, t.made, do})
}

// run lets everything happen until the end. A receiver is polled at its deadline.
func (t *talk) run() {
	for {
		first := slices.MinFunc(append(slices.Clone(t.waiting), t.reporting()), func(a, b happening) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
		})
		if first.at > t.EndUS {
			return
		}
		t.waiting = slices.DeleteFunc(t.waiting, func(h happening) bool { return h.order == first.order })
		first.do(first.at)
	}
}

// reporting is that the receiver is polled.
func (t *talk) reporting() happening {
	at := t.EndUS + 1
	if due := t.receiver.Look().Deadline; due.Is {
		at = due.V
	}
	return happening{at, t.made + 1, func(at int64) {
		step := t.toReceiver(at, channels.Poll{Space: t.Space})
		if !step.Report.Is {
			return
		}
		number, ack, report := t.number(script.ReceiverEnd), t.newest, step.Report.V
		t.carry(at, script.ReceiverEnd, number, func(at int64) {
			t.toSender(at, channels.Report{Hex: report, Number: number, Ack: ack})
		})
	}}
}

// number gives the next packet of an end its number.
func (t *talk) number(end int) int64 {
	t.packets[end]++
	return t.packets[end] - 1
}

func (t *talk) toSender(at int64, e conform.Event) channels.SenderStep {
	return t.sender.Do(at, e).(channels.SenderStep)
}

func (t *talk) toReceiver(at int64, e conform.Event) channels.ReceiverStep {
	return t.receiver.Do(at, e).(channels.ReceiverStep)
}

func (t *talk) send(at int64, message []byte, lifetime conform.Opt[int64]) {
	if step := t.toSender(at, channels.Send{Data: conform.Bytes(message), Lifetime: lifetime}); !step.Refused.Is {
		t.sent[t.next] = message
		t.next += (int64(len(message)) + t.Sender.Data - 1) / t.Sender.Data
	}
}

// mostPackets is how many packets go out at a tick.
const mostPackets = 8

// tick sends what is due, and lets the application read if it has no times of its own.
func (t *talk) tick(at int64) {
	if len(t.Reads) == 0 && t.arrived {
		t.read(at)
	}
	for range mostPackets {
		if due := t.sender.Look().Deadline; !due.Is || due.V > at {
			return
		}
		number := t.packets[script.SenderEnd]
		records := t.toSender(at, channels.SenderPoll{Number: number, Space: t.Space}).Records
		if len(records) == 0 {
			return
		}
		t.number(script.SenderEnd)
		t.carry(at, script.SenderEnd, number, func(at int64) {
			t.newest, t.arrived = max(t.newest, number), true
			for _, r := range records {
				t.toReceiver(at, channels.Record{Hex: r})
			}
		})
	}
}

// read reads all that is ready.
func (t *talk) read(at int64) {
	t.arrived = false
	for t.toReceiver(at, channels.Read{}).Read.Is {
	}
}

// carry gives a packet to the network.
func (t *talk) carry(now int64, from int, number int64, arrive func(int64)) {
	times := 1
	if lost, twice := t.lose[from](int(number)+1, now), t.duplicate[from](int(number)+1, now); lost {
		times = 0
	} else if twice {
		times = 2
	}
	for range times {
		t.add(now+t.DelayUS+t.jitter(), arrive)
	}
}

// truth checks that what was delivered is what was sent, each once; in order if the channel
// is ordered (CHT-SAFE-1, CHT-SAFE-2).
func (t *talk) truth() error {
	seen := map[uint16]bool{} // a conversation has fewer than 65536 sequences
	next := uint16(t.Sender.First)
	for _, step := range t.receiver.Steps {
		got := step.(channels.ReceiverStep).Read
		if !got.Is {
			continue
		}
		n, size := got.V.Sequence, uint16(1)
		if !got.V.Skipped {
			data := []byte(got.V.Data)
			if want := t.sent[t.Sender.First+int64(n-uint16(t.Sender.First))]; !bytes.Equal(data, want) {
				return fmt.Errorf("%d is delivered as %x, and was sent as %x", n, data, want)
			}
			size = uint16((int64(len(data)) + t.Sender.Data - 1) / t.Sender.Data)
		}
		if seen[n] || t.Receiver.Kind == "ordered" && n != next {
			return fmt.Errorf("%d is delivered twice, or in the place of %d", n, next)
		}
		seen[n] = true
		next += size
	}
	return nil
}
