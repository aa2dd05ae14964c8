package measure_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
)

// pages show figures of the controller, with how many parts of each were measured by themselves.
var pages = map[string]int{"RECOVERY-RESULTS.md": 3, "REPAIR-RESULTS.md": 1, "RESULTS.md": 1}

// No page of results is older than the controller: each says which one it measured, and by which commands.
func TestPagesAreOfThisController(t *testing.T) {
	name := check.Must(measure.Controller("../.."))
	for page, parts := range pages {
		text := string(check.Must(os.ReadFile("../../tools/bench/" + page)))
		found := regexp.MustCompile("`[0-9a-f]{12}`").FindAllString(text, -1)
		check.Equal(t, page+": parts with a controller", len(found), parts)
		for _, f := range found {
			if f != "`"+name+"`" {
				t.Errorf("%s measured the controller %s, and this one is `%s`: run the commands that it names", page, f, name)
			}
		}
	}
}

func TestWriteTable(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	head := "text\n<!-- table: one -->\n| a |\n|---|\n"
	check.Same(t, "written", os.WriteFile(page, []byte(head+"| old |\n| older |\n\nmore\n"), 0o600), nil)
	check.Same(t, "replaced", measure.WriteTable(page, "one", []string{"| new |"}), nil)
	check.Equal(t, "page", strings.Split(string(check.Must(os.ReadFile(page))), "\n"), strings.Split(head+"| new |\n\nmore\n", "\n"))
	check.That(t, measure.WriteTable(page, "two", nil) != nil, "no such table")
}
