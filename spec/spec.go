// Package spec has the specification as data: the sentences, tables of transitions,
// constants and codes of the documents beside it, as spec/trace writes them from the
// documents. Programs that show what a sentence says take it from here.
package spec

import (
	"embed"
	"encoding/json"
	"sync"
)

// Files are the documents as data, named protocol.json, recovery.json, packets.json,
// channels.json, connection.json and repair.json. Each meets schema.json.
//
//go:embed protocol.json recovery.json packets.json channels.json connection.json repair.json
var Files embed.FS

// names are those of the files in the order of Documents.
var names = [...]string{"protocol.json", "recovery.json", "packets.json", "channels.json", "connection.json", "repair.json"}

// Document is one of the documents.
type Document struct {
	File      string     `json:"document"` // such as spec/PROTOCOL.md
	Title     string     `json:"title"`
	Sentences []Sentence `json:"sentences"`
	Tables    []Table    `json:"tables"`
	Constants []Constant `json:"constants"`
	Codes     []Code     `json:"codes"`
}

// Sentence is a normative sentence.
type Sentence struct {
	ID      string `json:"id"`      // letters and a number
	Class   string `json:"class"`   // required, recommended, …
	Section string `json:"section"` // the nearest heading
	Text    string `json:"text"`    // Markdown in one line
	File    string `json:"-"`       // of its document
}

// Table is the table of transitions of a machine.
type Table struct {
	Name string `json:"name"` // such as sender, or session-client
	Rows []Row  `json:"rows"`
	File string `json:"-"` // of its document
}

// Row is a row of a table of transitions.
type Row struct {
	Actions []string `json:"actions"`
	Event   string   `json:"event"`
	Guard   string   `json:"guard"`
	Next    string   `json:"next"`
	Row     string   `json:"row"` // a letter and a number
	State   string   `json:"state"`
}

// Constant is a constant with its value.
type Constant struct {
	Name    string   `json:"name"`
	Value   int64    `json:"value"`
	Unit    string   `json:"unit"` // us is microseconds; empty for a bare number
	Class   string   `json:"class"`
	Meaning string   `json:"meaning"`
	UsedBy  []string `json:"used_by"` // sentences and rows
}

// Code is an entry of a document's registry of error codes.
type Code struct {
	Code      string   `json:"code"`
	From      string   `json:"from"`
	Meaning   string   `json:"meaning"`
	Sentences []string `json:"sentences"` // that give it
}

// content is what the files hold, with the ways to find it.
type content struct {
	documents []Document
	sentences map[string]Sentence
	rows      map[string]Row
	tables    map[string]Table
}

var load = sync.OnceValue(func() *content {
	c := &content{sentences: map[string]Sentence{}, rows: map[string]Row{}, tables: map[string]Table{}}
	for _, name := range names {
		c.documents = append(c.documents, read(name))
	}
	for _, d := range c.documents {
		c.index(&d)
	}
	return c
})

// read decodes a file. They are part of the program: one that cannot be read is a mistake of it.
func read(name string) (d Document) {
	text, err := Files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		panic("spec: " + name + ": " + err.Error())
	}
	return d
}

func (c *content) index(d *Document) {
	for i := range d.Sentences {
		d.Sentences[i].File = d.File
		c.sentences[d.Sentences[i].ID] = d.Sentences[i]
	}
	for i := range d.Tables {
		d.Tables[i].File = d.File
		c.tables[d.Tables[i].Name] = d.Tables[i]
		for _, r := range d.Tables[i].Rows {
			c.rows[r.Row] = r
		}
	}
}

// Documents returns all documents. What they hold is shared and must not be changed.
func Documents() []Document { return load().documents }

// Find returns the sentence with an id. No two documents have one of the same id.
func Find(id string) (Sentence, bool) {
	s, ok := load().sentences[id]
	return s, ok
}

// FindRow returns the row of a table with an id. No two tables have one of the
// same id.
func FindRow(id string) (Row, bool) {
	r, ok := load().rows[id]
	return r, ok
}

// FindTable returns the table of transitions of a machine, such as sender.
func FindTable(name string) (Table, bool) {
	t, ok := load().tables[name]
	return t, ok
}

// Formats are the wire formats of the documents as data, as package conform/layout interprets
// them. It meets formats.schema.json, and the tables and sentences of the documents.
//
//go:embed formats.json
var Formats []byte
