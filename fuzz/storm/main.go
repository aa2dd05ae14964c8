// Storm runs many connections through bad weather in virtual time, until it
// turns fair, and holds the state machines to what the specification promises
// (section 11 of spec/PROTOCOL.md). A seed decides everything in a world, how
// bad its weather is included, so a find is repeated by its seed.
//
// To read it: world.go is the whole, climate.go and profiles.go what a seed
// draws. A pair is a server and a peer, an end is what drives the machines there;
// application.go uses them, network.go carries their datagrams, troubles.go makes
// trouble. The judges (judge.go, judge_sender.go, judge_receiver.go) see
// datagrams, calls and times only: they share no code with what they judge, not
// even the decoder (wire.go).
//
// TestTransportStorm does the same, on a smaller scale, to package transport with
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
)

const usage = `Storm runs worlds of connections through bad weather, in virtual time.

Usage: go run ./fuzz/storm [flags]

  go run ./fuzz/storm                          worlds for 20 s, from seed 1 on
  go run ./fuzz/storm --for 1h --from 1000000  a night's
  go run ./fuzz/storm --worlds 500             as many worlds, however long it takes
  go run ./fuzz/storm --seed 17 --verbose      one world, told in words

Exit codes: 0 nothing found, 1 a find, 2 bad usage.

Flags:
`

type options struct {
	seed    uint64
	from    uint64
	worlds  int
	long    time.Duration
	verbose bool
}

const (
	defaultTime = 20 * time.Second
	maxFinds    = 10 // then it stops
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
	f.BoolVar(&o.verbose, "verbose", false, "tell the end of a world in words, with a find what came before it; only with --seed")
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

// campaign runs worlds one after the other.
func (o options) campaign(stdout, stderr io.Writer) int {
	began := time.Now()
	var all tally
	finds, hash := 0, newStory(false)
	seed := o.from
	for ; finds < maxFinds && (o.worlds == 0 || seed < o.from+uint64(o.worlds)) && (o.long == 0 || time.Since(began) < o.long); seed++ {
		w := newWorld(seed, o.verbose)
		w.run()
		all.add(w.tally)
		hash.mark(w.story.hash)
		if w.find != nil {
			finds++
			fmt.Fprintf(stdout, "FIND seed %d, commit %s: %v; repeat: go run ./fuzz/storm --seed %d --verbose\n", seed, commit(), w.find, seed)
		}
		if o.verbose {
			w.recount(stdout)
		}
		progress(stderr, "seed %d, %d finds, %v", seed, finds, time.Since(began).Round(time.Second))
	}
	progress(stderr, "")
	fmt.Fprintf(stdout, "seeds         %d to %d, commit %s, trace %016x\n", o.from, seed-1, commit(), hash.hash)
	all.print(stdout)
	fmt.Fprintf(stdout, "finds         %d\n", finds)
	fmt.Fprintf(stderr, "took          %v\n", time.Since(began).Round(time.Millisecond))
	if finds > 0 {
		return 1
	}
	return 0
}

// recount tells the end of a world.
func (w *world) recount(out io.Writer) {
	const lines = 120
	var about *pair
	if w.find != nil {
		about = w.find.pair
	}
	fmt.Fprintf(out, "climate: %+v\n", w.climate)
	for _, text := range w.story.latest(about, lines) {
		fmt.Fprintln(out, text)
	}
	if w.find != nil {
		fmt.Fprintf(out, "%s  %v\n", clock(w.find.at), w.find)
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

// commit tells which version of the machines this is.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
