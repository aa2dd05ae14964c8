package conform

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Schema returns the JSON schema of the requests of an operation.
func (op *Op) Schema() map[string]any {
	var kinds []any
	for _, k := range op.Events {
		s, head := SchemaOf(k.Of), []string{"at"}
		properties := s["properties"].(map[string]any)
		properties["at"] = map[string]any{"type": "integer", "minimum": 0, "maximum": MostTime}
		if k.Name != "" {
			properties["event"] = map[string]any{"const": k.Name}
			head = append(head, "event")
		}
		s["required"] = append(head, s["required"].([]string)...)
		kinds = append(kinds, s)
	}
	return Closed(map[string]any{
		"op": map[string]any{"const": op.Name}, "config": SchemaOf(op.Config),
		"events": map[string]any{"type": "array", "items": map[string]any{"oneOf": kinds}},
	}, "op", "config", "events")
}

// Closed is the schema of an object that has no other members.
func Closed(properties map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// StepsSchema returns the schema of the responses.
func (op *Op) StepsSchema() map[string]any {
	return Closed(map[string]any{
		"ok": map[string]any{"const": true}, "steps": map[string]any{"type": "array", "items": SchemaOf(op.Step)},
	}, "ok", "steps")
}

// union is a type that is written as one of several.
type union interface{ OneOf() []any }

// SchemaOf returns the schema of an object by its declaration.
func SchemaOf(of any) map[string]any {
	if one, is := of.(union); is {
		var all []any
		for _, each := range one.OneOf() {
			all = append(all, SchemaOf(each))
		}
		return map[string]any{"oneOf": all}
	}
	properties, required := map[string]any{}, []string{}
	for _, f := range planOf(reflect.TypeOf(of)) {
		s := f.schema()
		if f.null && !f.omit {
			s = map[string]any{"oneOf": []any{map[string]any{"type": "null"}, s}}
		}
		if properties[f.name] = s; !f.omit {
			required = append(required, f.name)
		}
	}
	return Closed(properties, required...)
}

func (s *shape) schema() map[string]any {
	switch {
	case s.of.Kind() == reflect.Struct:
		return SchemaOf(reflect.Zero(s.of).Interface())
	case s.of.Kind() == reflect.Slice:
		elem := s.elem()
		return map[string]any{"type": "array", "items": elem.schema()}
	case s.of.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case len(s.in) > 0:
		return map[string]any{"enum": s.values()}
	case isNumber(s.of) && s.high == math.MaxInt64:
		return map[string]any{"type": "integer"}
	case isNumber(s.of):
		return map[string]any{"type": "integer", "minimum": s.low, "maximum": s.high}
	case s.pattern != "":
		return map[string]any{"type": "string", "pattern": s.pattern}
	case s.of == isBytes && s.least == s.most:
		return map[string]any{"type": "string", "pattern": fmt.Sprintf("^[0-9a-f]{%d}$", 2*s.least)}
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
