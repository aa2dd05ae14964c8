package fuzz

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/chunkwire/chunkwire/testvectors"
)

// An input is a file of vectors, which stands in a folder as bits.json. If it is
// accepted, it is so when it is written from what was read, and nothing of it is
// lost.
var targetVectors = newTarget("Vectors", "what the loader of vectors accepts is the same when written and read again", runVectors, seedVectors)

const vectorGroup = "bits"

func runVectors(t T, data []byte) {
	list, err := loadVectors(data)
	if verbose() {
		t.Logf("%s: %v", data, err)
	}
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
	var file object
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
		case !slices.Contains(levels(), v.Level):
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

// levels returns the conformance levels that there are.
var levels = sync.OnceValue(func() (names []testvectors.Level) {
	list, err := testvectors.Levels()
	if err != nil {
		panic(err)
	}
	for _, l := range list {
		names = append(names, l.Name)
	}
	return names
})

func mustMarshal(t T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

func seedVectors(files []testvectors.File) (seeds [][]byte) {
	for _, f := range files { // the first vectors of each file, under the name that the target wants
		kept := testvectors.File{Format: f.Format, Group: vectorGroup, Description: f.Description, License: f.License, Flags: map[string]testvectors.Flag{}}
		for _, v := range f.Vectors[:min(3, len(f.Vectors))] {
			v.Name = vectorGroup + v.Name[len(f.Group):]
			if len(v.Request) > 2000 || len(v.Response) > 2000 {
				continue
			}
			kept.Vectors = append(kept.Vectors, v)
			for _, flag := range v.Flags {
				kept.Flags[flag] = f.Flags[flag]
			}
		}
		if text, err := json.Marshal(kept); err == nil {
			seeds = append(seeds, text)
		}
	}
	seeds = append(seeds, spoiled(seeds[0])...)
	return append(seeds, nil, []byte("{}"), []byte("null"), []byte("[]"))
}

// spoiled are files that differ from a good one in what the loader refuses.
func spoiled(good []byte) [][]byte {
	var f testvectors.File
	json.Unmarshal(good, &f)
	f.Vectors = append(f.Vectors, f.Vectors[0]) // a name that is taken
	twice, _ := json.Marshal(f)
	unknown := append([]byte(`{"unknown":1,`), good[1:]...)
	return [][]byte{twice, unknown, append(slices.Clone(good), "{}"...), good[:len(good)/2]}
}
