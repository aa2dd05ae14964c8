package channeloracle

import (
	"bytes"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/tabletest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var small = Format{Window: 64, Data: 4, Group: 4}

// anySet is ascending sequences that are missing: the first is base.
func anySet(t *rapid.T, base, most int64) []int64 {
	set := []int64{base}
	for range rapid.IntRange(0, 40).Draw(t, "missing") {
		next := set[len(set)-1] + rapid.OneOf(rapid.Int64Range(1, 3), rapid.Int64Range(30, 36), rapid.Int64Range(1, 400)).Draw(t, "gap")
		if next >= base+most {
			break
		}
		set = append(set, next)
	}
	return set
}

// anyRecord is a valid one.
func anyRecord(t *rapid.T, f Format) Record {
	r := Record{Type: rapid.SampledFrom([]string{Unreliable, Message, Fragment, Skip, Report, Status}).Draw(t, "type"), Channel: rapid.Int64Range(0, 63).Draw(t, "channel")}
	if r.Type != Unreliable {
		r.Sequence = rapid.Int64Range(0, 65535).Draw(t, "sequence")
	}
	size := rapid.Int64Range(1, f.Data).Draw(t, "size")
	switch r.Type {
	case Fragment:
		r.Count = rapid.Int64Range(2, f.Group).Draw(t, "count")
		r.Index = rapid.Int64Range(0, r.Count-1).Draw(t, "index")
		if r.Index < r.Count-1 {
			size = f.Data
		}
	case Skip:
		r.Count = rapid.Int64Range(1, MostSkip).Draw(t, "count")
	case Report:
		r.Room = rapid.Int64Range(0, f.Window).Draw(t, "room")
		if r.Room > 0 && rapid.Bool().Draw(t, "missing") {
			r.Groups = Groups(anySet(t, r.Sequence+65536, r.Room), MostGroups)
		}
	}
	if r.Type == Unreliable || r.Type == Message || r.Type == Fragment {
		r.Data = rapid.SliceOfN(rapid.Byte(), int(size), int(size)).Draw(t, "data")
	}
	return r
}

// Whatever is valid is taken and comes back, and whatever is taken is encoded to the same
// bytes: one encoding.
func TestCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var records []Record
		for range rapid.IntRange(1, 4).Draw(t, "records") {
			records = append(records, anyRecord(t, small))
		}
		b, err := Encode(small, records)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(small, b)
		if diff := cmp.Diff(records, back, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%x: %v, %s", b, err, diff)
		}
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		if back, err = Decode(small, b); err != nil {
			return
		}
		if again, err := Encode(small, back); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x becomes %x, %v", b, again, err)
		}
	})
}

// A set that a report names is what was missing: all of it, or with too many groups the
// lowest of it.
func TestGroupsNameWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, 200_000).Draw(t, "base")
		set := anySet(t, base, 16384)
		most := rapid.IntRange(0, MostGroups).Draw(t, "most")
		r := Record{Type: Report, Sequence: modulo(base), Room: 16384, Groups: Groups(set, most)}
		named := Named(&r)
		for i := range named {
			named[i] += base
		}
		if len(named) > len(set) || !slices.Equal(named, set[:len(named)]) || len(named) < len(set) && len(r.Groups) < most {
			t.Fatalf("of %v %v are named", set, named)
		}
	})
}

// CHN-4, by the table of the document.
func TestNumbersOfTheDocument(t *testing.T) {
	for _, c := range []struct{ base, wire, want int64 }{
		{0, 0, 0}, {0, 32768, 32768}, {0, 32769, -32767}, {0, 65535, -1}, {65530, 2, 65538}, {65530, 32762, 98298}, {65530, 32763, 32763}, {65538, 65535, 65535}, {131072, 65000, 130536},
	} {
		r := NewReceiver(ReceiverConfig{Format: small, First: c.base})
		if got := r.number(c.wire); got != c.want {
			t.Errorf("base %d, %d: %d, want %d", c.base, c.wire, got, c.want)
		}
	}
}

// The constants are the document's.
func TestConstantsOfTheDocument(t *testing.T) {
	if err := tabletest.CheckConstants("../../../spec/channels.json", map[string]int64{
		"DATA": Usual.Data, "GROUP": Usual.Group, "FRESH": Fresh, "MOST_GROUPS": MostGroups, "MOST_SKIP": MostSkip, "OVERTAKEN": Overtaken,
		"HOLD_MARGIN": HoldMargin, "HOLD_UNMEASURED": HoldUnmeasured, "PROBE_SOON": ProbeSoon, "PROBE_MARGIN": ProbeMargin, "LEAST_CAP": LeastCap,
		"REPEAT_LEAST": RepeatLeast, "REPEAT_UNMEASURED": RepeatUnmeasured, "BACKOFF_MOST": BackoffMost, "REPORT_DELAY": ReportDelay, "REPORT_SPACING": Spacing,
	}); err != nil {
		t.Error(err)
	}
}
