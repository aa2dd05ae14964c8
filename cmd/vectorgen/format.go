package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// format writes a file with one field of a vector a line: short enough to read,
// and a change shows where it is. The encoding/json package writes maps in the
// order of their keys, so the text is the same everywhere.
func format(f testvectors.File) ([]byte, error) {
	var vectors []string
	for _, v := range f.Vectors {
		text, err := object(v, "    ", "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		vectors = append(vectors, "    "+text)
	}
	f.Vectors = nil
	text, err := object(f, "", "[\n"+strings.Join(vectors, ",\n")+"\n  ]")
	return []byte(text + "\n"), err
}

func formatAccumulated(f testvectors.AccumulatedFile) ([]byte, error) {
	var runs []string
	for _, run := range f.Runs {
		text, err := object(run, "    ", "")
		if err != nil {
			return nil, err
		}
		runs = append(runs, "    "+text)
	}
	f.Runs = nil
	text, err := object(f, "", "[\n"+strings.Join(runs, ",\n")+"\n  ]")
	return []byte(text + "\n"), err
}

// object writes a struct with a field a line, and list in place of its last
// field if it is not empty.
func object(v any, indent, list string) (string, error) {
	value := reflect.ValueOf(v)
	var lines []string
	for i := range value.NumField() {
		text, err := compact(value.Field(i).Interface())
		if err != nil {
			return "", err
		}
		if i == value.NumField()-1 && list != "" {
			text = list
		}
		lines = append(lines, fmt.Sprintf("%s  %q: %s", indent, value.Type().Field(i).Tag.Get("json"), text))
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}", nil
}

// compact is JSON on one line, with < and > as they are.
func compact(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
