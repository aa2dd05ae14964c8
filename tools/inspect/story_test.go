package inspect_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

const protocolID = 0x11223344

var (
	framer = codec.NewFramer(protocolID)
	alice  = netip.MustParseAddrPort("192.0.2.1:1000")
	bob    = netip.MustParseAddrPort("192.0.2.2:9000")
)

// talk is a capture that a test makes: alice sends a chunk to bob.
type talk struct {
	*testing.T
	in     *inspect.Inspector
	now    time.Time
	slices int
	list   []inspect.Captured
}

func newTalk(t *testing.T, slices int) *talk {
	return &talk{T: t, in: inspect.New(inspect.Options{ProtocolIDs: []uint32{protocolID}}), now: time.Unix(1, 0), slices: slices}
}

func (k *talk) after(d time.Duration) *talk { k.now = k.now.Add(d); return k }

func (k *talk) send(from, to netip.AddrPort, b []byte) {
	k.list = append(k.list, inspect.Captured{At: k.now, From: from, To: to, Result: k.in.Datagram(from, to, b)})
}

// slice makes alice send slices.
func (k *talk) slice(ids ...int) *talk {
	for _, id := range ids {
		k.send(alice, bob, check.Must(framer.AppendSlice(nil, codec.Slice{SliceID: id, NumSlices: k.slices, Data: make([]byte, codec.SliceSize)})))
	}
	return k
}

// ack makes bob send an ack that has slices.
func (k *talk) ack(ids ...int) *talk {
	var acked core.Set
	for _, id := range ids {
		acked.Add(id)
	}
	k.send(bob, alice, check.Must(framer.AppendAck(nil, codec.Ack{NumSlices: k.slices, Acked: acked})))
	return k
}

func (k *talk) story() *inspect.Story {
	all := inspect.Stories(k.list)
	check.Same(k, "stories", len(all), 1)
	return all[0]
}

// A slice that is sent again was lost if later ones were acked, timed out if not, and was there
// already if an ack that has it had gone by.
func TestWhySlicesAreSentAgain(t *testing.T) {
	k := newTalk(t, 4)
	k.slice(0, 1, 2, 3).after(50 * time.Millisecond).ack(1)
	k.after(time.Millisecond).slice(0).after(time.Millisecond).slice(3).after(time.Millisecond).slice(1)
	s := k.after(50*time.Millisecond).ack(0, 1, 2, 3).story()
	check.Same(t, "chunks", len(s.Chunks), 1)
	c := s.Chunks[0]
	check.Equal(t, "why", c.Resent, inspect.Resent{Lost: 1, Timeout: 1, HadAlready: 1})
	check.That(t, c.Complete && c.Sent == 7 && c.Acks == 2 && c.Lost == 1, "it is complete after 7 slices")
	check.Same(t, "least round trip, ms", s.Ends[0].Trips.Least, 50)
}

func TestALostSliceIsOvertaken(t *testing.T) {
	k := newTalk(t, 2)
	k.slice(0).after(time.Millisecond).slice(1).after(20 * time.Millisecond).ack(1)
	s := k.after(time.Millisecond).slice(0).after(20*time.Millisecond).ack(0, 1).story()
	check.Equal(t, "why", s.Chunks[0].Resent, inspect.Resent{Lost: 1})
	check.Same(t, "verdict", s.Verdict, "nobody was at fault; the path lost 33.3 % of what 192.0.2.1:1000 sent.")
}

// Who says nothing is at fault: from the beginning, for a time, or from then on.
func TestSilence(t *testing.T) {
	never := newTalk(t, 2)
	for range 5 {
		never.slice(0, 1).after(time.Second)
	}
	check.That(t, strings.HasPrefix(never.story().Verdict, "192.0.2.2:9000 never answered"), never.story().Verdict)

	dead := newTalk(t, 2).slice(0).ack(0)
	for range 5 {
		dead.after(time.Second).slice(1)
	}
	check.That(t, strings.HasPrefix(dead.story().Verdict, "192.0.2.2:9000 fell silent"), dead.story().Verdict)

	s := dead.after(time.Second).ack(0, 1).story()
	check.That(t, strings.HasPrefix(s.Verdict, "nothing came from 192.0.2.2:9000 for 6.0 s, and then it went on"), s.Verdict)
	check.Equal(t, "silences", s.Silences, []inspect.Silence{{End: 1, From: 0, Seconds: 6, Ignored: 5}})
}

