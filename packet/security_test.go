package packet

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// The figures of section 12: what a forger, a replayer, a reflector and a flooder can do.

// overhead is the size of the headers of IPv4 and UDP, in bytes.
const overhead = 28

// The smallest datagram has 5 bytes; what it draws has at most 10, and nothing draws an
// answer to that.
func TestWhatOneDatagramDraws(t *testing.T) {
	smallest := header(300, 299, allSet).Append(nil)
	e := newEnd(t, Config{NextToSend: 1000})
	check.Equal(t, "row", e.gets(append(smallest, 'x')), "P6")
	later(AckDelay-1, e)
	check.Equal(t, "nothing before 20 ms", e.polls(), nil)
	later(1, e)
	answer := e.polls()
	check.Equal(t, "bytes in and out", [2]int{len(smallest) + 1, len(answer)}, [2]int{5, 10})
	check.Equal(t, "tenths, with headers", 10*(len(answer)+overhead)/(len(smallest)+1+overhead), 11)
	later(100*core.Second, e)
	check.Equal(t, "nothing more", e.polls(), nil)

	peer := newEnd(t, Config{NextToReceive: 1000})
	check.Equal(t, "row", peer.gets(answer), "P6")
	check.Equal(t, "nothing is due", peer.ackAt, core.Never)
}

// A flood of new numbers draws one answer for each 16; one of old numbers, of fragments and
// of garbage draws none.
func TestWhatAFloodDraws(t *testing.T) {
	e := newEnd(t, Config{})
	answers, in, out := 0, 0, 0
	for n := range core.Number(32_000) {
		d := regular(t, n, "x")
		in += len(d) + overhead
		check.Equal(t, "row", e.gets(d), "P6")
		if answer := e.polls(); answer != nil {
			answers++
			out += len(answer) + overhead
		}
	}
	check.Equal(t, "answers", answers, 2000)
	check.That(t, out < in/15, "less comes out than in")
	for n := range core.Number(1000) {
		e.gets(regular(t, 31_990, "x"), part(t, 32_000+n, 1, 3), []byte{0xff}, nil)
	}
	later(AckDelay, e)
	check.Equal(t, "no answer", e.polls(), nil)
}

// One forged number moves next by at most 32,512, and makes 32,256 genuine packets stale.
func TestTheFarthestJump(t *testing.T) {
	e := newEnd(t, Config{NextToReceive: 1000})
	check.Equal(t, "one farther, and the farthest", e.gets(regular(t, 1000+32_512, "x"), regular(t, 1000+32_511, "x")), "P2 P6")
	check.Equal(t, "next", e.received.Next(), 1000+32_512)
	check.Equal(t, "genuine", e.gets(regular(t, 1000, "x"), regular(t, 1000+32_255, "x"), regular(t, 1000+32_256, "x")), "P2 P2 P6")
}

// A recorded datagram is a duplicate for 256 numbers, and then stale up to 33,024; one that
// is sent again after that is taken for a new packet.
func TestAReplay(t *testing.T) {
	e := newEnd(t, Config{})
	recorded := regular(t, 0, "x")
	last := ""
	for n := range core.Number(33_025) {
		e.gets(regular(t, n, "y"))
		want := "P3"
		if n >= 256 {
			want = "P2"
		}
		if n == 33_024 {
			want = "P6"
		}
		if last = e.gets(recorded); last != want {
			t.Fatalf("after number %d: row %s, want %s", n, last, want)
		}
	}
	check.Equal(t, "the number it is taken for", e.received.Next(), 65_537)
}

// What is sent back to its sender is taken for the peer's, its ack with it; an ack-only
// packet that is sent back draws nothing.
func TestAReflection(t *testing.T) {
	e := newEnd(t, Config{})
	check.Equal(t, "rows", e.gets(e.sendsOne("a"), e.sendsOne("b")), "P6 P6")
	check.Equal(t, "the ack in it was made after the first came back", e.said(), nil)
	check.Equal(t, "row", e.gets(e.sendsOne("c")), "P6")
	check.Equal(t, "acked by itself", e.said(), []string{"acked 1", "acked 0"})
	later(AckDelay, e)
	check.Equal(t, "row", e.gets(e.polls()), "P6")
	later(10*core.Second, e)
	check.Equal(t, "no second one", e.polls(), nil)
}

// One forged header acks up to 32 numbers that did not arrive.
func TestForgedAcks(t *testing.T) {
	e := newEnd(t, Config{})
	for range 100 {
		e.sends("x")
	}
	check.Equal(t, "row", e.gets(acking(t, 0, 99, allSet)), "P6")
	check.Equal(t, "acked", len(e.said()), 32)
	check.Equal(t, "the same again", e.gets(acking(t, 0, 67, allSet)), "P3")
	check.Equal(t, "acked", len(e.said()), 0)
}

// A forged fragment of a number to come makes that number dead after 1 s, and that only.
func TestAForgedFragmentOfANumberToCome(t *testing.T) {
	e := newEnd(t, fragmenting)
	check.Equal(t, "row", e.gets(part(t, 5, 1, 3)), "P11")
	later(ReassemblyTime, e)
	check.Equal(t, "genuine packets", e.gets(regular(t, 4, "d"), regular(t, 5, "e"), regular(t, 6, "f")), "P6 P4 P6")
}

// Forged fragments hold at most the bytes and packets of the configuration, whatever their
// sizes and numbers, and at the first event after a second nothing of them.
func TestWhatForgedFragmentsHold(t *testing.T) {
	e := newEnd(t, Config{})
	data := make([]byte, DefaultFragmentSize)
	most := 0
	for n := range core.Number(64) {
		for id := 1; id < DefaultMaxFragments-1; id++ { // the first and the last are missing
			e.gets(encoded(t, Format{}, Packet{Header: Header{Sequence: uint16(n)}, FragmentID: id, NumFragments: DefaultMaxFragments, Data: data}))
			most = max(most, e.parts.bytes)
			check.That(t, len(e.parts.list) <= 8, "packets")
		}
	}
	check.Equal(t, "bytes", most, 32_768)
	later(ReassemblyTime, e)
	e.polls()
	check.Equal(t, "in reassembly", e.partials(), nil)
	check.Equal(t, "bytes", e.parts.bytes, 0)
}
