package bench

import (
	"slices"
	"testing"
)

// services measures game packets beside a block.
func (b *bench) services() {
	for _, c := range ServiceCells() {
		for _, p := range ServicePeers() {
			runs := make([]ServiceRun, b.seeds)
			for i := range runs {
				runs[i] = measureServices(b.t, p, c, uint64(i+1))
				if err := runs[i].Err; err != nil {
					b.t.Logf("%v, %s, seed %d: %v", c, p.Name, i+1, err)
				}
			}
			s, f := summarizeServices(runs)
			b.keep(Row{Experiment: Services, Cell: c.String(), X: float64(c.Loss), Peer: p.Name, Size: block, Summary: s, Services: f})
		}
	}
}

// Without kcp-go, whose timers do not run in virtual time as they are.
func TestServices(t *testing.T) {
	for _, p := range ServicePeers()[:2] {
		for _, c := range ServiceCells() {
			t.Run(p.Name+", "+c.String(), func(t *testing.T) {
				r := measureServices(t, p, c, 1)
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				if len(r.Alone) < int(gameAlone.Seconds()*GameRate*8/10) {
					t.Errorf("%d packets arrived before the block", len(r.Alone))
				}
				if least := slices.Min(r.Alone); least < c.RTT/2 {
					t.Errorf("a packet took %v", least)
				}
				if r.Block < c.RTT/2 || r.BlockAlone < c.RTT/2 {
					t.Errorf("a block took %v, and %v alone", r.Block, r.BlockAlone)
				}
				if r.Bytes < block {
					t.Errorf("%d bytes were sent", r.Bytes)
				}
			})
		}
	}
}
