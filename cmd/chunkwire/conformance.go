package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/runner"
)

// shownFailures is how many failures are printed without --all.
const shownFailures = 10

// errFailures means that a port works, but not as it must.
var errFailures = errors.New("the port failed")

type conformanceFlags struct {
	match    string
	level    []string
	protocol []string
	known    string
	junit    string
	vectors  string
	request  string
	timeout  time.Duration
	json     bool
	long     bool
	all      bool
	noSkip   bool
}

func newConformance() *cobra.Command {
	var flags conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance [flags] -- COMMAND ARGS...",
		Short: "Run the test vectors against a port in any language",
		Long: `conformance starts a port, a program that answers the port contract, and runs the test
vectors against it: one JSON request a line on its standard input, one JSON response a line
on its standard output. It first asks for an op that does not exist, which a port must answer
with "unsupported"; a vector with this answer is skipped.

Each protocol has its own levels; the report shows which of them the port passes. A port
without a protocol fails none of its levels. --protocol takes a name of the first column,
--level one behind it:

` + levelsHelp() + `

A wrong answer, a crash, a hang, a line too many or too few fail the vector. After a crash
or a hang the port is started again, up to 20 times.

Exit codes: 0 all passed or were skipped, 1 vectors failed, 2 bad usage, 5 the port does
not work (does not start, does not answer the first question, keeps crashing),
130 interrupted.`,
		Example: `  chunkwire conformance -- python3 port.py
  chunkwire conformance --level required --run '^refuse-' -- ./port
  chunkwire conformance --level packets -- ./port
  chunkwire conformance --known-failures known.txt --junit report.xml -- node port.js
  chunkwire conformance --request sender/news | python3 port.py`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.request != "" {
				return nil
			}
			return wantsPort(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVar(&flags.match, "run", "", "run only vectors whose name matches this regular expression")
	f.StringSliceVar(&flags.level, "level", nil, "run only vectors of these levels")
	completeFrom(cmd, "level", levelNames(levelName))
	f.StringSliceVar(&flags.protocol, "protocol", nil, "run only vectors of these protocols, of all their levels")
	completeFrom(cmd, "protocol", levelNames(protocolOf))
	f.StringVar(&flags.known, "known-failures", "", "file of vectors that are allowed to fail, a name on each line, # begins a comment; one that passes is an error")
	f.StringVar(&flags.junit, "junit", "", "write a JUnit report to this file")
	f.StringVar(&flags.vectors, "vectors", "", "folder of vectors to run, instead of the vectors of the repository around the working directory or, in a release, those built in")
	f.StringVar(&flags.request, "request", "", "print the request of the vector with this name, as a line for a port, and nothing else")
	f.DurationVar(&flags.timeout, "timeout", runner.DefaultTimeout, "longest time for an answer; three times this for the first one")
	f.BoolVar(&flags.json, "json", false, "print the report as one JSON object")
	f.BoolVar(&flags.long, "long", false, "run seeded runs of more than 100,000 packets too")
	f.BoolVar(&flags.all, "all", false, fmt.Sprintf("show all failures, not the first %d, and every skipped vector by its name", shownFailures))
	f.BoolVar(&flags.noSkip, "no-skip", false, "take an op that the port does not have as a failure")
	return cmd
}

func (flags *conformanceFlags) run(cmd *cobra.Command, args []string) error {
	cfg, err := flags.config(args)
	if err != nil {
		return usageError(cmd, err)
	}
	suite, err := flags.suite()
	if err != nil {
		return err
	}
	if flags.request != "" {
		line, ok := suite.Request(flags.request)
		if !ok {
			return usageError(cmd, fmt.Errorf("--request: no vector is called %q", flags.request))
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", line)
		return err
	}
	show, end := countProgress(cmd.ErrOrStderr())
	cfg.Progress = show
	report, err := runner.Run(cmd.Context(), cfg, suite)
	end()
	if errors.Is(err, runner.ErrConfig) {
		return usageError(cmd, err)
	}
	if err == nil && !report.OK {
		err = fmt.Errorf("%w: %d vectors", errFailures, report.Total("").Failed)
	}
	if all := report.Total(""); errors.Is(err, runner.ErrPort) && all.Passed+all.Failed+all.Skipped == 0 && !flags.json && flags.junit == "" {
		return err // a table of zeros adds nothing
	}
	return errors.Join(err, flags.print(cmd.OutOrStdout(), report))
}

func (flags *conformanceFlags) config(command []string) (runner.Config, error) {
	cfg := runner.Config{
		Command: command, Timeout: flags.timeout, Long: flags.long, NoSkip: flags.noSkip,
	}
	if flags.timeout <= 0 {
		return cfg, errors.New("--timeout must be above 0")
	}
	var err error
	if cfg.Levels, err = levels(flags.level, flags.protocol); err != nil {
		return cfg, err
	}
	if flags.match != "" {
		if cfg.Match, err = regexp.Compile(flags.match); err != nil {
			return cfg, fmt.Errorf("--run: %w", err)
		}
	}
	if flags.known != "" {
		cfg.Known, err = readNames(flags.known)
	}
	return cfg, err
}

// levels returns the levels that are named, and the levels of protocols; nil for all.
func levels(names, protocols []string) (list []testvectors.Level, err error) {
	all, err := testvectors.Levels()
	for _, flag := range []struct {
		name   string
		values []string
		of     func(testvectors.AboutLevel) string
	}{{"level", names, levelName}, {"protocol", protocols, protocolOf}} {
		for _, value := range flag.values {
			before := len(list)
			for _, l := range all {
				if flag.of(l) == value {
					list = append(list, l.Name)
				}
			}
			if len(list) == before {
				err = errors.Join(err, fmt.Errorf("--%s must be one of %s", flag.name, strings.Join(levelNames(flag.of), ", ")))
			}
		}
	}
	return list, err
}

func levelName(l testvectors.AboutLevel) string  { return string(l.Name) }
func protocolOf(l testvectors.AboutLevel) string { return l.Protocol }

// builtInLevels returns the levels of the vectors that are built in.
func builtInLevels() []testvectors.AboutLevel {
	all, err := testvectors.Levels()
	if err != nil {
		panic(err) // a test loads them
	}
	return all
}

// levelNames returns the names of levels, or of their protocols.
func levelNames(of func(testvectors.AboutLevel) string) (names []string) {
	for _, l := range builtInLevels() {
		names = append(names, of(l))
	}
	return slices.Compact(names)
}

// levelsHelp returns the protocols with their levels, a line for each.
func levelsHelp() string {
	var b strings.Builder
	protocol := ""
	for _, l := range builtInLevels() {
		if l.Protocol != protocol {
			fmt.Fprintf(&b, "\n  %-13s", l.Protocol)
			protocol = l.Protocol
		} else {
			b.WriteString(", ")
		}
		b.WriteString(string(l.Name))
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// readNames returns the lines of a file, without comments and blank ones.
func readNames(name string) (list []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		line, _, _ := strings.Cut(s.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list, s.Err()
}

func (flags *conformanceFlags) suite() (runner.Suite, error) {
	if flags.vectors != "" {
		return runner.ReadDir(flags.vectors)
	}
	suite, err := runner.Embedded()
	if errors.Is(err, testvectors.ErrNoFiles) {
		err = fmt.Errorf("%w; run it there, or name the folder with --vectors, or take the program of a release", err)
	}
	return suite, err
}

func (flags *conformanceFlags) print(w io.Writer, report *runner.Report) error {
	if flags.json {
		if err := json.NewEncoder(w).Encode(report); err != nil {
			return err
		}
	} else {
		limit := shownFailures
		if flags.all {
			limit = -1
		}
		report.Print(w, limit)
	}
	if flags.junit == "" {
		return nil
	}
	f, err := os.Create(flags.junit)
	if err != nil {
		return err
	}
	return errors.Join(report.WriteJUnit(f), f.Close())
}

// countProgress shows on a terminal how many of a number of things are done.
func countProgress(w io.Writer) (show func(done, total int), end func()) {
	if !isTerminal(w) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	show = func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("asking"), progressbar.OptionShowCount(),
				progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(done)
	}
	return show, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}
