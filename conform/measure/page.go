package measure

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// behavior are files that change when the controller does something else: whole transfers to the microsecond, and
// conversations event by event.
var behavior = []string{
	"statemachine/schedule/adaptive/testdata/grid.txt",
	"statemachine/schedule/rateless/testdata/grid.txt",
	"testvectors/files/recovery-conversation.json",
}

// Controller returns a name of what the controller does in the tree at root: 12 digits that change when it does
// something else, and not when its code alone changes.
func Controller(root string) (string, error) {
	sum := sha256.New()
	for _, name := range behavior {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:12], nil
}

// WriteTable writes rows of a table into a page in Markdown: in the place of the rows below the line
// "<!-- table: name -->" and the two lines of its head.
func WriteTable(page, name string, rows []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	mark := "<!-- table: " + name + " -->\n"
	before, rest, found := strings.Cut(string(text), mark)
	lines := strings.Split(rest, "\n")
	end := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "|") })
	if !found || end < 2 {
		return errors.New(page + " has no table " + name)
	}
	table := slices.Concat(lines[:2], rows, lines[end:])
	return os.WriteFile(page, []byte(before+mark+strings.Join(table, "\n")), 0o644)
}
