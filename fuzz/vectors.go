package fuzz

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/chunkwire/chunkwire/testvectors"
)

// An input of FuzzVectors is a file of vectors, which stands in a folder as
// bits.json.

const vectorGroup = "bits"

// CheckVectors loads any file. If it is accepted, it is so when it is written
// from what was read, and nothing of it is lost.
func CheckVectors(t T, data []byte) {
	list, err := loadVectors(data)
	if err != nil {
		return
	}
	if len(list) != 1 || list[0].Group != vectorGroup {
		t.Fatalf("loaded %d files from one", len(list))
	}
	if err := testvectors.Validate(list); err != nil {
		t.Fatalf("loaded, but not valid: %v", err)
	}
	once := mustMarshal(t, list[0])
	again, err := loadVectors(once)
	if err != nil || len(again) != 1 {
		t.Fatalf("what was loaded is refused when it is written again: %v", err)
	}
	if twice := mustMarshal(t, again[0]); !bytes.Equal(once, twice) {
		t.Fatalf("written %s, and again %s", once, twice)
	}
	checkWhole(t, data)
	checkVectors(t, list[0])
}

// checkWhole: the file is one JSON object and nothing else, and has no field that
// the format does not know.
func checkWhole(t T, data []byte) {
	t.Helper()
	var file fields
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("loaded, but not JSON: %v", err)
	}
	known := []string{"format", "group", "description", "license", "flags", "vectors"}
	for name := range file {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			t.Fatalf("loaded, but it has a field %q", name)
		}
	}
}

func loadVectors(data []byte) ([]testvectors.File, error) {
	dir := fstest.MapFS{"files/" + vectorGroup + ".json": {Data: data}}
	return testvectors.LoadFS(dir, "files")
}

// checkVectors is what readers of the files rely on (testvectors/README.md).
func checkVectors(t T, f testvectors.File) {
	t.Helper()
	names := map[string]bool{}
	for _, v := range f.Vectors {
		switch {
		case names[v.Name]:
			t.Fatalf("two vectors are called %q", v.Name)
		case v.Level != testvectors.Required && v.Level != testvectors.Recommended:
			t.Fatalf("%q has the level %q", v.Name, v.Level)
		case v.Comment == "" || len(v.Sentences) == 0:
			t.Fatalf("%q has no comment or sentence", v.Name)
		}
		names[v.Name] = true
		for _, flag := range v.Flags {
			if f.Flags[flag].Mistake == "" {
				t.Fatalf("%q has the flag %q, which nothing explains", v.Name, flag)
			}
		}
		for _, part := range []json.RawMessage{v.Request, v.Response} {
			if !bytes.HasPrefix(bytes.TrimSpace(part), []byte("{")) || !json.Valid(part) {
				t.Fatalf("%q: not a JSON object: %s", v.Name, part)
			}
		}
	}
}

func mustMarshal(t T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}
