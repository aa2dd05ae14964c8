package oracle

import (
	"go/build"
	"strings"
	"testing"
)

// The oracle judges the codec, so it must not be made of it: it imports the
// standard library, whose packages have no dot in their path, and stream.
func TestImportsOnlyTheStandardLibrary(t *testing.T) {
	for _, dir := range []string{".", "stream"} {
		p, err := build.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append(p.Imports, p.TestImports...) {
			if strings.Contains(path, ".") && (dir == "stream" || !strings.HasSuffix(path, "/conform/oracle/stream")) {
				t.Errorf("%s imports %s", dir, path)
			}
		}
	}
}
