// Command erasure measures the code of repair slices beside memcpy, XOR and the
// Reed-Solomon codes of github.com/klauspost/reedsolomon. It prints ERASURE.md:
//
//	go run ./codec/erasure >ERASURE.md
//
// All subjects take turns in one run, and the best time of each counts, so the ratios hold
// where the machine is shared.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

// A subject is one thing to measure.
type subject struct {
	name    string
	count   int // of what it makes in a run: the figure is for one
	prepare func()
	run     func()
	best    time.Duration
}

// measure runs all subjects, one after the other, in each round.
func measure(subjects []*subject, rounds int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range rounds {
		for _, s := range subjects {
			if s.prepare != nil {
				s.prepare()
			}
			began := now()
			s.run()
			if took := now() - began; s.best == 0 || took < s.best {
				s.best = took
			}
		}
	}
}

func (s *subject) each() float64 { return float64(s.best.Nanoseconds()) / float64(s.count) }

func main() {
	rounds := flag.Int("rounds", 300, "how often each subject is run")
	flag.Parse()
	tables := []table{basics(), encoders(), decoders(), hostile()}
	var all []*subject
	for _, t := range tables {
		all = append(all, t.subjects...)
	}
	measure(all, *rounds)
	xor := all[1].each()
	fmt.Fprintf(os.Stdout, head, *rounds, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, t := range tables {
		fmt.Printf("\n## %s\n\n%s\n\n| | XORs of 1 KiB | us |\n|---|---:|---:|\n", t.title, t.text)
		for _, s := range t.subjects {
			fmt.Printf("| %s | %s | %s |\n", s.name, digits(s.each()/xor), digits(s.each()/1000))
		}
	}
}

// digits prints three of them, or all that stand before the point.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

const head = `# Repair slices: what the code costs

Made by ` + "`go run ./codec/erasure --rounds %d >ERASURE.md`" + ` in ` + "`bench/`" + ` with %s on %s/%s.

All subjects take turns on one thread, and the best time of each counts.
Compare by ratios: the first column has a time as a multiple of what ` + "`crypto/subtle.XORBytes`" + ` takes for 1 KiB that is in the first cache.
On this machine XORBytes itself takes 28 to 58 ns from run to run, so look at the second column, too.
"Plain" is the same code without its SIMD instructions, as it is on other processors.
Ours has no assembly of its own.
`
