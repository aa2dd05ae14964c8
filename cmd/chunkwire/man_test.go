package main

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra/doc"
)

var manual = flag.String("man", "", "the folder for the pages of TestManualPages, which it makes")

// Each command has a page, and all say what they are. A release keeps the pages, whose date is that of
// SOURCE_DATE_EPOCH: go test ./cmd/chunkwire -run '^TestManualPages$' -man FOLDER
func TestManualPages(t *testing.T) {
	dir := cmp.Or(*manual, t.TempDir())
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.DisableAutoGenTag = true // pages of one source are equal
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "chunkwire", Manual: "chunkwire"}, dir); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range root.Commands() {
		if !cmd.IsAvailableCommand() {
			continue
		}
		page, err := os.ReadFile(filepath.Join(dir, "chunkwire-"+cmd.Name()+".1"))
		if err != nil || !strings.Contains(string(page), cmd.Short) || strings.Contains(string(page), "Auto generated") {
			t.Errorf("%s: %v\n%.300s", cmd.Name(), err, page)
		}
	}
}
