package port

import (
	"maps"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/layout"
)

// Schema is the JSON schema of a request and of the response that refuses nothing, without the id.
type Schema struct {
	Op                string
	Request, Response any
}

// Schemas returns the schemas of all operations, by their names.
func Schemas() (all []Schema) {
	for _, m := range Machines {
		all = append(all, Schema{m.Name, m.Schema(), m.StepsSchema()})
	}
	for op, p := range packages.Plain {
		all = append(all, Schema{op, object(op, conform.SchemaOf(p.request)), object("", conform.SchemaOf(p.response))})
	}
	for op, c := range codes {
		s := Schema{op, c.request(op), c.response()}
		if c.Layout == "repair-body" {
			f := framed(c)
			s.Request = map[string]any{"oneOf": []any{s.Request, f.request(op)}}
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Schema) int { return strings.Compare(a.Op, b.Op) })
	return all
}

// object is the schema of an object with the members of others: a request, or without an operation a response.
func object(op string, of ...map[string]any) map[string]any {
	head, value := "op", any(op)
	if op == "" {
		head, value = "ok", true
	}
	properties, required := map[string]any{}, []string{head}
	for _, o := range of {
		maps.Copy(properties, o["properties"].(map[string]any))
		required = append(required, slices.DeleteFunc(slices.Clone(o["required"].([]string)), func(name string) bool { return name == head })...)
	}
	properties[head] = map[string]any{"const": value}
	return conform.Closed(properties, required...)
}

func (c *Code) request(op string) any {
	in := conform.SchemaOf(c.in)
	switch {
	case c.Decodes && c.isBody():
		return object(op, in, conform.SchemaOf(body{}), conform.SchemaOf(datagram{}))
	case c.Decodes:
		return object(op, in, conform.SchemaOf(datagram{}))
	}
	return object(op, in, c.member(false))
}

func (c *Code) response() any {
	if c.Decodes {
		return object("", c.member(true))
	}
	return object("", conform.SchemaOf(Encoded{}))
}

// member is the schema of an object that has the values.
func (c *Code) member(decoded bool) map[string]any {
	values := layout.Schema(c.json(), decoded, layout.Parameters{"REPAIR": int64(0)}, layout.Parameters{"REPAIR": int64(1)})
	if c.Member == "" {
		return values
	}
	return map[string]any{"properties": map[string]any{c.Member: values}, "required": []string{c.Member}}
}
