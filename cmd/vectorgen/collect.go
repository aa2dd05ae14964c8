package main

import (
	"encoding/json"

	"github.com/chunkwire/chunkwire/testvectors"
)

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

func asJSON(v any) json.RawMessage {
	text, err := compact(v)
	if err != nil {
		panic(err) // requests and responses are plain structs
	}
	return json.RawMessage(text)
}
