package main

import (
	"encoding/csv"
	"fmt"
	"os"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// printSeries prints what each flow of each situation had of the link in each so long time, as
// CSV for pictures, with the first seed.
func (s *set) printSeries(cells []situation, every core.Micros) error {
	out := csv.NewWriter(os.Stdout)
	_ = out.Write([]string{"set", "cell", "from_s", "flow", "mbits", "wait_ms", "wait_95_ms", "dropped", "sent"}) // Flush has the error
	for i := range cells {
		o := cells[i].run(1)
		for from := core.Micros(0); from < o.until; from += every {
			to := min(o.until, from+every)
			wait := o.world.Wait(flows.Down, from, to)
			for _, f := range o.all {
				c := f.Counts(flows.Down, from, to)
				_ = out.Write([]string{
					s.name, o.name, fmt.Sprint(from.Duration().Seconds()), f.Name, fmt.Sprintf("%.4f", float64(c.NewsBytes)*8/float64(to-from)),
					fmt.Sprintf("%.2f", wait.Mean), fmt.Sprintf("%.2f", wait.P95), fmt.Sprint(c.LostQueue + c.LostPolicer), fmt.Sprint(c.Sent),
				})
			}
		}
	}
	out.Flush()
	return out.Error()
}
