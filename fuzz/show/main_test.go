package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/fuzz"
)

// The same input is drawn the same from Go's format and raw.
func TestShowReadsBothFormats(t *testing.T) {
	seed := fuzz.Seeds("FuzzDatagram")[1]
	dir := t.TempDir()
	var drawn []string
	for name, text := range map[string][]byte{"raw": seed, "go": fuzz.FormatInput(seed)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := show(&out, "FuzzDatagram", file); err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, out.String())
	}
	if drawn[0] != drawn[1] || !strings.HasSuffix(drawn[0], "FuzzDatagram: nothing is wrong\n") {
		t.Errorf("drawn\n%s\nand\n%s", drawn[0], drawn[1])
	}
}

func TestShowRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two values")
	if err := os.WriteFile(file, []byte("go test fuzz v1\n[]byte(\"\")\nint(1)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][2]string{{"FuzzNothing", file}, {"FuzzBits", file + ".not"}, {"FuzzBits", file}} {
		if err := show(&strings.Builder{}, args[0], args[1]); err == nil {
			t.Errorf("show %v succeeds", args)
		}
	}
}

func TestUsageNamesAllTargets(t *testing.T) {
	var out strings.Builder
	usage(&out)
	for _, target := range fuzz.Targets() {
		if !strings.Contains(out.String(), target.Name+" ") {
			t.Errorf("no %s", target.Name)
		}
	}
}
