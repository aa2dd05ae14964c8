package oracle

import (
	"go/build"
	"os"
	"strings"
	"testing"
)

// The oracles judge the packages, so they must not be made of them: an oracle imports the
// standard library, whose packages have no dot in their path, other oracles and the layouts, and
// the layouts the specification.
func TestImportsNothingThatIsJudged(t *testing.T) {
	dirs := []string{".", "../layout", "../../spec"}
	list, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.IsDir() {
			dirs = append(dirs, d.Name())
		}
	}
	if len(dirs) < 9 {
		t.Errorf("%v", dirs)
	}
	const ours = "github.com/chunkwire/chunkwire/"
	for _, dir := range dirs {
		p, err := build.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range p.Imports {
			rest, of := strings.CutPrefix(path, ours)
			oracles := strings.HasPrefix(rest, "conform/oracle") || rest == "conform/layout" || rest == "spec"
			if strings.Contains(path, ".") && !(of && oracles) && path != "golang.org/x/crypto/chacha20poly1305" {
				t.Errorf("%s imports %s", dir, path)
			}
		}
	}
}
