package connectionoracle

import (
	"go/build"
	"strings"
	"testing"
)

// The oracle judges the package connection, so it must not be made of it, or of what that is
// made of: it imports the standard library, whose packages have no dot in their path, and other
// oracles.
func TestImportsOraclesAlone(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Imports {
		if strings.Contains(path, ".") && !strings.Contains(path, "/conform/oracle") {
			t.Errorf("imports %s", path)
		}
	}
}
