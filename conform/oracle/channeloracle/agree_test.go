package channeloracle_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

func toOracle(p *channel.Record) channeloracle.Record {
	r := channeloracle.Record{
		Type: p.Type.String(), Channel: int64(p.Channel), Sequence: int64(p.Sequence),
		Index: int64(p.Index), Count: int64(p.Count), Room: int64(p.Room), Data: bytes.Clone(p.Data),
	}
	for _, g := range p.Groups {
		r.Groups = append(r.Groups, channeloracle.Group{Start: int64(g.Start), Bits: int64(g.Bits)})
	}
	return r
}

func TestReportsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(rapid.Uint16(), rapid.Just(uint16(65530))).Draw(t, "base")
		missing := []uint16{base}
		numbers := []int64{int64(base)}
		for d := 0; ; {
			if d += rapid.SampledFrom([]int{1, 1, 2, 31, 32, 33, 34, 100, 700}).Draw(t, "step"); d >= 16384 || len(missing) > 90 {
				break
			}
			missing, numbers = append(missing, base+uint16(d)), append(numbers, int64(base)+int64(d))
		}
		want := channeloracle.Record{Type: channeloracle.Report, Sequence: int64(base), Room: 16384, Groups: channeloracle.Groups(numbers, channeloracle.MostGroups)}
		got := channel.NewReport(0, base, 16384, missing)
		if diff := cmp.Diff(want, toOracle(&got)); diff != "" {
			t.Fatalf("%d (-oracle +package): %s", missing, diff)
		}
	})
}
