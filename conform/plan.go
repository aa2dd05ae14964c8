package conform

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
)

// shape is what the declaration says of a value.
type shape struct {
	of        reflect.Type // without Opt
	null      bool         // an Opt
	low, high int64        // of a number
	in        []string
	least     int // size of bytes, text or a list
	most      int
	pattern   string
	unit      string
}

// field is a field of a declaration.
type field struct {
	shape
	name   string
	index  []int
	omit   bool // it may be absent
	preset string
}

var (
	isBytes    = reflect.TypeFor[Bytes]()
	isOptional = reflect.TypeFor[interface{ optional() }]()
	plans      sync.Map // of []field, by type
)

// planOf returns the fields of a struct in their order, those of embedded ones among them.
func planOf(t reflect.Type) []field {
	if plan, ok := plans.Load(t); ok {
		return plan.([]field)
	}
	var plan []field
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			plan = append(plan, newField(t, f))
		}
	}
	plans.Store(t, plan)
	return plan
}

func newField(t reflect.Type, f reflect.StructField) field {
	name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
	made := field{shape: newShape(f.Type), name: name, index: f.Index, omit: rest != "", preset: f.Tag.Get("default")}
	made.in, made.pattern, made.unit = strings.Fields(f.Tag.Get("in")), f.Tag.Get("pattern"), f.Tag.Get("unit")
	for tag, to := range map[string][]any{"range": {&made.low, &made.high}, "size": {&made.least, &made.most}} {
		if text := f.Tag.Get(tag); text != "" {
			if _, err := fmt.Sscan(text, to...); err != nil {
				panic(fmt.Sprintf("conform: %s of %s.%s: %v", tag, t, name, err))
			}
		}
	}
	return made
}

// newShape is what a type says of its values.
func newShape(t reflect.Type) shape {
	s := shape{of: t, most: math.MaxUint16}
	if s.null = t.Implements(isOptional); s.null {
		s.of = t.Field(1).Type
	}
	switch bits := 0; s.of.Kind() {
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		bits = s.of.Bits()
		s.low, s.high = -1<<(bits-1), 1<<(bits-1)-1
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		bits = s.of.Bits()
		s.high = 1<<bits - 1
	}
	return s
}

// elem is the shape of what a list has.
func (s *shape) elem() shape {
	e := newShape(s.of.Elem())
	if e.in = s.in; s.low < s.high {
		e.low, e.high = s.low, s.high
	}
	e.pattern = s.pattern
	return e
}

// inner returns the value in which a shape is, without Opt, which it sets.
func (s *shape) inner(v reflect.Value) reflect.Value {
	if !s.null {
		return v
	}
	v.Field(0).SetBool(true)
	return v.Field(1)
}

func isNumber(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return true
	}
	return false
}

// number and setNumber are of values of any type of numbers.
func number(v reflect.Value) int64 {
	if v.CanInt() {
		return v.Int()
	}
	return int64(v.Uint())
}

func setNumber(v reflect.Value, n int64) {
	if v.CanInt() {
		v.SetInt(n)
	} else {
		v.SetUint(uint64(n))
	}
}
