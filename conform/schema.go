package conform

import (
	"encoding/json"
	"reflect"
	"strconv"
)

// Schema returns the JSON schemas of an operation: of its config, of its events as oneOf, and
// of its steps. Events have their time, and their name if they have one.
func (op *Op) Schema() json.RawMessage {
	var kinds []any
	for _, k := range op.Events {
		s, head := schemaOf(reflect.TypeOf(k.Of)), []string{"at"}
		properties := s["properties"].(map[string]any)
		properties["at"] = map[string]any{"type": "integer", "minimum": 0, "maximum": MostTime}
		if k.Name != "" {
			properties["event"] = map[string]any{"const": k.Name}
			head = append(head, "event")
		}
		s["required"] = append(head, s["required"].([]string)...)
		kinds = append(kinds, s)
	}
	return marshal(map[string]any{
		"config": schemaOf(reflect.TypeOf(op.Config)), "event": map[string]any{"oneOf": kinds}, "step": schemaOf(reflect.TypeOf(op.Step)),
	})
}

func schemaOf(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range planOf(t) {
		s := f.schema()
		if f.null && !f.omit {
			s = map[string]any{"oneOf": []any{map[string]any{"type": "null"}, s}}
		}
		if properties[f.name] = s; !f.omit {
			required = append(required, f.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (s *shape) schema() map[string]any {
	switch {
	case s.of.Kind() == reflect.Struct:
		return schemaOf(s.of)
	case s.of.Kind() == reflect.Slice:
		elem := s.elem()
		return map[string]any{"type": "array", "items": elem.schema()}
	case s.of.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case len(s.in) > 0:
		return map[string]any{"enum": s.values()}
	case isNumber(s.of):
		return map[string]any{"type": "integer", "minimum": s.low, "maximum": s.high}
	case s.pattern != "":
		return map[string]any{"type": "string", "pattern": s.pattern}
	case s.of == isBytes && s.least > 0:
		return map[string]any{"type": "string", "pattern": "^([0-9a-f]{2})+$"}
	case s.of == isBytes:
		return map[string]any{"type": "string", "pattern": "^([0-9a-f]{2})*$"}
	}
	return map[string]any{"type": "string"}
}

// values are those of a field that has a list of them.
func (s *shape) values() (list []any) {
	for _, v := range s.in {
		if !isNumber(s.of) {
			list = append(list, v)
			continue
		}
		n, _ := strconv.ParseInt(v, 10, 64) // set panics if it is none
		list = append(list, n)
	}
	return list
}
