// Package inject makes mistakes in source files without touching them: what
// mutants does to the vectors and faults to the tests.
package inject

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Mistake is a change to a file: Old, which stands there exactly once, becomes
// New.
type Mistake struct{ File, Old, New string }

// Apply writes the file with the mistake into dir and returns its name.
func (m Mistake) Apply(dir string) (string, error) {
	text, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("%q stands %d times in %s", m.Old, n, m.File)
	}
	name := filepath.Join(dir, filepath.Base(m.File))
	return name, os.WriteFile(name, []byte(strings.Replace(string(text), m.Old, m.New, 1)), 0o644)
}

// Overlay writes into dir what the go command's -overlay takes to read
// replacement in place of file, and returns its name.
func Overlay(dir, file, replacement string) (string, error) {
	original, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: replacement}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, overlay, 0o644)
}

// Each calls do for 0..n-1, as many at once as there are processors.
func Each(n int, do func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// ReplaceTable puts a table into a file, between the comments
// "<!-- name: begin -->" and "<!-- name: end -->".
func ReplaceTable(file, name, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begins, ends := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
	before, rest, found := strings.Cut(string(text), begins)
	_, after, foundToo := strings.Cut(rest, ends)
	if !found || !foundToo {
		return fmt.Errorf("%s has no place for the table", file)
	}
	return os.WriteFile(file, []byte(before+begins+table+ends+after), 0o644)
}
