package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/testvectors"
)

// keptGroup answers a file of the group refuse-body with these vectors.
func keptGroup(t *testing.T, vectors ...testvectors.Vector) (*group, error) {
	t.Helper()
	text, err := json.Marshal(testvectors.File{Group: "refuse-body", Vectors: vectors})
	check.Same(t, "file", err, nil)
	dir := t.TempDir()
	check.Same(t, "file", os.WriteFile(filepath.Join(dir, "refuse-body.json"), text, 0o644), nil)
	g := newGroup(testvectors.Group{Name: "refuse-body", Level: testvectors.Required}, nil)
	return g, g.kept(dir)
}

// refused is a vector whose body has no byte.
func refused() testvectors.Vector {
	return testvectors.Vector{
		Name: "refuse-body/empty", Sentences: []string{"DEC-4"}, Request: json.RawMessage(`{"op":"decode_body","type":"slice","hex":""}`),
	}
}

// A vector gets its response from the layouts: one that has none yet, and one with another.
func TestKeptVectorsAreAnswered(t *testing.T) {
	for _, before := range []string{`null`, `{"ok":true}`, `{"error":"truncated","ok":false}`} {
		v := refused()
		v.Response = json.RawMessage(before)
		g, err := keptGroup(t, v)
		check.Same(t, before, err, nil)
		check.That(t, sameValue(g.file.Vectors[0].Response, json.RawMessage(`{"ok":false,"error":"truncated"}`)), string(g.file.Vectors[0].Response))
		if strings.Contains(before, "truncated") {
			check.Equal(t, "members keep their order", string(g.file.Vectors[0].Response), before)
		}
	}
}

// A vector names the sentence that refuses it, and its group.
func TestKeptVectorsAreRefused(t *testing.T) {
	v := refused()
	v.Sentences = []string{"DEC-5"}
	_, err := keptGroup(t, v)
	check.That(t, err != nil && strings.Contains(err.Error(), "refused by DEC-4, and names DEC-5"), "another sentence")
	v = refused()
	v.Name = "bits/empty"
	_, err = keptGroup(t, v)
	check.That(t, err != nil, "the name of another group")
}

// A vector with which the package does not agree is found.
func TestDisagreementIsFound(t *testing.T) {
	g, err := keptGroup(t, refused())
	check.Same(t, "answered", err, nil)
	check.Same(t, "agrees", g.disagrees(), nil)
	g.file.Vectors[0].Response = json.RawMessage(`{"ok":false,"error":"length"}`)
	err = g.disagrees()
	check.That(t, err != nil && strings.Contains(err.Error(), "refuse-body/empty"), "found")
}
