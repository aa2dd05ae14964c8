// Command nightly fuzzes every target of the module for a number of executions.
//
//	go run ./fuzz/nightly -total 50000000 -record record.md -finds finds
//	go run ./fuzz/nightly -targets 'Conversation|Receiver' -total 100000
//
// It finds the targets by itself, shares the total out among them, and goes round
// in slices of about a minute, each of them on record before the next begins: a
// night that is interrupted keeps its counts, and -resume goes on with it. Budgets
// are counts, never durations, since a run for a duration may end in a bare
// "context deadline exceeded" (golang/go#75804), which is no find. A find is a
// reproducer, or a failure for another true reason; its target rests, the others
// go on.
//
// It exits 0 when it found nothing, 1 on a find, 2 when it could not do its work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

// Exit codes.
const (
	exitClean = iota
	exitFind
	exitProblem
)

// options are what the command line says.
type options struct {
	total    int64         // executions of all targets together
	limit    time.Duration // no slice begins later than this after the start; 0 is no limit
	slice    time.Duration // about how long a slice takes
	hang     time.Duration // a target is hung when it executes nothing for so long
	targets  *regexp.Regexp
	corpus   string // folder of what fuzzing keeps between nights
	finds    string
	record   string // Markdown file with the table of executions, or none
	resume   bool
	parallel int
	power    float64 // a target's weight is its speed to this power
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(exitProblem)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := night(ctx, ".", o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightly:", err)
	}
	os.Exit(code)
}

// parse reads the command line. What is wrong with it is told on w.
func parse(args []string, w io.Writer) (options, error) {
	var o options
	var match string
	f := flag.NewFlagSet("nightly", flag.ContinueOnError)
	f.SetOutput(w)
	f.Int64Var(&o.total, "total", 1_000_000, "executions of all targets together")
	f.DurationVar(&o.limit, "for", 0, "begin no slice later than this after the start (0: no limit)")
	f.DurationVar(&o.slice, "slice", time.Minute, "about how long a slice of one target takes")
	f.DurationVar(&o.hang, "hang", 5*time.Minute, "a target that executes nothing for so long is hung")
	f.StringVar(&match, "targets", "", "only targets that match this regular expression")
	f.StringVar(&o.corpus, "corpus", "", "folder of what fuzzing keeps between nights (default: that of go test -fuzz)")
	f.StringVar(&o.finds, "finds", "finds", "folder for what is found")
	f.StringVar(&o.record, "record", "", "Markdown file whose table gets the counts")
	f.BoolVar(&o.resume, "resume", false, "count what is on record for this commit toward the total")
	f.IntVar(&o.parallel, "parallel", runtime.GOMAXPROCS(0), "workers of a target")
	f.Float64Var(&o.power, "power", 0.5, "a target's share goes by its speed to this power: 0 gives all the same executions, 1 the same time")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch o.targets, err = regexp.Compile(match); {
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("what is %q?", f.Arg(0))
	case o.total < 1 || o.slice <= 0 || o.hang <= 0 || o.limit < 0 || o.parallel < 1:
		err = errors.New("-total, -slice, -hang and -parallel are at least one, -for is not below nothing")
	case o.power < 0 || o.power > 1:
		err = errors.New("-power is from 0 to 1")
	case o.resume && o.record == "":
		err = errors.New("-resume needs a -record")
	}
	if err != nil {
		fmt.Fprintln(w, "nightly:", err)
	}
	return o, err
}
