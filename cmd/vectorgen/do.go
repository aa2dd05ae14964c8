package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// do does what the flags say.
func (o *options) do(w io.Writer) error {
	if o.check && o.list || o.check && o.stats || o.list && o.stats {
		return fmt.Errorf("%w: --check, --list and --stats exclude each other", errUsage)
	}
	match, err := regexp.Compile(o.run)
	if err != nil {
		return fmt.Errorf("%w: --run: %w", errUsage, err)
	}
	spec, err := os.ReadFile(o.spec)
	if err != nil {
		return err
	}
	list, err := generate(spec)
	if err != nil {
		return err
	}
	switch {
	case o.list:
		return printList(w, list, match)
	case o.stats:
		return printStats(w, spec, list, match)
	case o.check:
		return o.compare(w, list, match)
	}
	return o.write(w, list, match)
}

// write writes the files that match.
func (o *options) write(w io.Writer, list []file, match *regexp.Regexp) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	for _, f := range list {
		if !f.matches(match) {
			continue
		}
		text, err := f.full()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(o.dir, f.name), text, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %d\n", f.name, len(f.vectors()))
	}
	return nil
}
