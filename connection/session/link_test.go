package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

var modes = []Mode{CRC, MAC, AEAD}

// pair returns both ends of a link.
func pair(mode Mode, next uint64) (a, b *Link) {
	agreed := Agreed{Link: 0x5eed1234, Lanes: 1, Variant: 1, Timeout: 10 * second}
	return NewLink(LinkConfig{Mode: mode, Agreed: agreed, Seal: sequence(1), Open: sequence(2), Next: next}),
		NewLink(LinkConfig{Mode: mode, Agreed: agreed, Seal: sequence(2), Open: sequence(1)})
}

// code returns the code of a refusal; nothing if there is none.
func code(err error) core.Code {
	if e, ok := err.(*Error); ok {
		return e.Code()
	}
	return ""
}

// sealed is what CXE-1 to CXE-4 say, written down once more.
func sealed(mode Mode, key Key, link uint32, c uint64, body []byte) []byte {
	counter := binary.LittleEndian.AppendUint64(nil, c)
	head := binary.LittleEndian.AppendUint32([]byte{byte(mode)}, link)
	head = append(head, counter[:4]...)
	plain := append(slices.Clone(head), body...)
	switch mode {
	case CRC:
		return binary.LittleEndian.AppendUint32(plain, crc32.ChecksumIEEE(slices.Concat(key[:8], counter, plain)))
	case MAC:
		return append(plain, literal(key[:], counter, plain)[:8]...)
	}
	aead := check.Must(chacha20poly1305.New(key[:]))
	return append(head, aead.Seal(nil, append(make([]byte, 4), counter...), body, head)...)
}

// Datagrams are what the document says, and the peer opens them (CXE-1 to CXE-8).
func TestDatagramsOfALink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom(modes).Draw(t, "mode")
		next := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 1<<31), rapid.Uint64Range(1<<32-3, 1<<32+3), rapid.Uint64Range(0, 1<<62-10)).Draw(t, "next")
		a, b := pair(mode, next)
		b.taken.Move(core.Number(next)) // as if the peer had been there all the time
		for i := range uint64(3) {
			body := rapid.SliceOfN(rapid.Byte(), 1, 1200).Draw(t, "body")
			dst := append(make([]byte, 0, 1300), '<')
			if rapid.Bool().Draw(t, "in place") {
				body = append(dst[1+HeadSize:1+HeadSize], body...)
			}
			plain := slices.Clone(body)
			d := a.Seal(dst, body)
			check.Bytes(t, "datagram", d[1:], sealed(mode, sequence(1), 0x5eed1234, next+i, plain))
			check.Equal(t, "overhead", len(d)-1-len(plain), a.Overhead())
			got, err := b.Open([]byte("<"), d[1:])
			check.Same(t, "error", err, nil)
			check.Bytes(t, "body", got, append([]byte("<"), plain...))
			check.Equal(t, "counters", []uint64{a.Sent(), b.Opened()}, []uint64{next + i + 1, next + i})
		}
	})
}

func TestOverheads(t *testing.T) {
	for i, mode := range modes {
		a, _ := pair(mode, 0)
		check.Equal(t, "bytes", []int{a.Overhead(), mode.Overhead()}, []int{[]int{13, 17, 25}[i], a.Overhead()})
		check.Equal(t, "what it was made of", []any{a.ID(), a.Mode(), a.Agreed().Lanes}, []any{uint32(0x5eed1234), mode, 1})
	}
	check.Equal(t, "most", MaxOverhead, AEAD.Overhead())
}

