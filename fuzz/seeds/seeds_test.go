package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/fuzz"
)

// Each target has a zip file that can be read, with each of its seeds in both forms.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	if err := export(dir, "../testdata/fuzz", io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, target := range fuzz.Targets() {
		seeds, err := seedsOf(target, "../testdata/fuzz")
		if err != nil || len(seeds) == 0 {
			t.Fatalf("%s has %d seeds, %v", target.Name, len(seeds), err)
		}
		zipped := unzip(t, filepath.Join(dir, "Fuzz"+target.Name+"_seed_corpus.zip"))
		for _, seed := range seeds {
			for _, input := range [][]byte{seed, withLength(seed)} {
				if got, ok := zipped[hash(input)]; !ok || !bytes.Equal(got, input) {
					t.Errorf("%s: the zip file lacks %x", target.Name, input)
				}
			}
		}
	}
}

func unzip(t *testing.T, name string) map[string][]byte {
	t.Helper()
	r, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files := map[string][]byte{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
	}
	return files
}

// The layout that go-fuzz-headers' GetBytes reads: a length, then that many bytes.
func TestLength(t *testing.T) {
	if got := withLength([]byte("abc")); string(got) != "\x00\x00\x00\x03abc" {
		t.Errorf("%q", got)
	}
	for input, want := range map[string]string{
		"\x00\x00\x00\x03abc": "abc", "\x00\x00\x00\x02abc": "\x00\x00\x00\x02abc", "\x00\x00\x00\x00": "", "abc": "abc", "": "",
	} {
		if got := withoutLength([]byte(input)); string(got) != want {
			t.Errorf("%q without its length is %q", input, got)
		}
	}
}

// A reproducer of libFuzzer's becomes a file that Go's fuzzer reads.
// fuzzFormats is put together, since only one file may have the name in it.
const fuzzFormats = "Fuzz" + "Formats"

func TestImport(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "crash")
	if err := os.WriteFile(file, withLength([]byte("found")), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := importFile(dir, fuzzFormats, file, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(strings.TrimSpace(out.String()))
	if want := "go test fuzz v1\n[]byte(\"found\")\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v", text, err)
	}
	if err := importFile(dir, "FuzzNothing", file, &out); err == nil {
		t.Error("took a target that is not there")
	}
}
