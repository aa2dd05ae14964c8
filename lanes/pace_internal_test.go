package lanes

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/machine"
)

// Whatever a driver asks for and when, no more goes out in any time than the rate allows, and
// what 20 ms make.
func TestPacer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(8528, 8_000_000_000).Draw(t, "rate")
		var p pacer
		var now machine.Micros
		type sent struct {
			at    machine.Micros
			bytes int64
		}
		var all []sent
		for range rapid.IntRange(1, 50).Draw(t, "slices") {
			now += machine.Micros(rapid.Int64Range(0, 100_000).Draw(t, "pause"))
			if rapid.Bool().Draw(t, "idle") {
				p.restart(now)
			}
			now = max(now, p.at)
			s := sent{now, rapid.Int64Range(42, 1086).Draw(t, "bytes")}
			p.spend(now, s.bytes, rate)
			all = append(all, s)
		}
		for i := range all {
			total := int64(0)
			for j := i; j < len(all); j++ {
				// The last one's own time comes after it.
				if micros := int64(all[j].at - all[i].at + catchUp + 2); total*8 > (rate*micros+999_999)/1_000_000 {
					t.Fatalf("%d bytes in %d us at %d bit/s", total, all[j].at-all[i].at, rate)
				}
				total += all[j].bytes
			}
		}
	})
}

// Nothing is rounded away, however short the time of a slice is.
func TestPacerIsExact(t *testing.T) {
	var p pacer
	p.restart(machine.Second)
	for range 10_000 {
		p.spend(machine.Second, 1086, 8_000_000_000)
	}
	if took := p.at - machine.Second; took != 10_860 {
		t.Errorf("10,000 slices of 1,086 ns take %d us", took)
	}
}