// Each bit of a datagram counts: with one changed it is refused, and changes nothing (CXE-8,
// CXE-9, CXA-37, PKT-SEC-1, CHT-SEC-1).
func TestEveryBitIsCovered(t *testing.T) {
	for _, mode := range modes {
		a, b := pair(mode, 5)
		d := a.Seal(nil, []byte("a body"))
		for bit := range 8 * len(d) {
			got, err := b.Open([]byte("<"), altered(d, bit))
			if err == nil || string(got) != "<" {
				t.Fatalf("%v: bit %d is not covered", mode, bit)
			}
			want := []core.Code{CodeTag}
			switch {
			case bit < 8:
				want = []core.Code{CodeUnknownKind, CodeUnknownLink, CodeMode, CodeTruncated, CodeVersion}
			case bit < 40:
				want = []core.Code{CodeUnknownLink}
			case bit < 72:
				want = []core.Code{CodeTag, CodeStale}
			}
			check.That(t, slices.Contains(want, code(err)), fmt.Sprint(mode, ", bit ", bit, ": ", err))
		}
		got, err := b.Open(nil, d)
		check.Equal(t, "the datagram itself", []any{string(got), err}, []any{"a body", nil})
	}
}

// Every other counter, link, key, epoch or direction has another tag: what is covered and not on
// the wire (CXE-2 to CXE-4).
func TestWhatIsCoveredAndNotSent(t *testing.T) {
	for _, mode := range modes {
		body := []byte("a body")
		for name, d := range map[string][]byte{
			"another key":             sealed(mode, sequence(3), 0x5eed1234, 7, body),
			"the other direction":     sealed(mode, sequence(2), 0x5eed1234, 7, body),
			"a counter of 2^32 later": sealed(mode, sequence(1), 0x5eed1234, 7+1<<32, body),
		} {
			_, b := pair(mode, 0)
			_, err := b.Open(nil, d)
			check.Equal(t, fmt.Sprint(mode, ", ", name), code(err), CodeTag)
			check.Equal(t, "place", err.(*Error).Place(), len(d)-mode.tagSize())
			check.Equal(t, "rule", err.(*Error).Rule(), "CXE-25")
		}
	}
}

// A datagram that comes back to who sent it is refused (reflection).
func TestReflection(t *testing.T) {
	for _, mode := range modes {
		a, b := pair(mode, 0)
		d := a.Seal(nil, []byte("x"))
		_, err := a.Open(nil, d)
		check.Equal(t, mode.String(), code(err), CodeTag)
		_, err = b.Open(nil, d)
		check.Same(t, "error at the peer", err, nil)
	}
}

// refuses returns why a datagram is refused.
func (l *Link) refuses(datagram []byte) string {
	_, err := l.Open(nil, datagram)
	e := err.(*Error)
	return fmt.Sprintf("%s at %d (%s)", e.Code(), e.Place(), e.Rule())
}

// What is wrong in more than one way is refused for the first (CXE-8).
func TestTheOrderOfOpening(t *testing.T) {
	a, b := pair(MAC, 0)
	d := a.Seal(nil, []byte("x"))
	check.Same(t, "error", check.Must(b.Open(nil, d))[0], 'x')
	bad := altered(d, 8*len(d)-1)
	check.Equal(t, "a tag of what came before", b.refuses(bad), "duplicate at 5 (CXE-24)")
	bad[0] = byte(CRC)
	check.Equal(t, "and the mode", b.refuses(bad), "mode at 0 (CXE-21)")
	bad[1]++
	check.Equal(t, "and the link", b.refuses(bad), "unknown_link at 1 (CXE-20)")
	check.Equal(t, "and the size", b.refuses(bad[:13]), "truncated at 13 (CXH-23)")
	check.Equal(t, "a message", b.refuses(unhex(messages[1].hex)), "unknown_kind at 0 (CXH-21)")
	check.Equal(t, "nothing", b.refuses(nil), "truncated at 0 (CXH-20)")
}

