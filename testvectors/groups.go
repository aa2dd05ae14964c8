package testvectors

import (
	"embed"
	"slices"
)

// Data beside the vectors.
//
//go:embed groups.json flags.json levels.json lines.json
var data embed.FS

// Traces holds traces/*.txtar, the scripts of the groups that are written by hand.
// Package script reads them.
//
//go:embed traces/*.txtar
var Traces embed.FS

// Group describes a file of vectors.
type Group struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`  // how its vectors are made
	Level       Level  `json:"level"` // of those that say nothing else
	Description string `json:"description"`
}

// Groups returns the groups in the order in which an implementation grows.
func Groups() (list []Group, err error) {
	err = read(data, "groups.json", &list)
	return list, err
}

// Flags returns the flags of all groups.
func Flags() (flags map[string]Flag, err error) {
	err = read(data, "flags.json", &flags)
	return flags, err
}

// Levels returns the conformance levels, those of a protocol together (RPO-11, RVO-5).
func Levels() (list []AboutLevel, err error) {
	err = read(data, "levels.json", &list)
	return list, err
}

// Line is a line that is no request. A port answers each of them with an id of null
// and bad_request, and goes on (PRT-3).
type Line struct {
	Name    string `json:"name"`
	Comment string `json:"comment"`
	Line    string `json:"line"`
}

// Lines returns lines that no vector can hold, since a vector is a request.
func Lines() (list []Line, err error) {
	err = read(data, "lines.json", &list)
	return list, err
}

// sortByGroup puts files into the order of their groups, unknown ones last.
func sortByGroup(list []File) error {
	groups, err := Groups()
	place := func(f File) int {
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == f.Group })
		if i < 0 {
			return len(groups)
		}
		return i
	}
	slices.SortStableFunc(list, func(a, b File) int { return place(a) - place(b) })
	return err
}
