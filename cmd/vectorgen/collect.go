package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// accepted is what a group expects of a vector that is not refused.
const accepted = "ok"

// group collects the vectors of a file.
type group struct {
	flags   map[string]testvectors.Flag
	level   testvectors.Level
	file    testvectors.File
	rewrite *rewriting // nil: none
}

// newGroup returns a group without vectors. flags are all that there are.
func newGroup(about testvectors.Group, flags map[string]testvectors.Flag) *group {
	return &group{flags: flags, level: about.Level, file: testvectors.File{
		Format: testvectors.FormatVersion, Group: about.Name, Description: about.Description, License: testvectors.License,
		Flags: map[string]testvectors.Flag{},
	}}
}

// about is why a vector is there: its comment, its flags and the sentences that
// it tests, both separated by spaces.
type about struct{ comment, flags, sentences string }

// add adds a vector. want is what its author expects, ok or a code: a vector that
// does not do what its name says, or is refused by another sentence than those that
// it names, ends the program.
func (g *group) add(name string, why about, want string, q contract.Request, a answer) {
	if got := outcome(a); got != want {
		panic(fmt.Sprintf("%s/%s: the oracle answers %s, the group expects %s", g.file.Group, name, got, want))
	}
	if a.sentence != "" && !slices.Contains(strings.Fields(why.sentences), a.sentence) {
		panic(fmt.Sprintf("%s/%s: refused by %s, the group names %s", g.file.Group, name, a.sentence, why.sentences))
	}
	g.addVector(testvectors.Vector{
		Name: name, Comment: why.comment, Flags: strings.Fields(why.flags), Sentences: strings.Fields(why.sentences),
		Request: asJSON(q), Response: asJSON(a.Response),
	})
}

// addVector adds a vector whose name lacks the group's. Without a level it gets the
// group's.
func (g *group) addVector(v testvectors.Vector) {
	v.Name = g.file.Group + "/" + v.Name
	if v.Level == "" {
		v.Level = g.level
	}
	for _, name := range v.Flags {
		if flag, ok := g.flags[name]; ok {
			g.file.Flags[name] = flag // Validate finds those that are missing
		}
	}
	g.file.Vectors = append(g.file.Vectors, v)
}

func outcome(a answer) string {
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