// The counter of a datagram is the only one in half of the space around the highest (CXE-6,
// CXA-39).
func TestCounters(t *testing.T) {
	for _, c := range []struct {
		highest int64
		low     uint32
		want    int64
	}{
		{-1, 0, 0}, {-1, 1<<31 - 1, 1<<31 - 1}, {-1, 1 << 31, 1<<31 - 1<<32}, {-1, 0xffffffff, -1},
		{0, 1 << 31, 1 << 31}, {0, 1<<31 + 1, 1<<31 + 1 - 1<<32}, {0, 0xffffffff, -1},
		{1<<32 - 1, 0, 1 << 32}, {1 << 32, 0xffffffff, 1<<32 - 1}, {1 << 32, 1 << 31, 3 << 31}, {1 << 32, 1<<31 + 1, 1<<31 + 1},
		{5<<32 + 7, 7, 5<<32 + 7}, {5<<32 + 7, 6, 5<<32 + 6},
	} {
		_, b := pair(CRC, 0)
		b.taken.Move(core.Number(c.highest + 1))
		check.Equal(t, fmt.Sprint(c.low, " after ", c.highest), int64(b.counter(c.low)), c.want)
	}
}

// What a link takes is what a set that forgets nothing takes, in any order and with any forgeries
// between (CXE-6 to CXE-9, CXT-SAFE-5).
func TestALinkAgreesWithASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom(modes).Draw(t, "mode")
		_, b := pair(mode, 0)
		taken, highest := map[int64]bool{}, int64(-1)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-1100, 1100), rapid.Int64Range(-1026, -1022), rapid.Int64Range(1<<31-2, 1<<31+2), rapid.Int64Range(1<<32-2, 1<<32+2)).Draw(t, "step")
			c := max(0, highest+step)
			d := sealed(mode, sequence(1), 0x5eed1234, uint64(c), []byte("x"))
			want := core.Code("")
			switch forged := rapid.IntRange(0, 3).Draw(t, "forged") == 0; {
			case c > highest+1<<31 && c-1<<32 > highest-Replay && taken[c-1<<32]:
				want = CodeDuplicate // its low bits are those of an older one
			case c > highest+1<<31 && (c-1<<32 <= highest-Replay || c < 1<<32), c <= highest-Replay:
				want = CodeStale
			case c > highest+1<<31:
				want = CodeTag
			case taken[c]:
				want = CodeDuplicate
			case forged:
				d, want = altered(d, 8*len(d)-1-rapid.IntRange(0, 31).Draw(t, "bit")), CodeTag
			default:
				taken[c], highest = true, max(highest, c)
			}
			_, err := b.Open(nil, d)
			check.Equal(t, fmt.Sprint(c, " after ", highest), code(err), want)
		}
	})
}

// A body of any size that a connection has; nothing is allocated.
func TestSealAndOpenAllocateNothing(t *testing.T) {
	for _, mode := range modes {
		a, b := pair(mode, 0)
		out, in := make([]byte, 0, 1300), make([]byte, 0, 1300)
		bodies := [][]byte{make([]byte, 1), make([]byte, 60), make([]byte, 1200)}
		forged := sealed(mode, sequence(9), 0x5eed1234, 1<<20, make([]byte, 1000))
		check.Equal(t, fmt.Sprint(mode, ", allocations"), testing.AllocsPerRun(100, func() {
			for _, body := range bodies {
				d := a.Seal(out, body)
				got, err := b.Open(in, d)
				if err != nil || len(got) != len(body) {
					panic(err)
				}
				if _, err = b.Open(in, d); code(err) != CodeDuplicate {
					panic(err)
				}
				if _, err = b.Open(in, forged); code(err) != CodeTag {
					panic(err)
				}
			}
		}), 0)
	}
}

// With aead the body is not to be seen, and one body looks different each time.
func TestAEADHides(t *testing.T) {
	a, _ := pair(AEAD, 0)
	body := bytes.Repeat([]byte("attack at dawn "), 8)
	first, second := a.Seal(nil, body), a.Seal(nil, body)
	check.That(t, !bytes.Contains(first, body[:8]), "it is hidden")
	check.That(t, !bytes.Equal(first[9:], second[9:]), "it differs")
}

// A counter is used once: no end seals when none is left (CXE-10, CXT-SAFE-8).
func TestNoCounterIsLeft(t *testing.T) {
	a, _ := pair(CRC, 1<<62-1)
	a.Seal(nil, []byte("the last"))
	defer func() { check.That(t, recover() != nil, "it panics") }()
	a.Seal(nil, []byte("x"))
}
