package rateless_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/rateless"
	"github.com/chunkwire/chunkwire/sim/transfers"
)

var seedsFlag = flag.Int("seeds", 0, "seeds for each figure, instead of each test's own number; -v prints the tables")

func TestX(t *testing.T) {
	named := transfers.Named(func() (*adaptive.Scheduler, error) { return adaptive.New(adaptive.Adaptive()) })
	rep := transfers.Repaired(func() (*rateless.Scheduler, error) { return rateless.New(rateless.Default()) })
	n := *seedsFlag
	for _, net := range []string{"S1", "S2", "S3", "S4"} {
		for _, loss := range []int{0, 1, 5, 20, 50} {
			c := transfers.Cell{Network: net, Loss: loss}
			l := c.String()
			for before := range 2 {
				for _, s := range []transfers.Scheme{named, rep} {
					f := c.Scenario(before).Run(n, s)
					l += fmt.Sprintf(" | %4.0f/%4.0f/%4.0f %.2f", f.Median, f.P95, f.Max, f.Bytes)
					if f.Failed > 0 {
						l += fmt.Sprintf(" FAILED %d", f.Failed)
					}
				}
			}
			t.Log(l)
		}
	}
}
