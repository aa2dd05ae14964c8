package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/spec"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// schemaName is the schema of the files, beside their folder.
const schemaName = "../schema.json"

// frame is what no declaration says: the members of the files, of a vector, and of a refusal.
//
//go:embed frame.json
var frame []byte

// schemaFile is the schema in the order in which it is written.
type schemaFile struct {
	Schema  string          `json:"$schema"`
	ID      string          `json:"$id"`
	Title   string          `json:"title"`
	Comment string          `json:"$comment"`
	OneOf   json.RawMessage `json:"oneOf"`
	Defs    map[string]any  `json:"$defs"`
}

// answering are those that give a code which is the answer to a request; others stand in steps.
var answering = regexp.MustCompile("decoder|encoder|opening|port")

// schema returns the schema, with a definition a line: the frame, the levels, the codes of the documents, and the
// requests and responses by the declarations of the operations.
func schema() ([]byte, error) {
	var s schemaFile
	if err := json.Unmarshal(frame, &s); err != nil {
		return nil, err
	}
	levels, err := testvectors.Levels()
	if err != nil {
		return nil, err
	}
	kinds, codes := []string{}, []string{}
	for _, l := range levels {
		kinds = append(kinds, string(l.Name))
	}
	for _, d := range spec.Documents() {
		for _, c := range d.Codes {
			if answering.MatchString(c.From) {
				codes = append(codes, c.Code)
			}
		}
	}
	slices.Sort(codes)
	s.Defs["level"], s.Defs["code"] = enum(kinds), enum(slices.Compact(codes))
	s.exchanges()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(s.Defs)) {
		text, err := compact(s.Defs[name])
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("    %q: %s", name, text))
	}
	text, err := object(s, "", "{\n"+strings.Join(lines, ",\n")+"\n  }")
	return []byte(text + "\n"), err
}

func enum(of []string) any { return map[string]any{"enum": of} }

// exchanges defines the requests, each with its responses.
func (s *schemaFile) exchanges() {
	var ops []string
	var all []any
	for _, op := range port.Schemas() {
		s.Defs[op.Op], s.Defs[op.Op+"_answer"] = op.Request, op.Response
		ops = append(ops, op.Op)
		all = append(all, json.RawMessage(strings.ReplaceAll(`{"if": {"properties": {"request": {"properties": {"op": {"const": "OP"}}}}},`+
			`"then": {"properties": {"request": {"$ref": "#/$defs/OP"}, "response": {"anyOf": [{"$ref": "#/$defs/refused"}, {"$ref": "#/$defs/OP_answer"}]}}}}`, "OP", op.Op)))
	}
	s.Defs["op"] = enum(ops)
	s.Defs["exchange"] = map[string]any{"allOf": all}
}
