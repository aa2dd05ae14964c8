package layout

import "strings"

// scope is the values that are known at a place of a walk: those of a layout, of an element of a
// list, or of a layout with a name.
type scope struct {
	walk   *walk
	values Values         // what was decoded, or is given to an encoder
	local  map[string]any // what follows from it
	places map[string]int // of the fields, in bits
	up     *scope

	isElement bool
	index     int64
	before    *scope // the element before
	isLast    bool   // an encoder's
}

func newScope(w *walk, values Values, up *scope) *scope {
	return &scope{walk: w, values: values, local: map[string]any{}, places: map[string]int{}, up: up}
}

// element is the scope of the innermost element of a list.
func (s *scope) element() *scope {
	for !s.isElement && s.up != nil {
		s = s.up
	}
	return s
}

// get is the value of a name in an expression.
func (s *scope) get(name string) any {
	if inner, ok := strings.CutPrefix(name, "before."); ok {
		return s.element().before.get(inner)
	}
	if name[0] >= 'A' && name[0] <= 'Z' {
		return s.parameter(name)
	}
	if v, ok := s.find(name); ok {
		return v
	}
	switch name {
	case "nth":
		return s.element().index
	case "is_first":
		return s.element().index == 0
	case "is_last":
		if s.walk.decoding {
			return s.walk.left() == 0
		}
		return s.element().isLast
	case "left":
		return int64(s.walk.left() / 8)
	}
	if s.walk.values != nil {
		return nil // it is not there in JSON, or comes later
	}
	panic("layout: " + s.walk.format.Name + " has no " + name + " where it is used")
}

// find finds a value that is known, from the inside to the outside.
func (s *scope) find(name string) (any, bool) {
	for ; s != nil; s = s.up {
		if v, ok := s.local[name]; ok {
			return v, true
		}
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *scope) parameter(name string) int64 {
	switch v := s.walk.parameters[name].(type) {
	case int64:
		return v
	case Choose:
		return v(func(name string) any { v, _ := s.find(name); return v })
	}
	v, ok := load().Parameters[name]
	if !ok {
		panic("layout: there is no parameter " + name)
	}
	return v
}

// place is where a field begins, in bits.
func (s *scope) place(name string) (at int, ok bool) {
	for ; s != nil; s = s.up {
		if at, ok = s.places[name]; ok {
			return at, true
		}
	}
	return 0, false
}
