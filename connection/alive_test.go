package connection_test

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// lives lets two ends without a path between them live for a time: what one sends arrives at once.
// It returns what each has sent.
func lives(a, b *connection.Conn, from, to core.Micros) (sent [2][][]byte) {
	for now := from; now < to; now = max(now+1, min(a.Deadline(), b.Deadline())) {
		for more := true; more; {
			fromA, fromB := poll(a, now), poll(b, now)
			sent[0], sent[1] = append(sent[0], fromA...), append(sent[1], fromB...)
			_, _ = give(b, now, fromA...), give(a, now, fromB...)
			more = len(fromA)+len(fromB) > 0
		}
	}
	return sent
}

// Two ends that have nothing to say send one small datagram each KEEP_ALIVE, an eighth of the
// time-out but at most 15 s, and nothing else (CXM-2, CXL-8, CXT-LIVE-5, CXT-BND-6).
func TestKeepAlive(t *testing.T) {
	for _, timeout := range []core.Micros{second, 10 * second, 3600 * second} {
		agreed := plenty
		agreed.Timeout = timeout
		a, b := pairOf(session.AEAD, agreed, connection.Config{}, connection.Config{})
		each := min(timeout/8, 15*second)
		lives(a, b, 0, each)
		for i, sent := range lives(a, b, each, each+160*each) {
			check.Equal(t, "datagrams in 160 times", len(sent), 160)
			for _, d := range sent {
				check.That(t, len(d) <= 10+session.AEAD.Overhead(), "it is small")
			}
			check.Same(t, "state", []*connection.Conn{a, b}[i].State(), connection.Open)
		}
	}
}

// A client that has heard nothing says something at once, and then each 250 ms; one that has been
// heard keeps itself alive (CXC-15, CXM-2).
func TestAClientThatIsNotConfirmed(t *testing.T) {
	a, p := alone(connection.Config{})
	var at []core.Micros
	for now := core.Micros(0); now < second; now += ms {
		for range poll(a, now) {
			at = append(at, now)
		}
	}
	check.Equal(t, "times", at, []core.Micros{0, 250 * ms, 500 * ms, 750 * ms})
	check.Same(t, "refusal", give(a, second, p.write(0)), nil)
	check.Equal(t, "datagrams", len(poll(a, second)), 0)
	check.Equal(t, "alive at", a.Deadline(), 750*ms+1250*ms)
}

// What was never sent goes with the tick: 60 times a second in GOOD, ten times in BAD, however
// often the application sends (CXM-2, CXM-3).
func TestTick(t *testing.T) {
	a, b := pair(connection.Config{})
	count := func(from, to core.Micros) (packets int) {
		for now := from; now < to; now += ms {
			check.Same(t, "error", a.Send(now, unreliable, []byte{1}, 0), nil)
			packets += len(lives(a, b, now, now+ms)[0])
		}
		return packets
	}
	check.Same(t, "mode", a.Mode(), packet.Bad)
	check.Equal(t, "packets in BAD", count(0, 2*second), 20)
	count(2*second, 10*second)
	check.Same(t, "mode", a.Mode(), packet.Good)
	check.Equal(t, "packets in GOOD", count(10*second, 11*second), 60)
}

// Acks of chunks ask for no ack, nor do pads; a message does (CXR-6).
func TestQuietPayloads(t *testing.T) {
	ack := []byte{9, 0, 4, 0, 0, 2, 7} // of three slices
	for _, c := range []struct {
		name    string
		payload []byte
		quiet   bool
	}{
		{"a pad", []byte{0}, true},
		{"an ack of a chunk", ack, true},
		{"two of them", slices.Concat(ack, []byte{9, 1, 4, 0, 0, 2, 7}), true},
		{"a message", []byte{1, unreliable, 1, 0, 'a'}, false},
		{"a message behind an ack of a chunk", slices.Concat(ack, []byte{1, unreliable, 1, 0, 'a'}), false},
	} {
		a, p := alone(connection.Config{})
		for range 2 {
			check.Must(a.SendChunk(0, make([]byte, 3000)))
		}
		for now := core.Micros(0); now < 50*ms; now += ms {
			p.reads(poll(a, now)...)
		}
		check.Same(t, "both", give(a, 50*ms, p.write(slices.Concat(ack, []byte{9, 1, 4, 0, 0, 2, 7})...)), nil)
		poll(a, 50*ms)
		check.Same(t, c.name, give(a, 60*ms, p.write(c.payload...)), nil)
		check.Equal(t, c.name+": an ack is owed", len(poll(a, 100*ms)) == 1, !c.quiet)
	}
}
