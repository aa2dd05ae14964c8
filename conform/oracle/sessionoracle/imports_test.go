package sessionoracle

import (
	"go/build"
	"strings"
	"testing"
)

// The oracle judges the package session, so it must not be made of it, of machine or of seq: it
// imports the standard library, whose packages have no dot in their path, stream, and
// ChaCha20-Poly1305.
func TestImportsNothingThatItJudges(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Imports {
		if strings.Contains(path, ".") && !strings.HasSuffix(path, "/conform/oracle/stream") && path != "golang.org/x/crypto/chacha20poly1305" {
			t.Errorf("imports %s", path)
		}
	}
}
