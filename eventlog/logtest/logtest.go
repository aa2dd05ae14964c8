// Package logtest checks event logs in tests.
package logtest

import (
	"bytes"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/chunkwire/chunkwire/eventlog"
)

// T is what is used of a test.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

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
func Read(t T, file []byte) eventlog.File {
	t.Helper()
	f, err := eventlog.Read(bytes.NewReader(file))
	if err != nil || f.Unknown > 0 {
		t.Fatalf("read: %v, %d events are unknown", err, f.Unknown)
	}
	for i, record := range Records(file)[1:] {
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

// Records returns the text of each record.
func Records(file []byte) []string {
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
