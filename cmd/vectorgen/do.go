package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// do generates, and writes or compares.
func (o *options) do(w io.Writer) error {
	match, err := regexp.Compile(o.run)
	if err != nil {
		return fmt.Errorf("%w: --run: %w", errUsage, err)
	}
	docs, err := readDocuments(o.spec, o.dir)
	if err != nil {
		return err
	}
	var rewrite *rewriting
	if len(o.rewrite) > 0 {
		rewrite = &rewriting{o.traces, o.rewrite}
		if err := rewrite.current(); err != nil {
			return err
		}
	}
	list, err := generate(docs, rewrite)
	if err != nil {
		return err
	}
	if rewrite != nil {
		return nil // the vectors follow from the events
	}
	return o.put(w, list, match)
}

// put writes or compares.
func (o *options) put(w io.Writer, list []file, match *regexp.Regexp) error {
	if o.check {
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
		fmt.Fprintf(w, "%s: %d\n", filepath.Base(f.name), len(f.vectors()))
	}
	return nil
}

// readDocuments reads the specifications in a folder; the vectors are in another one.
func readDocuments(dir, files string) (documents, error) {
	d := documents{text: map[string][]byte{}, files: files}
	var errs []error
	for _, name := range examplesOf {
		text, err := os.ReadFile(filepath.Join(dir, name))
		d.text[name], errs = text, append(errs, err)
	}
	return d, errors.Join(errs...)
}