// The numbers of datagrams say whether an end that was silent sent something meanwhile.
func TestWhatStoppedInASilence(t *testing.T) {
	for unseen, want := range map[uint64]string{
		0: "192.0.2.2:9000 sent nothing for 6.0 s, as its numbers show, and then went on: it, or the path to it, stopped.",
		8: "nothing came from 192.0.2.2:9000 for 6.0 s, though it sent at least 8 datagrams meanwhile: the path from it stopped.",
	} {
		agreed := session.Agreed{Link: 5}
		mine := session.NewLink(session.LinkConfig{Mode: session.CRC, Agreed: agreed})
		its := session.NewLink(session.LinkConfig{Mode: session.CRC, Agreed: agreed, Next: 7})
		body := check.Must(packet.Format{}.Append(nil, &packet.Packet{Data: []byte{0}}))
		k := newTalk(t, 1)
		k.send(alice, bob, mine.Seal(nil, body))
		k.send(bob, alice, its.Seal(nil, body))
		for range 3 {
			k.after(2*time.Second).send(alice, bob, mine.Seal(nil, body))
		}
		for range unseen {
			its.Seal(nil, body)
		}
		k.send(bob, alice, its.Seal(nil, body))
		s := k.story()
		check.Same(t, "silences", len(s.Silences), 1)
		check.Same(t, "verdict", s.Verdict, want)
	}
}

// The protocol id that a crc has is found without candidates, and the lane of one.
func TestProtocolIDs(t *testing.T) {
	for _, c := range []struct {
		id   uint32
		lane *inspect.Lane
	}{
		{protocolID, &inspect.Lane{Base: protocolID, Lanes: 1}},
		{protocolID + 16*3 + 2, &inspect.Lane{Base: protocolID, Lanes: 4, Lane: 2}},
		{protocolID + 16*3 + 4, nil}, {protocolID - 1, nil},
	} {
		b := check.Must(codec.NewFramer(c.id).AppendAck(nil, codec.Ack{NumSlices: 9}))
		r := inspect.Datagram(b, inspect.Options{ProtocolIDs: []uint32{protocolID}})
		check.Equal(t, "lane", r.Lane, c.lane)
		check.Same(t, "refused", r.Refused != nil, c.lane == nil)
		check.That(t, inspect.Datagram(b, inspect.Options{}).Refused == nil, "without candidates it is taken")
	}
}

// Joined datagrams are cut where they were joined, and others are not.
func TestCut(t *testing.T) {
	var joined []byte
	for id := range 4 {
		s := codec.Slice{SliceID: id, NumSlices: 4, Data: make([]byte, codec.SliceSize)}
		if s.Last() {
			s.Data = s.Data[:100]
		}
		joined = check.Must(framer.AppendSlice(joined, s))
	}
	parts := inspect.Cut(joined)
	check.Same(t, "datagrams", len(parts), 4)
	for i, size := range []int{1037, 1037, 1037, 114} {
		check.Same(t, "size", len(parts[i]), size)
		check.Same(t, "datagrams in one", len(inspect.Cut(parts[i])), 1)
	}
}

// Datagrams of other protocols, of which some look like packets or data by chance, are not of the family, and
// are not refused.
func TestForeignTraffic(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	random := func(b []byte) {
		for i := range b {
			b[i] = byte(chance.Uint32())
		}
	}
	for name, next := range map[string]func() []byte{
		"random": func() []byte { b := make([]byte, 1+chance.IntN(1100)); random(b); return b },
		"DNS": func() []byte {
			b := []byte("\x00\x00\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01")
			random(b[:2])
			return b
		},
		"QUIC":      func() []byte { b := make([]byte, 30+chance.IntN(1100)); random(b); b[0] = b[0]&0x3f | 0x40; return b },
		"STUN":      func() []byte { b := []byte("\x00\x01\x00\x00\x21\x12\xa4\x42............"); random(b[8:]); return b },
		"WireGuard": func() []byte { b := make([]byte, 96); random(b); copy(b, "\x04\x00\x00\x00\x05\x00\x00\x00"); return b },
	} {
		k := newTalk(t, 1)
		for range 500 {
			k.after(time.Millisecond).send(alice, bob, next())
			k.after(time.Millisecond).send(bob, alice, next())
		}
		s := k.story()
		check.Same(t, name, s.Protocol, inspect.Unknown)
		check.Same(t, name+": refused", len(s.Refused), 0)
		check.Same(t, name, s.Verdict, "no protocol of the family takes what they sent.")
	}
}
