package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// dataFormat is the number of the format that spec/schema.json describes.
const dataFormat = 1

// dataFile returns the name of the file that holds a document as data.
func dataFile(document string) string {
	name := strings.TrimSuffix(path.Base(document), ".md")
	return path.Join(path.Dir(document), strings.ToLower(name)+".json")
}

// data returns a document as JSON (spec/schema.json).
func (d Document) data() []byte {
	type entry struct {
		ID      string `json:"id"`
		Class   string `json:"class"`
		Section string `json:"section"`
		Text    string `json:"text"`
	}
	out := struct {
		Format    int        `json:"format"`
		Document  string     `json:"document"`
		Title     string     `json:"title"`
		Sentences []entry    `json:"sentences"`
		Tables    []Table    `json:"tables"`
		Constants []Constant `json:"constants"`
		Codes     []Code     `json:"codes"`
	}{dataFormat, d.File, d.Title, []entry{}, append([]Table{}, d.Tables...), append([]Constant{}, d.Constants...), append([]Code{}, d.Codes...)}
	for _, s := range d.Sentences {
		if !s.IsRow() {
			out.Sentences = append(out.Sentences, entry{s.ID, s.Class, s.Section, s.Text})
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		panic(err) // there is nothing in it that JSON cannot hold
	}
	return b.Bytes()
}

// checkData returns which data files do not hold what their documents say.
func checkData(tree fs.FS, docs []Document) (problems []string) {
	for _, d := range docs {
		name := dataFile(d.File)
		if have, err := fs.ReadFile(tree, name); err != nil || !bytes.Equal(have, d.data()) {
			problems = append(problems, fmt.Sprintf("%s is not what %s says: --write makes it", name, d.File))
		}
	}
	return problems
}
