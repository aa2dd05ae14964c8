package testvectors

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
)

// ErrNoFiles is returned where the files of vectors are not to be found.
var ErrNoFiles = errors.New("the vectors are the folder testvectors/files of the repository, and the working directory is not in it")

// files has the folder "files".
var files = source()

// Schema is the JSON Schema of all files.
//
//go:embed schema.json
var Schema []byte

// License is the license of every file.
const License = "CC0-1.0"

// load reads the files once: they are 23 MB, and each target of package fuzz asks for them.
var load = sync.OnceValues(func() ([]File, error) { return LoadFS(files, "files") })

// Load returns the files of vectors, checked, in the order of Groups, or ErrNoFiles. What they hold is shared and must not
// be changed.
func Load() ([]File, error) {
	list, err := load()
	return slices.Clone(list), err
}

// LoadGroups returns the files of these groups alone, checked, in the order of Groups: it takes no time for
// the others.
func LoadGroups(groups ...string) ([]File, error) {
	var list []File
	for _, group := range groups {
		f, err := ReadFile(files, path.Join("files", group+".json"))
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	if err := sortByGroup(list); err != nil {
		return nil, err
	}
	return list, Validate(list)
}

// LoadFS reads the files of a folder.
func LoadFS(fsys fs.FS, dir string) ([]File, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var list []File
	for _, e := range entries {
		if path.Ext(e.Name()) != ".json" || e.Name() == AccumulatedName {
			continue
		}
		f, err := ReadFile(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	if err := sortByGroup(list); err != nil {
		return nil, err
	}
	return list, Validate(list)
}

// ReadFile reads a file of vectors, which it does not check.
func ReadFile(fsys fs.FS, name string) (f File, err error) {
	if err := read(fsys, name, &f); err != nil {
		return f, err
	}
	if f.Group+".json" != path.Base(name) {
		return f, fmt.Errorf("%s: group %q", name, f.Group)
	}
	return f, nil
}

// read decodes a file that holds one JSON value, without unknown fields.
func read(fsys fs.FS, name string, into any) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than one value", name)
	}
	return nil
}

// Requests returns the requests of all vectors.
func Requests(files []File) (list []json.RawMessage) {
	for _, f := range files {
		for _, v := range f.Vectors {
			list = append(list, v.Request)
		}
	}
	return list
}
