package channel

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

var unordered = with(small, func(c *Config) { c.Kind = Unordered })

func TestTheCountsOfAReceiver(t *testing.T) {
	v := newListener(t, small)
	check.Equal(t, "row", v.Row(), "")
	check.Equal(t, "rows", v.gets(message(0, "a"), message(0, "a"), message(40, "x"), skip(31, 2), status(33), fragment(1, 1, 3, "b"), skip(2, 1), message(1, "b"), fragment(4, 0, 2, "dddd")),
		"V5 V1 V2 V7 V10 V3 V8 V5 V5")
	check.Equal(t, "read", v.reads(), "0 a, 1 b, 2 skipped")
	check.Equal(t, "report", v.reports(), "report 3+32 3")
	check.Equal(t, "counts", v.Stats(), ReceiverStats{Received: 3, Known: 1, Beyond: 3, Conflicts: 1, Delivered: 2, Skipped: 1, Reports: 1, HeldBytes: 12})
}

// Fragments are counted while they wait: a search for groups ends where there are none.
func TestFragmentsThatWaitAreCounted(t *testing.T) {
	v := newListener(t, small)
	v.gets(fragment(0, 0, 2, "aaaa"), fragment(3, 1, 2, "b"))
	check.Equal(t, "fragments", v.fragments, 2)
	v.gets(fragment(1, 1, 2, "a"))
	check.Equal(t, "read", v.reads(), "0 aaaaa")
	check.Equal(t, "fragments", v.fragments, 1)
}

// A receiver that has failed says what was missing (CHV-13).
func TestAFailedReceiver(t *testing.T) {
	v := newListener(t, small)
	v.gets(message(0, "a"), message(5, "f"), message(7, "h"))
	v.now = DefaultGiveUp
	check.Equal(t, "report", v.reports(), "")
	check.That(t, errors.Is(v.Err(), ErrFailed), "it wraps the sentinel")
	check.Equal(t, "text", v.Err().Error(), "channel 0: receiver: 5 sequences are missing, from 1 on: channel: failed: the channel was given up")
	check.Equal(t, "state and deadline", []any{v.State().String(), v.Deadline()}, []any{"FAILED", core.Never})
	check.Equal(t, "what is behind the gap is not read", v.reads(), "0 a")
}

// Other records are no event.
func TestOtherRecordsAreNoEvent(t *testing.T) {
	v := newListener(t, small)
	check.Equal(t, "row", v.gets(Record{Type: TypeReport}, Record{}, Record{Type: TypeUnreliable}), "  ")
}

// groupsOf is CHV-6 as the document has it.
func groupsOf(base, top int, missing map[int]bool, most int) (groups []Group) {
	for n := top - 1; n >= base; n-- {
		if !missing[n] {
			continue
		}
		g := Group{Start: uint16(n)}
		for i := range 32 {
			if n-1-i >= base && missing[n-1-i] {
				g.Bits |= 1 << i
			}
		}
		groups = append([]Group{g}, groups...)
		n -= 32
	}
	return groups[:min(most, len(groups))]
}

// Any set that is missing, in any window, at any place: the report is that of the document,
// and one that a decoder takes (CHV-6, CHR-6).
func TestReportsOfAnySet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := 1 << rapid.IntRange(5, 11).Draw(t, "window")
		first := rapid.SampledFrom([]int{0, 1, 31, 63, 64, 65000, 65535, 131000}).Draw(t, "first")
		v, _ := NewReceiver(Config{Format: Format{Window: window}, Kind: Unordered, First: core.Number(first)})
		density := rapid.IntRange(1, 9).Draw(t, "density")
		length := rapid.IntRange(1, window).Draw(t, "length")
		missing, base, top := map[int]bool{}, -1, first
		var wires []uint16
		for n := first; n < first+length; n++ {
			if rapid.IntRange(0, 9).Draw(t, "here") < density {
				v.Handle(0, &Record{Type: TypeMessage, Sequence: uint16(n), Data: []byte{1}})
				top = n + 1
				continue
			}
			if missing[n] = true; base < 0 {
				base = n
			}
		}
		if base < 0 || base > top {
			base = top
		}
		for n := base; n < top; n++ {
			if missing[n] {
				wires = append(wires, uint16(n))
			}
		}
		space := rapid.IntRange(7, 220).Draw(t, "space")
		r, ok := v.Poll(100*ms, space)
		if !ok {
			check.Equal(t, "nothing has come", top, first)
			return
		}
		want := groupsOf(base, top, missing, min((space-7)/6, 32))
		check.Equal(t, "base and room", []int{int(r.Sequence), r.Room}, []int{int(uint16(base)), first + window - base})
		check.That(t, slices.Equal(r.Groups, want), fmt.Sprint("groups ", r.Groups, " want ", want))
		_, err := Format{Window: window}.Append(nil, &r)
		check.Same(t, "error", err, nil)
		again := NewReport(0, uint16(base), r.Room, wires)
		check.That(t, slices.Equal(again.Groups, groupsOf(base, top, missing, 32)), "NewReport gives the same")
	})
}
