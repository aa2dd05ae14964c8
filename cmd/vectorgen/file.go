package main

import (
	"regexp"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors"
)

// file is a file to be: one of vectors, or the one of seeded runs.
type file struct {
	name string
	vec  *testvectors.File
	acc  *testvectors.AccumulatedFile
}

// generate makes all files, in the order of the registry. The long seeded runs
// are left without their hash, which full adds.
func generate(spec []byte) ([]file, error) {
	first, err := examples(spec)
	if err != nil {
		return nil, err
	}
	all := []testvectors.File{first}
	for _, group := range groups {
		all = append(all, group())
	}
	if err := testvectors.Validate(all); err != nil {
		return nil, err
	}
	var list []file
	for _, f := range all {
		list = append(list, file{name: f.Group + ".json", vec: &f})
	}
	return append(list, file{name: testvectors.AccumulatedName, acc: accumulated()}), nil
}

// vectors returns the vectors of a file. A seeded run stands for one, so that
// it is listed, matched and counted.
func (f *file) vectors() []testvectors.Vector {
	if f.vec != nil {
		return f.vec.Vectors
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
	return slices.ContainsFunc(f.vectors(), func(v testvectors.Vector) bool { return match.MatchString(v.Name) })
}

// full returns the file's text.
func (f *file) full() ([]byte, error) {
	if f.vec != nil {
		return format(*f.vec)
	}
	for i := range f.acc.Runs {
		if run := &f.acc.Runs[i]; run.SHA256 == "" {
			run.SHA256 = hash(*run)
		}
	}
	return formatAccumulated(*f.acc)
}
