package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors"
)

// file is a file to write: one of vectors, the one of seeded runs, or their schema.
type file struct {
	name string
	vec  *testvectors.File
	acc  *testvectors.AccumulatedFile
	text []byte
}

// documents are the sources of vectors: the specifications, whose examples are vectors, by
// their names, and the files, which have the requests of most groups.
type documents struct {
	text  map[string][]byte
	files string // their folder
}

// generate makes all files, in the order of the groups. The long seeded runs are
// left without their hash, which full adds. Scripts that are named for it are rewritten.
func generate(docs documents, rewrite *rewriting) ([]file, error) {
	groups, err := testvectors.Groups()
	flags, err2 := testvectors.Flags()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	var all []testvectors.File
	var list []file
	var differ error // the packages from the oracles
	for _, about := range groups {
		g := newGroup(about, flags)
		g.rewrite = rewrite
		if err := g.fill(about, docs); err != nil {
			return nil, fmt.Errorf("%s: %w", about.Name, err)
		}
		differ = errors.Join(differ, g.disagrees())
		all = append(all, g.file)
		list = append(list, file{name: about.Name + ".json", vec: &g.file})
	}
	if err := errors.Join(differ, testvectors.Validate(all), rewrite.exist(all)); err != nil {
		return nil, err
	}
	described, err := schema()
	return append(list, file{name: testvectors.AccumulatedName, acc: accumulated()}, file{name: schemaName, text: described}), err
}

// examplesOf are the documents whose worked examples are vectors, by the kind of the group.
var examplesOf = map[string]string{
	"examples": "PROTOCOL.md", "repair-examples": "REPAIR.md", "packet-examples": "PACKETS.md", "channel-examples": "CHANNELS.md", "connection-examples": "CONNECTION.md",
}

// fill makes a group's vectors.
func (g *group) fill(about testvectors.Group, docs documents) error {
	if add, ok := scripted(about.Kind); ok {
		return g.scripts(add)
	}
	if about.Kind == "contract" {
		return g.given(docs.files)
	}
	document, hasExamples := examplesOf[about.Kind]
	if about.Kind != "kept" && !hasExamples {
		return fmt.Errorf("unknown kind %q", about.Kind)
	}
	if err := g.kept(docs.files, hasExamples); err != nil || !hasExamples {
		return err
	}
	return g.examples(docs.text[document])
}

// vectors returns the vectors of a file. A seeded run stands for one, so that
// it is listed, matched and counted.
func (f *file) vectors() []testvectors.Vector {
	if f.vec != nil {
		return f.vec.Vectors
	}
	if f.acc == nil {
		return nil
	}
	var list []testvectors.Vector
	for _, run := range f.acc.Runs {
		list = append(list, testvectors.Vector{
			Name: run.Name, Comment: run.Comment, Sentences: run.Sentences, Level: testvectors.Required,
		})
	}
	return list
}

func (f *file) matches(match *regexp.Regexp) bool {
	return f.text != nil || slices.ContainsFunc(f.vectors(), func(v testvectors.Vector) bool { return match.MatchString(v.Name) })
}

// full returns the file's text.
func (f *file) full() ([]byte, error) {
	switch {
	case f.text != nil:
		return f.text, nil
	case f.vec != nil:
		return format(*f.vec)
	}
	for i := range f.acc.Runs {
		if run := &f.acc.Runs[i]; run.SHA256 == "" {
			run.SHA256 = hash(*run)
		}
	}
	return formatAccumulated(*f.acc)
}
