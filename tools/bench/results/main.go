// Command results measures every protocol and writes RESULTS.md, MESSAGES.md and
// SERVICES.md, and draws plots.
package main

import (
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/chunkwire/chunkwire/tools/bench"
)

const usage = `Usage: go run ./results [--seeds N] [--only NAME] [--from FILE] [--save FILE]

Measures chunkwire and its peers in virtual time, and writes RESULTS.md (blocks),
MESSAGES.md (messages), SERVICES.md (both at once) and the plots beside them. The figures do not depend on how fast the machine
is, and repeat within a few per cent.

  go run ./results                      everything, 300 seeds: two hours
  go run ./results --seeds 20           a look, eight minutes
  go run ./results --only blocks        RESULTS.md alone
  go run ./results --only messages      MESSAGES.md alone: seven minutes
  go run ./results --only services      SERVICES.md alone
  go run ./results --save run.json      keeps what was measured
  go run ./results --from run.json      draws it again

`

//go:embed *.tmpl
var templates embed.FS

func main() {
	seeds := flag.Int("seeds", 300, "seeds for each cell; a tenth of them for streams")
	only := flag.String("only", "", "one experiment alone: cold, warm, rtt, streaming, trouble, together, beside or maps, printed and not written; or blocks, messages or services, with its page")
	from := flag.String("from", "", "draw what --save kept, instead of measuring")
	save := flag.String("save", "", "keep what was measured, as JSON")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || *seeds < 1 || *only != "" && !slices.Contains(bench.Experiments, *only) {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*seeds, *only, *from, *save); err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

func run(seeds int, only, from, save string) error {
	var err error
	if from == "" {
		if from, err = runTests(seeds, only); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(filepath.Dir(from)) }()
	}
	r, err := read(from)
	if err != nil {
		return err
	}
	if save != "" {
		if err := keep(save, r); err != nil {
			return err
		}
	}
	if !hasPage(only) {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return errors.Join(write(r, only)...)
}

// write makes the pages of what was measured.
func write(r *bench.Result, only string) (errs []error) {
	if only == "" || only == bench.Blocks {
		errs = append(errs, plots(r), report(r))
	}
	if only == "" || only == bench.Messages {
		errs = append(errs, messagePlots(r), messageReport(r))
	}
	if only == "" || only == bench.Services {
		errs = append(errs, serviceReport(r))
	}
	return errs
}

// hasPage reports whether an experiment has a page of its own, or is all of them.
func hasPage(only string) bool {
	return slices.Contains([]string{"", bench.Blocks, bench.Messages, bench.Services}, only)
}

// read reads what was measured, and notes the commit if it was measured now.
func read(file string) (*bench.Result, error) {
	written, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := new(bench.Result)
	if err := json.Unmarshal(written, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if r.Commit == "" {
		r.Commit, err = output("git", "describe", "--always", "--dirty", "--exclude=*")
	}
	return r, err
}

func keep(file string, r *bench.Result) error {
	written, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, written, 0o644)
}
