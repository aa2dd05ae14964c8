package packet

import (
	"fmt"
	"runtime"
	"strings"
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

// A recorded datagram is a duplicate for 256 numbers, and then stale up to 33,024; one that
// is resent after that is taken for a new packet.
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

// F-9: 64 datagrams of 6 bytes held 16.8 MB until newer packets came: here 8 bytes of data, and
// for a second.
func TestSixBytesReserveNothing(t *testing.T) {
	cfg := Config{Format: Format{MaxFragments: 256}}
	e := newEnd(t, cfg)
	attack := func() {
		for n := range core.Number(64) {
			check.Equal(t, "row", e.gets([]byte{1, byte(n), 0, 255, 255, 7}), "P11")
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	attack()
	runtime.ReadMemStats(&after)
	check.Equal(t, "packets and bytes", [2]int{len(e.partials()), e.parts.bytes}, [2]int{8, 8})
	check.That(t, after.TotalAlloc-before.TotalAlloc < 64*(256*24+2000), "no more than the pointers is allocated")
	later(ReassemblyTime, e)
	e.polls()
	check.Equal(t, "packets and bytes", [2]int{len(e.partials()), e.parts.bytes}, [2]int{0, 0})
}

// F-26: overhead that was not counted made packets larger than the buffer: no datagram is above
// what section 2 says, with the largest header.
func TestTheLargestDatagram(t *testing.T) {
	for fragmentSize, want := range map[int]int{1024: 1169, 1155: 1169, 1156: 1170, 1160: MaxDatagram} {
		e := newEnd(t, Config{Format: Format{FragmentSize: fragmentSize}, NextToReceive: 1000})
		for n := core.Number(1001); n < 1033; n += 5 {
			e.gets(regular(t, n, "x"))
		}
		largest := 0
		for _, size := range []int{1, 1160, 1161, 2048, 16384} {
			for _, d := range e.sends(strings.Repeat("p", size)) {
				largest = max(largest, len(d))
			}
		}
		check.Equal(t, fmt.Sprint("largest datagram with fragments of ", fragmentSize), largest, want)
	}
	check.Equal(t, "as the document says", MaxDatagram, 1174)
}
