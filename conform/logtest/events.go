package logtest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/eventlog"
)

var schema = sync.OnceValue(func() *jsonschema.Schema {
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(eventlog.Schema))
	if err == nil {
		err = c.AddResource(name, doc)
	}
	if err != nil {
		panic(err)
	}
	return c.MustCompile(name)
})

// Read reads a file, each record of which meets the schema, and no event of which is
// unknown.
func Read(t check.T, file []byte) eventlog.File {
	t.Helper()
	f, err := eventlog.Read(bytes.NewReader(file))
	if err != nil || f.Unknown > 0 {
		t.Fatalf("read: %v, %d events are unknown", err, f.Unknown)
	}
	for i, record := range RecordsOf(file)[1:] {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(record))
		if err == nil {
			err = schema().Validate(doc)
		}
		if err != nil {
			t.Fatalf("record %d: %v\n%s", i+1, err, record)
		}
	}
	return f
}

// RecordsOf returns the text of each record.
func RecordsOf(file []byte) []string {
	text := strings.TrimPrefix(string(file), "\x1e")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n\x1e")
}

// File returns the file of events: what a Writer writes.
func File(h eventlog.Header, events ...eventlog.Event) []byte {
	file := eventlog.AppendHeader(nil, h)
	for i := range events {
		file = eventlog.Append(file, &events[i])
	}
	return file
}

// Text is a log as lines of text, for tests that compare one with what they expect.
type Text struct{ Lines []string }

// Add is the log.
func (t *Text) Add(e eventlog.Event) { t.Lines = append(t.Lines, Line(e)) }

// Without returns the lines but those of some events.
func (t *Text) Without(names ...string) (lines []string) {
	for _, line := range t.Lines {
		named := func(name string) bool { return strings.Contains(line+" ", " "+name+" ") }
		if !slices.ContainsFunc(names, named) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Line returns an event as text: its time, its name, and its members.
func Line(e eventlog.Event) string {
	record := eventlog.Append(nil, &e)
	at, rest, _ := strings.Cut(strings.TrimPrefix(string(record), "\x1e{\"time\":"), ",\"name\":\"chunkwire:")
	name, data, _ := strings.Cut(rest, "\"")
	_, data, _ = strings.Cut(data, "\"data\":{")
	data = strings.NewReplacer(`":`, "=", `,"`, " ", `"`, "").Replace(strings.TrimSuffix(data, "}}\n"))
	where := string(e.End)
	if e.Group > 0 {
		where = fmt.Sprintf("%s %d", where, e.Group)
	}
	return strings.Join(strings.Fields(strings.Join([]string{at, where, name, data}, " ")), " ")
}
