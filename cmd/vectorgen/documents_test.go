package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file compares vectors with what a document has: rows, checks, codes, sentences.

// vectorsOf are those of the files whose names begin so.
func vectorsOf(t *testing.T, prefix string) (list []testvectors.Vector) {
	t.Helper()
	for _, f := range generated(t) {
		if strings.HasPrefix(f.name, prefix) {
			list = append(list, f.vectors()...)
		}
	}
	return list
}

// document is a specification.
func document(t *testing.T, name string) []byte { return specification(t).text[name] }

// answers are those that were asked for, by the names of vectors.
var answers = map[string]answer{}

// taken counts the rows that oracles take when they answer vectors, and the checks and codes with
// which they refuse: as the oracles run them, not as vectors say.
func taken(t *testing.T, vectors []testvectors.Vector) (rows, codes map[string]int) {
	t.Helper()
	rows, codes = map[string]int{}, map[string]int{}
	for _, v := range vectors {
		if strings.Contains(v.Name, "-contract/") {
			continue // about the port
		}
		a, known := answers[v.Name]
		if !known {
			a = check.Must(answered(v.Request))
			answers[v.Name] = a
		}
		for _, row := range append(a.rows, a.refusedBy) {
			rows[row]++
		}
		countCodes(valueOf(a.response), codes)
	}
	return rows, codes
}

// countCodes counts the codes of refusals that are somewhere in a response.
func countCodes(v any, codes map[string]int) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"error", "refused", "counted"} {
			if code, is := v[name].(string); is {
				codes[code]++
			}
		}
		for _, inner := range v {
			countCodes(inner, codes)
		}
	case []any:
		for _, inner := range v {
			countCodes(inner, codes)
		}
	}
}

// idsIn returns what the groups of a pattern find in a document.
func idsIn(document []byte, pattern string) (ids []string) {
	for _, m := range regexp.MustCompile("(?m)"+pattern).FindAllStringSubmatch(string(document), -1) {
		ids = append(ids, strings.Join(m[1:], ""))
	}
	return ids
}

// codesOf returns the codes of a registry.
func codesOf(t *testing.T, name string) (codes []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(specPath, name))
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Codes []struct{ Code string } }
	if err := json.Unmarshal(text, &document); err != nil || len(document.Codes) < 13 {
		t.Fatalf("%d codes, %v", len(document.Codes), err)
	}
	for _, c := range document.Codes {
		codes = append(codes, c.Code)
	}
	return codes
}

// sentencesOf counts the sentences that vectors name.
func sentencesOf(vectors []testvectors.Vector) map[string]int {
	named := map[string]int{}
	for _, v := range vectors {
		for _, id := range v.Sentences {
			named[id]++
		}
	}
	return named
}

// eachIsTaken fails if an id is not taken without a reason, or is taken in spite of one.
func eachIsTaken(t *testing.T, times map[string]int, ids []string, whyNot map[string]string) {
	t.Helper()
	for _, id := range ids {
		if (times[id] > 0) == (whyNot[id] != "") {
			t.Errorf("%s: %d times; why not: %q", id, times[id], whyNot[id])
		}
	}
}

// levelsAreOf checks the levels of vectors: the usual one, or that of the operation.
func levelsAreOf(t *testing.T, vectors []testvectors.Vector, usual testvectors.Level, levels map[string]testvectors.Level) {
	t.Helper()
	for _, v := range vectors {
		var h contract.Header
		_ = json.Unmarshal(v.Request, &h)
		want, ok := levels[h.Op]
		if !ok {
			want = usual
		}
		if v.Level != want {
			t.Errorf("%s: level %s, want %s", v.Name, v.Level, want)
		}
	}
}
