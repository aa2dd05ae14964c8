package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/oracle"
)

// accepted is what a group expects of a vector that is not refused.
const accepted = "ok"

// group collects the vectors of a file.
type group struct{ file testvectors.File }

func newGroup(name, description string) *group {
	return &group{testvectors.File{
		Format: testvectors.FormatVersion, Group: name, Description: description, License: testvectors.License,
		Flags: map[string]testvectors.Flag{},
	}}
}

// about is why a vector is there: its comment, its flags and the sentences that
// it tests, both separated by spaces.
type about struct{ comment, flags, sentences string }

// add adds a vector. want says what its author expects, ok or a code: a vector
// that does not do what its name says, or is refused for another reason than by
// the sentences that it names, ends the program.
func (g *group) add(name string, why about, want string, q request, a response) {
	if got := outcome(a); got != want {
		panic(fmt.Sprintf("%s/%s: the oracle says %s, the group %s", g.file.Group, name, got, want))
	}
	if a.sentence != "" && !slices.Contains(strings.Fields(why.sentences), a.sentence) {
		panic(fmt.Sprintf("%s/%s: refused by %s, the group says %s", g.file.Group, name, a.sentence, why.sentences))
	}
	g.addRaw(name, why, asJSON(q), asJSON(a))
}

func (g *group) addRaw(name string, why about, q, a json.RawMessage) {
	v := testvectors.Vector{
		Name: g.file.Group + "/" + name, Comment: why.comment,
		Flags: strings.Fields(why.flags), Sentences: strings.Fields(why.sentences),
		Level: testvectors.Required, Request: q, Response: a,
	}
	for _, name := range v.Flags {
		flag, ok := mistakes[name]
		if !ok {
			panic(v.Name + ": no flag " + name)
		}
		g.file.Flags[name] = flag
	}
	g.file.Vectors = append(g.file.Vectors, v)
}

func outcome(a response) string {
	if a.OK {
		return accepted
	}
	return a.Error
}

func asJSON(v any) json.RawMessage {
	text, err := compact(v)
	if err != nil {
		panic(err) // requests and responses are plain structs
	}
	return json.RawMessage(text)
}

// encodeBody adds the encoding of a bare body.
func (g *group) encodeBody(name string, why about, want string, p oracle.Packet) {
	q, a := encodeRequest(nil, p)
	g.add(name, why, want, q, a)
}

// encode adds the encoding of a datagram.
func (g *group) encode(name string, why about, want string, protocolID uint32, p oracle.Packet) {
	q, a := encodeRequest(&protocolID, p)
	g.add(name, why, want, q, a)
}

// decodeBody adds the decoding of a bare body.
func (g *group) decodeBody(name string, why about, want, kind string, b []byte) {
	q, a := bodyRequest(kind, b)
	g.add(name, why, want, q, a)
}

// decode adds the decoding of a datagram.
func (g *group) decode(name string, why about, want string, protocolID uint32, b []byte) {
	q, a := datagramRequest(protocolID, b)
	g.add(name, why, want, q, a)
}
