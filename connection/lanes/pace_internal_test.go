package lanes

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/core"
)

// Whatever a driver asks for and when, no more goes out in any time than the rate allows, and
// what 20 ms make.
func TestPacer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(8528, 8_000_000_000).Draw(t, "rate")
		var p pacer
		var now core.Micros
		type sent struct {
			at    core.Micros
			bytes int64
		}
		var all []sent
		for range rapid.IntRange(1, 50).Draw(t, "slices") {
			now += core.Micros(rapid.Int64Range(0, 100_000).Draw(t, "pause"))
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
	p.restart(core.Second)
	for range 10_000 {
		p.spend(core.Second, 1086, 8_000_000_000)
	}
	if took := p.at - core.Second; took != 10_860 {
		t.Errorf("10,000 slices of 1,086 ns take %d us", took)
	}
}

// A driver that comes late makes up for 20 ms; one that comes at the time loses no nanosecond.
func TestPacerOfALateDriver(t *testing.T) {
	var p pacer
	p.spend(core.Second, 1000, 8_000_000)
	if want := (pacer{at: core.Second - 19*core.Millisecond}); p != want {
		t.Errorf("after a slice of 1 ms that is late: %+v, not %+v", p, want)
	}
	p = pacer{at: core.Second, nano: 3}
	if p.restart(core.Second); p != (pacer{at: core.Second, nano: 3}) {
		t.Errorf("at its time the pacer forgets: %+v", p)
	}
	if p.restart(core.Second + 1); p != (pacer{at: core.Second + 1}) {
		t.Errorf("after its time it begins anew, not at %+v", p)
	}
	p = pacer{}
	p.restart(0)
	p.spend(0, 1086, 8532)
	if took := int64(p.at)*1000 + p.nano; took != 1018284106 {
		t.Errorf("a slice takes %d ns", took)
	}
}
