// Command mutants makes plausible mistakes, one at a time, in the Go code and in
// the ports, puts the test vectors to each, and shows which vector kills
// it: a vector that cannot fail is no evidence.
//
//	go run ./testvectors/mutants            # run all, print the table
//	go run ./testvectors/mutants -write     # and put it into testvectors/README.md
//	go run ./testvectors/mutants -run crc   # only those whose mistake matches
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/mutants/inject"
)

func main() {
	match := flag.String("run", "", "run only mistakes that match this regular expression")
	write := flag.Bool("write", false, "put the table into testvectors/README.md")
	flag.Parse()
	if err := run(*match, *write); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(match string, write bool) error {
	pattern, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run this in the repository's root")
	}
	bench, err := newBench()
	if err != nil {
		return err
	}
	defer bench.close()
	var chosen []mutant
	for _, m := range mutants {
		if pattern.MatchString(m.mistake) {
			chosen = append(chosen, m)
		}
	}
	verdicts := bench.judgeAll(chosen)
	table, survivors := draw(chosen, verdicts)
	fmt.Print(table)
	if write {
		if err := inject.ReplaceTable("testvectors/README.md", "mutants", table); err != nil {
			return err
		}
	}
	if survivors > 0 {
		return fmt.Errorf("%d of %d mistakes were not killed", survivors, len(chosen))
	}
	return nil
}

// judgeAll tries all mutants, as many at once as there are processors.
func (b *bench) judgeAll(list []mutant) []verdict {
	verdicts := make([]verdict, len(list))
	inject.Each(len(list), func(i int) {
		verdicts[i] = b.judge(list[i])
		fmt.Fprintf(os.Stderr, "%d/%d %s: %s\n", i+1, len(list), list[i].mistake, verdicts[i])
	})
	return verdicts
}

// draw writes the table in Markdown, and counts what survived.
func draw(list []mutant, verdicts []verdict) (table string, survivors int) {
	var b strings.Builder
	b.WriteString("| Mistake | In | Vectors that fail | The first of them |\n|---|---|---|---|\n")
	for i, m := range list {
		v := verdicts[i]
		if !v.killed() {
			survivors++
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.mistake, m.file, v.cells())
	}
	fmt.Fprintf(&b, "\n%d mistakes, %d killed.\n", len(list), len(list)-survivors)
	return b.String(), survivors
}
