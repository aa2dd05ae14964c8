package layout

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/chunkwire/chunkwire/spec"
)

// Values are the values of a layout by their names: an int64, a string for a name or a text,
// []byte, []bool for flags, or []Values for a list.
type Values map[string]any

// Parameters are what a format has besides its bytes, by the names in capitals. Those that are
// not given are of formats.json.
type Parameters map[string]any

// Choose is a parameter that depends on values: a function of the name of another value.
type Choose func(value func(name string) any) int64

// Fault is the refusal of a decoder or an encoder.
type Fault struct {
	Code  string
	Check string // the sentence that is not met
	At    int    // the place, in the unit of the layout; -1: none
}

func (f *Fault) Error() string { return f.Code + " (" + f.Check + ")" }

// Format is a layout.
type Format struct {
	Name     string `json:"layout"`
	Doc      string `json:"doc"`
	Document string `json:"document"`
	Unit     string `json:"unit"`     // of places: bits or bytes
	Sentence string `json:"sentence"` // that says how its fields look, for readers
	Whole    string `json:"whole"`    // the sentence by which an incomplete field is refused
	Short    string `json:"short"`    // "end": that is refused at the end
	Exact    bool   `json:"exact"`    // JSON has no number that does not fit its bits
	Items    []Item `json:"items"`
}

// Item is an item of a layout.
type Item struct {
	Name  string           `json:"name"`
	Doc   string           `json:"doc"`
	Says  string           `json:"sentence"` // that says how it looks, if it is not its layout's
	When  string           `json:"when"`
	Else  *int64           `json:"else"`
	Bits  int              `json:"bits"`
	Plus  int64            `json:"plus"`
	Names map[string]int64 `json:"names"`
	Bytes string           `json:"bytes"`
	Text  bool             `json:"text"`
	Flags string           `json:"flags"`
	Align int              `json:"align"`
	Zero  string           `json:"zero"`
	Each  string           `json:"each"`
	Items []Item           `json:"items"`

	Use     string `json:"use"`
	Within  string `json:"within"`
	As      string `json:"as"`
	Refused string `json:"refused"`

	Let    string `json:"let"`
	Value  string `json:"value"`
	Is     string `json:"is"`
	From   string `json:"from"`
	Late   bool   `json:"late"`
	Unsaid string `json:"unsaid"`
	Row    bool   `json:"row"`

	Whole  string  `json:"whole"`
	Holds  string  `json:"holds"`
	Check  *Check  `json:"check"`
	Checks []Check `json:"checks"`

	when, size, from, is, unsaid expression
}

// Check is a check of a layout.
type Check struct {
	ID   string `json:"id"`
	Code string `json:"code"` // empty: that of the sentence
	Ok   string `json:"ok"`
	At   string `json:"at"` // empty: the item
	By   string `json:"by"` // "decoder" or "encoder"; empty: both

	ok expression
}

// Sentence is a row of a table of checks, or a sentence of an encoder: what it asks for in the
// words of the document, the codes and the place.
type Sentence struct {
	ID    string   `json:"id"`
	Text  string   `json:"text"`
	Codes []string `json:"codes"`
	Place string   `json:"place"`
}

// File is what formats.json has.
type File struct {
	Format     int              `json:"format"`
	Parameters map[string]int64 `json:"parameters"`
	Layouts    []Format         `json:"layouts"`
	Checks     []struct {
		Document string     `json:"document"`
		Machine  string     `json:"machine"` // not empty: the checks are a machine's, for this reason
		Rows     []Sentence `json:"rows"`
	} `json:"checks"`
}

// declared is formats.json, with ways to find what it has.
type declared struct {
	File
	layouts map[string]*Format
	codes   map[string]string // of the sentences
}

var (
	once        sync.Once
	declaration *declared
)

func load() *declared {
	once.Do(func() { declaration = read() })
	return declaration
}

func read() *declared {
	d := &declared{layouts: map[string]*Format{}, codes: map[string]string{}}
	in := json.NewDecoder(bytes.NewReader(spec.Formats))
	in.DisallowUnknownFields()
	if err := in.Decode(&d.File); err != nil {
		panic("layout: formats.json: " + err.Error())
	}
	for _, table := range d.Checks {
		for _, row := range table.Rows {
			if len(row.Codes) > 0 {
				d.codes[row.ID] = row.Codes[0]
			}
		}
	}
	for i := range d.Layouts {
		f := &d.Layouts[i]
		d.layouts[f.Name] = f
		compileAll(f.Items)
	}
	return d
}

func compileAll(items []Item) {
	optional := func(text string) expression {
		if text == "" {
			return nil
		}
		return compile(text)
	}
	for i := range items {
		it := &items[i]
		it.when, it.from, it.is, it.unsaid = optional(it.When), optional(it.From), optional(it.Is), optional(it.Unsaid)
		if it.Each != "end" {
			it.size = optional(it.Bytes + it.Flags + it.Each + it.Within) // it has one of them
		}
		if it.Check != nil {
			it.Check.ok = compile(it.Check.Ok)
		}
		for n := range it.Checks {
			it.Checks[n].ok = compile(it.Checks[n].Ok)
		}
		compileAll(it.Items)
	}
}

// Formats returns what is declared. It must not be changed.
func Formats() *File { return &load().File }

// find returns a layout, which must be there.
func find(name string) *Format {
	f, ok := load().layouts[name]
	if !ok {
		panic("layout: there is no " + name)
	}
	return f
}

// Number is the number of a name in a field of a layout.
func Number(layout, field, name string) (n int64, ok bool) {
	n, ok = namedField(find(layout).Items, field).Names[name]
	return n, ok
}

// Name is the name of a number, or empty.
func Name(layout, field string, n int64) string {
	name, _ := namedField(find(layout).Items, field).named(n).(string)
	return name
}

func namedField(items []Item, name string) *Item {
	for i := range items {
		it := &items[i]
		if it.Name == name && it.Names != nil {
			return it
		}
		if inner := namedField(it.Items, name); inner != nil {
			return inner
		}
	}
	return nil
}
