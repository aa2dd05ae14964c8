package fuzz

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// Each target has a file with one function of its name, for engines that compile
// one file, and nothing else is called so.
func TestEachTargetHasItsFile(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	for _, e := range entries {
		if text, err := os.ReadFile(e.Name()); err == nil && strings.HasSuffix(e.Name(), "_test.go") {
			functions += bytes.Count(text, []byte("\nfunc Fuzz"))
		}
	}
	for _, target := range Targets() {
		file := strings.ToLower(strings.TrimPrefix(target.Name, "Fuzz")) + "_test.go"
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte("func "+target.Name+"(f *testing.F)")) {
			t.Errorf("%s is not in %s, %v", target.Name, file, err)
		}
	}
	if functions != len(Targets()) {
		t.Errorf("%d fuzz functions, %d targets", functions, len(Targets()))
	}
}

func TestFind(t *testing.T) {
	if target, err := Find("FuzzBits"); err != nil || target.Name != "FuzzBits" {
		t.Error(target.Name, err)
	}
	if _, err := Find("Bits"); err == nil {
		t.Error("found what is not there")
	}
}

// A failure ends a run, and both Try and Draw tell it; a panic is no failure.
func TestTryAndDrawTellAFailure(t *testing.T) {
	fails := Target{
		Run:  func(t T, data []byte) { t.Fatalf("byte %d", data[0]) },
		tell: func(s *story, data []byte) { s.say("first"); witness{}.Fatalf("byte %d", data[0]) },
	}
	var out strings.Builder
	if err := errors.Join(fails.Try([]byte{7}), fails.Draw(&out, []byte{7})); err == nil || err.Error() != "byte 7\nbyte 7" {
		t.Error(err)
	}
	if out.String() != "first\nFAILS: byte 7\n" {
		t.Errorf("drawn: %q", out.String())
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic was swallowed")
		}
	}()
	fails.Try(nil)
}
