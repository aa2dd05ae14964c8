// Package script reads the language in which traces are written: archives of
// scripts, traces/*.txtar, which README.md beside them describes. It turns scripts
// into events of the port contract, and compares the steps that come of them with
// what the scripts say.
//
// script.go knows no protocol. What it reads of machines that are declared for package conform
// that package runs; the events of chunks are here.
package script

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Script is an entry of an archive. Its head has a line "key: value" each for
// comment, flags, sentences and level; a blank line ends it.
type Script struct {
	Name      string
	Comment   string            // the mistake that it catches
	Flags     []string          // names in flags.json
	Sentences []string          // ids of the specification
	Level     testvectors.Level // empty: the group's
	Lines     []string          // without blank lines, and those that begin with #
}

// Read returns the scripts of an archive.
func Read(archive []byte) ([]Script, error) {
	var list []Script
	var errs []error
	for _, file := range txtar.Parse(archive).Files {
		s := Script{Name: file.Name}
		if err := s.read(string(file.Data)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
		list = append(list, s)
	}
	return list, errors.Join(errs...)
}

func (s *Script) read(text string) error {
	head, body, _ := strings.Cut(text, "\n\n")
	for line := range strings.Lines(head) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok || !s.set(key, value) {
			return fmt.Errorf("unknown line in the head: %q", line)
		}
	}
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			s.Lines = append(s.Lines, line)
		}
	}
	if s.Comment == "" || len(s.Flags) == 0 || len(s.Sentences) == 0 || len(s.Lines) == 0 {
		return errors.New("no comment, flags, sentences or script")
	}
	return nil
}

func (s *Script) set(key, value string) bool {
	switch key {
	case "comment":
		s.Comment = value
	case "flags":
		s.Flags = strings.Fields(value)
	case "sentences":
		s.Sentences = strings.Fields(value)
	case "level":
		s.Level = testvectors.Level(value)
	default:
		return false
	}
	return true
}
