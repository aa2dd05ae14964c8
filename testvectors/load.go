package testvectors

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

//go:embed files/*.json
var files embed.FS

// SchemaURL is what schema.json calls itself.
const SchemaURL = "https://github.com/chunkwire/chunkwire/testvectors/schema.json"

// Schema is the JSON Schema of all files.
//
//go:embed schema.json
var Schema []byte

// License is what every file says of its license.
const License = "CC0-1.0"

// Load returns the files of vectors, checked, in the order in which an
// implementation grows: bits, bodies, frames, refusals, then traces.
func Load() ([]File, error) { return LoadFS(files, "files") }

// LoadFS does what Load does with the files of a folder.
func LoadFS(fsys fs.FS, dir string) ([]File, error) {
	names, err := fs.Glob(fsys, path.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var list []File
	for _, name := range names {
		if path.Base(name) == AccumulatedName {
			continue
		}
		var f File
		if err := read(fsys, name, &f); err != nil {
			return nil, err
		}
		if f.Group+".json" != path.Base(name) {
			return nil, fmt.Errorf("%s: group %q", name, f.Group)
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b File) int { return stage(a.Group) - stage(b.Group) })
	return list, Validate(list)
}

// stage is where a group stands in the growth of an implementation.
func stage(group string) int {
	stages := []string{
		"bits", "examples", "slice-body", "ack-body", "frame-slice", "frame-ack", "refuse-body", "refuse-frame",
		"refuse-encode", "contract", "receiver", "sender", "conversation", "receiver-timing", "sender-pace", "sender-loss",
	}
	if i := slices.Index(stages, group); i >= 0 {
		return i
	}
	return len(stages)
}

// read decodes a file that holds one JSON value and no field that it should not.
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
