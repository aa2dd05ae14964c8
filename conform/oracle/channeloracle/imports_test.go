package channeloracle

import (
	"go/build"
	"strings"
	"testing"
)

// The oracle judges the package channel, so it must not be made of it, of machine or of
// seq: it imports the standard library, whose packages have no dot in their path, and
// stream.
func TestImportsOnlyTheStandardLibrary(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Imports {
		if strings.Contains(path, ".") && !strings.HasSuffix(path, "/conform/oracle/stream") {
			t.Errorf("imports %s", path)
		}
	}
}
