package layout

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
)

// This file says in JSON Schema what values of a layout are in JSON.

// schema is a JSON schema, or a part of it.
type schema = map[string]any

// Schema returns the schema of values: of those that a decoder returns, or else of those that an encoder is
// given, which it may have to refuse. Some parameters can have others than some.
func Schema(layout string, decoded bool, parameters ...Parameters) map[string]any {
	o := &outline{decoded: decoded, lists: map[string]*union{}}
	all := unionOf(find(layout).Items)
	for _, p := range parameters {
		for _, kind := range all.kinds {
			v := Values{all.by: kind}
			for n := range int64(3) { // first to see which numbers there are; then they are 0, and others
				o.objects = []schema{object()}
				visit(layout, maps.Clone(v), p, o)
				if n > 0 {
					all.add(o.objects[0])
				}
				for _, name := range o.objects[0]["required"].([]string) {
					v[name] = n
				}
				v[all.by] = kind
			}
		}
	}
	for _, list := range o.lists {
		list.items["items"] = list.schema(decoded)
	}
	return all.schema(decoded)
}

// object is the schema of an object without members, and without others.
func object() schema {
	return schema{"type": "object", "properties": schema{}, "required": []string{}, "additionalProperties": false}
}

func members(object schema) schema { return object["properties"].(schema) }

func require(object schema, name string, member schema) {
	members(object)[name], object["required"] = member, append(object["required"].([]string), name)
}

// union is the objects of several kinds.
type union struct {
	by    string // the member that has the kind; empty if there are none
	kinds []string
	list  []any
	items schema // of the list whose elements they are
}

// ofKind is a condition under which another layout is used.
var ofKind = regexp.MustCompile(`(\w+) !?= '(\w+)'`)

// unionOf returns the kinds of what items have, without the objects.
func unionOf(items []Item) *union {
	u := &union{kinds: []string{""}, items: schema{"type": "array"}}
	u.look(items)
	return u
}

func (u *union) look(items []Item) {
	for _, it := range items {
		if it.Use == "" {
			continue
		}
		for _, m := range ofKind.FindAllStringSubmatch(it.When, -1) {
			if u.by == "" {
				u.by, u.kinds = m[1], nil
			}
			if !slices.Contains(u.kinds, m[2]) {
				u.kinds = append(u.kinds, m[2])
			}
		}
		u.look(find(it.Use).Items)
	}
}

func (u *union) add(object schema) {
	if !slices.ContainsFunc(u.list, func(old any) bool { return reflect.DeepEqual(old, object) }) {
		u.list = append(u.list, object)
	}
}

// schema returns the schema. What an encoder is given may have no kind, and then any of the members.
func (u *union) schema(decoded bool) schema {
	if !decoded && u.by != "" {
		other := object()
		for _, o := range u.list {
			maps.Copy(members(other), members(o.(schema)))
		}
		require(other, u.by, schema{"type": "string", "not": schema{"enum": u.kinds}})
		u.list = append(u.list, other)
	}
	if len(u.list) == 1 {
		return u.list[0].(schema)
	}
	return schema{"oneOf": u.list}
}

// outline is a visitor that notes what members there are.
type outline struct {
	decoded bool
	lists   map[string]*union
	objects []schema // the innermost last
}

func (o *outline) value(it *Item, s *scope, c *context) {
	name, top := it.Name+it.Value, o.objects[len(o.objects)-1]
	switch {
	case it.unsaid != nil:
	case it.Each == "":
		require(top, name, o.member(it, s, c))
	default:
		if o.lists[name] == nil {
			o.lists[name] = unionOf(it.Items)
		}
		require(top, name, o.lists[name].items)
		var elements []Values
		for _, kind := range o.lists[name].kinds {
			elements = append(elements, Values{o.lists[name].by: kind})
		}
		s.values[name] = elements
	}
}

func (o *outline) enter(*Item, *scope) { o.objects = append(o.objects, object()) }

func (o *outline) leave(it *Item) {
	last := len(o.objects) - 1
	element := o.objects[last]
	if it.Row {
		n := len(it.rowNames())
		element = schema{"type": "array", "items": schema{"type": "integer"}, "minItems": n, "maxItems": n}
	}
	o.lists[it.Name].add(element)
	o.objects = o.objects[:last]
}

// member is the schema of a value. An encoder is given any number, unless the layout is exact.
func (o *outline) member(it *Item, s *scope, c *context) schema {
	kind := text(s.values[it.Name+it.Value])
	switch free := !o.decoded && !c.exact; {
	case kind != "":
		return schema{"const": kind}
	case it.Names != nil && o.decoded:
		return schema{"enum": slices.Sorted(maps.Keys(it.Names))}
	case it.Names != nil || it.Text:
		return schema{"type": "string"}
	case it.Bytes != "" && it.Bytes[0] <= '9' && !free:
		return schema{"type": "string", "pattern": fmt.Sprintf("^[0-9a-f]{%d}$", 2*number(it.size(s)))}
	case it.Bytes != "":
		return schema{"type": "string", "pattern": "^([0-9a-f]{2})*$"}
	case it.Flags != "":
		return schema{"type": "string", "pattern": "^[01]*$"}
	case it.Bits == 0 || it.Bits > 62 || free:
		return schema{"type": "integer"}
	}
	return schema{"type": "integer", "minimum": it.Plus, "maximum": it.Plus + 1<<it.Bits - 1}
}
