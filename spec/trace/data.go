package main

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/chunkwire/chunkwire/spec"
)

// dataFormat is the number of the format that spec/schema.json describes.
const dataFormat = 1

// dataFile returns the name of the file that holds a document as data.
func (d Document) dataFile() string {
	return path.Join(path.Dir(d.File), strings.ToLower(strings.TrimSuffix(path.Base(d.File), ".md"))+".json")
}

// data returns a document as JSON (spec/schema.json).
func (d Document) data() []byte {
	for _, s := range d.Sentences {
		if !s.IsRow() {
			d.Document.Sentences = append(d.Document.Sentences, s.Sentence)
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(struct {
		Format int `json:"format"`
		spec.Document
	}{dataFormat, d.Document}); err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return b.Bytes()
}
