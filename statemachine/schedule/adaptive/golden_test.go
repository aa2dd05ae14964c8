package adaptive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

// TestGrid compares a coarse grid of transfers with the one that is committed.
func TestGrid(t *testing.T) { measuretest.Grid(t, grid()) }

func grid() string {
	var b strings.Builder
	b.WriteString("# Full chunks: ms until delivered and bytes both ways over the size, for seeds 1 to 3.\n")
	for _, s := range schemes {
		for _, c := range measure.Cells {
			if c.Loss == 1 || s.name == "fixed cold" && c.Network == "S4" {
				continue
			}
			fmt.Fprintf(&b, "%-15s %s", s.name, c)
			for seed := range uint64(3) {
				ms, bytes := c.Scenario(s.before).Transfer(seed+1, with(s.profile(c)))
				fmt.Fprintf(&b, "  %8.3f %.4f", ms, bytes)
			}
			b.WriteByte('\n')
		}
	}
	for _, h := range measure.Hard {
		ms, bytes := h.Transfer(1, with(adaptive.Adaptive()))
		fmt.Fprintf(&b, "%-34s  %8.3f %.4f\n", h.Name, ms, bytes)
	}
	return b.String()
}
