package recoveryoracle

import (
	"go/build"
	"strings"
	"testing"
)

// The oracle judges adaptive, control and rateless, so it must not be made of them, or of what
// they are made of: it imports the standard library, whose packages have no dot in their
// path.
func TestImportsOnlyTheStandardLibrary(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Imports {
		if strings.Contains(path, ".") {
			t.Errorf("imports %s", path)
		}
	}
}
