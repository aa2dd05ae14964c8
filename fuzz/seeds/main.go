// Command seeds writes the seeds of the fuzz targets for engines that ignore f.Add.
//
//	go run ./fuzz/seeds -list                # the fuzz functions
//	go run ./fuzz/seeds -out DIR             # for each a zip file of its seeds, as OSS-Fuzz wants it
//	go run ./fuzz/seeds -import FuzzX FILE   # a reproducer of such an engine becomes a seed here
//
// Seeds are those of the code and those in testdata/fuzz. Each is written twice: as
// it is, and behind its length in four bytes, the most significant first. OSS-Fuzz's
// tools for Go's own targets take an argument of bytes that way from the engine's
// input, unless they pass it on whole.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/chunkwire/chunkwire/fuzz"
)

// testdata is where Go keeps the committed inputs of targets, in the repository.
const testdata = "fuzz/testdata/fuzz"

func main() {
	out := flag.String("out", "", "folder to write to")
	list := flag.Bool("list", false, "print the names of the fuzz functions")
	target := flag.String("import", "", "write the given file as a seed of this target into "+testdata)
	flag.Parse()
	var err error
	switch {
	case *list:
		for _, target := range fuzz.Targets() {
			fmt.Println("Fuzz" + target.Name)
		}
	case *target != "" && flag.NArg() == 1 && *out == "":
		err = importFile(testdata, *target, flag.Arg(0), os.Stdout)
	case *out != "" && flag.NArg() == 0 && *target == "":
		err = export(*out, testdata, os.Stdout)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

// export writes the seeds of all targets.
func export(out, committed string, w io.Writer) error {
	for _, target := range fuzz.Targets() {
		seeds, err := seedsOf(target, committed)
		if err != nil {
			return err
		}
		if len(seeds) == 0 {
			return fmt.Errorf("%s has no seed", target.Name)
		}
		if err := archive(filepath.Join(out, "Fuzz"+target.Name+"_seed_corpus.zip"), inputs(seeds)); err != nil {
			return err
		}
		fmt.Fprintf(w, "Fuzz%s: %d seeds\n", target.Name, len(seeds))
	}
	return nil
}

// seedsOf returns the seeds of the code, then the committed ones.
func seedsOf(target *fuzz.Target, committed string) ([][]byte, error) {
	seeds := slices.Clip(target.Seeds())
	files, err := filepath.Glob(filepath.Join(committed, "Fuzz"+target.Name, "*"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		seed, err := fuzz.ParseInput(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		seeds = append(seeds, seed)
	}
	return seeds, nil
}

// importFile makes a seed of a reproducer of another engine, and prints its name.
func importFile(committed, target, file string, w io.Writer) error {
	if _, err := fuzz.Find(target); err != nil {
		return err
	}
	input, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	seed := fuzz.FormatInput(withoutLength(input))
	name := filepath.Join(committed, target, hash(seed))
	err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, seed, 0o644))
	if err == nil {
		fmt.Fprintln(w, name)
	}
	return err
}
