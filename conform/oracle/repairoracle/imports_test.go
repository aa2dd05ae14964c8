package repairoracle

import (
	"go/build"
	"strings"
	"testing"
)

// The oracle judges erasure, repair and rateless, so it must not be made of them, or of what
// they are made of: it imports the standard library, whose packages have no dot in their
// path, and the oracle of the frame.
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
