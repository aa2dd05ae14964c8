package oracle

import (
	"go/build"
	"strings"
	"testing"
)

// Field note 29: the oracle judges the codec, so it must not be made of it: only the standard
// library, whose packages have no dot in their path.
func TestImportsOnlyTheStandardLibrary(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Imports) == 0 {
		t.Fatal("no imports found")
	}
	for _, path := range append(p.Imports, p.TestImports...) {
		if strings.Contains(path, ".") {
			t.Errorf("imports %s", path)
		}
	}
}
