// Command show draws an input of a fuzz target for people: the fields of a packet,
// or what happens when, and whether the target fails.
//
//	go run ./fuzz/show TARGET FILE
//
// It reads files of Go's corpus format ("go test fuzz v1") and raw ones.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/chunkwire/chunkwire/fuzz"
)

func main() {
	if len(os.Args) != 3 {
		usage(os.Stderr)
		os.Exit(2)
	}
	if err := show(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "show:", err)
		os.Exit(1)
	}
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: show TARGET FILE\n\ntargets:")
	for _, target := range fuzz.Targets() {
		fmt.Fprintf(w, "  %-17s %s\n", target.Name, target.Checks)
	}
}

// show draws a file. It fails if the target does.
func show(w io.Writer, name, file string) error {
	target, err := fuzz.Find(name)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	data, err := fuzz.ParseInput(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := target.Draw(w, data); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: nothing is wrong\n", name)
	return nil
}
