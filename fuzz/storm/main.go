// Storm runs random worlds in virtual time, of whole connections with any channels (conform/sim/connectionsim). There are troubles for a
// while and then none until all is delivered, and what the specifications promise is checked. A seed decides
// everything in a world, so a failure is repeated by its seed. What all worlds have is package conform/soak.
//
// TestTransportStorm does the same, on a smaller scale, to package transport/plain with
// its goroutines. It needs testing/synctest, so it is no part of the command.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/connectionsim"
	"github.com/chunkwire/chunkwire/conform/soak"
)

const usage = `Storm runs worlds of whole connections with their channels and chunks, over networks with faults, in virtual time.

Usage: go run ./fuzz/storm [flags]

  go run ./fuzz/storm                          worlds for 20 s, from seed 1 on
  go run ./fuzz/storm --for 1h --from 1000000  those of a nightly run
  go run ./fuzz/storm --worlds 500             as many worlds, however long it takes
  go run ./fuzz/storm --seed 17 --verbose      those of one seed, with a log

Exit codes: 0 no failure, 1 a failure, 2 bad usage.

Flags:
`

type options struct {
	seed    uint64
	from    uint64
	worlds  int
	long    time.Duration
	verbose bool
}

var worlds = &connectionsim.Worlds

const (
	defaultTime = 20 * time.Second
	maxFailures = 10 // then it stops
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	return o.campaign(stdout, stderr)
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("storm", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage); f.PrintDefaults() }
	f.Uint64Var(&o.seed, "seed", 0, "run the world of this `seed` only, 1 or above")
	f.Uint64Var(&o.from, "from", 1, "`seed` of the first world")
	f.IntVar(&o.worlds, "worlds", 0, "stop after `n` worlds")
	f.DurationVar(&o.long, "for", 0, "stop after this time, in the middle of no world (default 20s, unless --worlds is given)")
	f.BoolVar(&o.verbose, "verbose", false, "print the end of a world's log, after a failure what came before it; only with --seed")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("there is no argument %q", f.Arg(0))
	case o.verbose && o.seed == 0:
		err = errors.New("--verbose wants --seed")
	case o.worlds < 0 || o.long < 0:
		err = errors.New("--worlds and --for must not be negative")
	}
	if err != nil {
		fmt.Fprintln(stderr, "storm:", err)
	}
	return o.withDefaults(), err
}

func (o options) withDefaults() options {
	if o.seed > 0 {
		o.from, o.worlds, o.long = o.seed, 1, 0
	} else if o.worlds == 0 && o.long == 0 {
		o.long = defaultTime
	}
	return o
}

// campaign is worlds that were run, and what came of them.
type campaign struct {
	options
	counts   soak.Counts
	failures int
	hash     *soak.Log
	stdout   io.Writer
}

// campaign runs the worlds of seeds one after the other.
func (o options) campaign(stdout, stderr io.Writer) int {
	began := time.Now()
	c := campaign{options: o, hash: soak.NewLog(false), stdout: stdout}
	seed := o.from
	for ; c.failures < maxFailures && (o.worlds == 0 || seed < o.from+uint64(o.worlds)) && (o.long == 0 || time.Since(began) < o.long); seed++ {
		c.run(seed)
		progress(stderr, "seed %d, %d failures, %v", seed, c.failures, time.Since(began).Round(time.Second))
	}
	progress(stderr, "")
	fmt.Fprintf(stdout, "seeds         %d to %d, commit %s, trace %016x\n", o.from, seed-1, commit(), c.hash.Hash)
	for _, row := range worlds.Rows {
		row.Print(stdout, &c.counts)
	}
	fmt.Fprintf(stdout, "failures      %d\n", c.failures)
	fmt.Fprintf(stderr, "took          %v\n", time.Since(began).Round(time.Millisecond))
	if c.failures > 0 {
		return 1
	}
	return 0
}

// logged is how many lines of a log are printed.
const logged = 120

// run runs a world, and prints the end of its log.
func (c *campaign) run(seed uint64) {
	log := soak.NewLog(c.verbose)
	counts, err := worlds.Run(seed, log)
	c.counts.Add(&counts)
	c.hash.Mark(log.Hash)
	for _, n := range counts {
		c.hash.Mark(uint64(n))
	}
	for _, text := range log.Latest(logged) {
		fmt.Fprintln(c.stdout, text)
	}
	if err != nil {
		c.failures++
		fmt.Fprintf(c.stdout, "FAIL seed %d, commit %s: %v; repeat: go run ./fuzz/storm --seed %d --verbose\n", seed, commit(), err, seed)
	}
}

// progress shows how far it is, on a terminal only.
func progress(stderr io.Writer, format string, args ...any) {
	f, ok := stderr.(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	fmt.Fprintf(f, "\r\x1b[K"+format, args...)
}

// commit returns which version of the machines this is.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
