package main

import (
	"flag"
	"fmt"
	"regexp"
	"time"

	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/rateless"
	"github.com/chunkwire/chunkwire/sim/transfers"
)

func main() {
	seeds := flag.Int("seeds", 20, "")
	hard := flag.Bool("hard", false, "")
	only := flag.String("only", "", "")
	flag.Parse()
	re := regexp.MustCompile(*only)
	r := transfers.Repaired(func() (*rateless.Scheduler, error) { return rateless.New(rateless.Default()) })
	n := transfers.Named(func() (*adaptive.Scheduler, error) { return adaptive.New(adaptive.Adaptive()) })
	start := time.Now()
	f := func(s transfers.Scenario, sch transfers.Scheme) string {
		g := s.Run(*seeds, sch)
		return fmt.Sprintf("%5.0f %5.0f %.2f %d |", g.Median, g.P95, g.Bytes, g.Failed)
	}
	if !*hard {
		for _, net := range []string{"S1", "S2", "S3", "S4"} {
			for _, loss := range []int{0, 1, 5, 20, 50} {
				if loss == 50 && net != "S4" {
					continue
				}
				c := transfers.Cell{Network: net, Loss: loss}
				if !re.MatchString(c.String()) {
					continue
				}
				fmt.Printf("%-10s rep cold %s warm %s  named cold %s warm %s\n", c, f(c.Scenario(0), r), f(c.Scenario(1), r), f(c.Scenario(0), n), f(c.Scenario(1), n))
			}
		}
	} else {
		for _, c := range transfers.Hard {
			if !re.MatchString(c.Name) {
				continue
			}
			w := c.Scenario
			w.Before = 1
			fmt.Printf("%-36s rep cold %s warm %s  named cold %s warm %s\n", c.Name, f(c.Scenario, r), f(w, r), f(c.Scenario, n), f(w, n))
		}
	}
	fmt.Println(time.Since(start))
}
