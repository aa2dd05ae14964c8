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

// keptFile writes the file of a group.
func keptFile(t *testing.T, name string, vectors ...testvectors.Vector) (*group, string) {
	t.Helper()
	dir, text := t.TempDir(), check.Must(json.Marshal(testvectors.File{Group: name, Vectors: vectors}))
	check.Same(t, "file", os.WriteFile(filepath.Join(dir, name+".json"), text, 0o644), nil)
	return newGroup(testvectors.Group{Name: name, Level: testvectors.Required}, nil), dir
}

// keptGroup answers a file of the group refuse-body with these vectors.
func keptGroup(t *testing.T, vectors ...testvectors.Vector) (*group, error) {
	t.Helper()
	g, dir := keptFile(t, "refuse-body", vectors...)
	return g, g.kept(dir, false)
}

// refusedVector is one whose body has no byte.
func refusedVector() testvectors.Vector {
	return testvectors.Vector{
		Name: "refuse-body/empty", Sentences: []string{"DEC-4"}, Request: json.RawMessage(`{"op":"decode_body","type":"slice","hex":""}`),
	}
}

// A vector gets its response from the layouts: one that has none yet, and one with another.
func TestKeptVectorsAreAnswered(t *testing.T) {
	for _, before := range []string{`null`, `{"ok":true}`, `{"error":"truncated","ok":false}`} {
		v := refusedVector()
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
	v := refusedVector()
	v.Sentences = []string{"DEC-5"}
	_, err := keptGroup(t, v)
	check.That(t, err != nil && strings.Contains(err.Error(), "refused by DEC-4, and names DEC-5"), "another sentence")
	v = refusedVector()
	v.Sentences = append(v.Sentences, "S1")
	_, err = keptGroup(t, v)
	check.That(t, err != nil && strings.Contains(err.Error(), "takes no row S1"), "a row")
	v = refusedVector()
	v.Name = "bits/empty"
	_, err = keptGroup(t, v)
	check.That(t, err != nil, "the name of another group")
}

// A request that a port cannot read has its response in the file, which the package must give.
func TestGivenVectorsAreAsked(t *testing.T) {
	for response, want := range map[string]string{`{"ok":false,"error":"unsupported"}`: "", `{"ok":false,"error":"bad_request"}`: "the package differs", `null`: "no response"} {
		v := testvectors.Vector{Name: "contract/fly", Request: json.RawMessage(`{"op":"fly"}`), Response: json.RawMessage(response)}
		g, dir := keptFile(t, "contract", v)
		err := g.given(dir)
		if err == nil {
			err = g.disagrees()
		}
		check.That(t, err == nil && want == "" || err != nil && want != "" && strings.Contains(err.Error(), want), response)
	}
}

// A vector with which the package does not agree is found.
func TestDisagreementIsFound(t *testing.T) {
	g, err := keptGroup(t, refusedVector())
	check.Same(t, "answered", err, nil)
	check.Same(t, "agrees", g.disagrees(), nil)
	g.file.Vectors[0].Response = json.RawMessage(`{"ok":false,"error":"length"}`)
	err = g.disagrees()
	check.That(t, err != nil && strings.Contains(err.Error(), "refuse-body/empty"), "found")
}

// In a conversation each end gets what another one sent, and reads what another one was given.
func TestConversationsCarryWhatWasSent(t *testing.T) {
	for _, group := range []string{"packet", "channel", "session", "connection", "repair-connection"} {
		said := map[string]map[string]bool{} // by the conversation: all texts of its requests and responses
		vectors := vectorsOf(t, group+"-conversation")
		check.That(t, len(vectors) > 10, group)
		add := func(key string, text json.RawMessage) {
			if said[key] == nil {
				said[key] = map[string]bool{}
			}
			texts(valueOf(text), "", func(_, text string) { said[key][text] = true })
		}
		for _, v := range vectors {
			add("request"+conversationOf(v.Name), v.Request)
			add("response"+conversationOf(v.Name), v.Response)
		}
		for _, v := range vectors {
			texts(valueOf(v.Request), "", func(name, text string) {
				if name == "hex" || name == "datagram" {
					check.That(t, said["response"+conversationOf(v.Name)][text], v.Name+" gets "+text)
				}
			})
			texts(valueOf(v.Response), "", func(name, text string) {
				if (name == "data" || name == "payload") && text != "00" { // the payload of an ack alone
					check.That(t, said["request"+conversationOf(v.Name)][text], v.Name+" reads "+text)
				}
			})
		}
	}
}

// texts goes along the texts in a JSON value, with the names of their members.
func texts(v any, name string, see func(name, text string)) {
	switch v := v.(type) {
	case string:
		see(name, v)
	case map[string]any:
		for name, inner := range v {
			texts(inner, name, see)
		}
	case []any:
		for _, inner := range v {
			texts(inner, name, see)
		}
	}
}
