// Package conform has one interface for every machine under test, and what follows from the
// declaration of its operation: JSON, an encoding for fuzzers, scripts and the schema. It knows no
// protocol.
package conform

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
)

// Event is an event of a machine: a value of one of the types that its operation declares.
type Event any

// Step is what a machine did at an event: a value of the type that its operation declares. It
// is nil for an event that the contract does not have, such as a record that does not decode.
type Step any

// Machine is a machine under test: a product, or an oracle.
type Machine interface {
	Do(at int64, e Event) Step
}

// Oracle is a machine that those who make events can look at.
type Oracle interface {
	Machine
	Look() Look
}

// Look is what an oracle shows to those who make events.
type Look struct {
	Deadline Opt[int64]
	Near     [6]int64 // numbers that events are near

	// What events choose from: of a sender of named slices, which were sent and which are acked.
	Sets [2][]bool

	// Of an end of a Talk: the datagrams that the other end sent, and that this one did.
	Came, Went []Bytes
}

// Inside is a machine that shows more than its steps, such as what it counted. What both
// sides show must be the same; the contract does not have it.
type Inside interface{ Inside() any }

// Rower is an oracle that says which rows its latest event took, where the contract does not.
type Rower interface{ Took() []string }

// Op is the declaration of an operation of the contract. Of Config, Events and Step the
// types matter: their fields have tags.
//
//	json     the name; with omitempty or omitzero it may be absent
//	range    the least and the largest value of a number
//	in       the values of a number, or of text
//	size     the least and the largest size of bytes, text or a list
//	pattern  what text must match; for the schema only
//	default  what a script need not say
//	unit     us, if it is a time
//	doc      what it means, for those who read it
type Op struct {
	Name, Doc string
	Config    any // and what scripts begin with
	Events    []Kind
	Step      any
	Words     Dialect

	// Product and Oracle return new machines. The oracle's is an Oracle.
	Product, Oracle func(config any) (Machine, error)
}

// Kind is a kind of events. Its name may be empty if it is the only one.
type Kind struct {
	Name string
	Of   Event
	Doc  string
	If   func(config any) bool // nil: with every configuration
}

// kind returns the kind of an event.
func (op *Op) kind(e Event) int {
	for i := range op.Events {
		if reflect.TypeOf(op.Events[i].Of) == reflect.TypeOf(e) {
			return i
		}
	}
	panic(fmt.Sprintf("conform: %s has no event %T", op.Name, e))
}

// Bytes are lower-case hex in JSON. They are a string, so that == compares steps.
type Bytes string

// MarshalJSON writes hex.
func (b Bytes) MarshalJSON() ([]byte, error) { return json.Marshal(hex.EncodeToString([]byte(b))) }

// Opt is a value or null; in a field that may be absent, a value or none.
type Opt[V any] struct {
	Is bool
	V  V
}

// Some returns a value that is there.
func Some[V any](v V) Opt[V] { return Opt[V]{true, v} }

// If returns a value that is there if ok is set, and else null.
func If[V any](v V, ok bool) (o Opt[V]) {
	if ok {
		return Some(v)
	}
	return o
}

// MarshalJSON writes the value or null.
func (o Opt[V]) MarshalJSON() ([]byte, error) {
	if !o.Is {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}

// optional is what shows that a type is an Opt.
func (Opt[V]) optional() {}

// Refused is why something that came, or that the application gave, was refused.
type Refused struct {
	Error string `json:"error" pattern:"^[a-z_]+$"`
	At    int    `json:"at" range:"-1 65535" doc:"the first byte of the field at fault; -1 for none"`
}

// NotBefore is a deadline as steps have it: one that has passed is the latest time.
func NotBefore(latest, at int64, some bool) Opt[int64] { return If(max(latest, at), some) }

// Timed is an event and its time.
type Timed struct {
	At    int64
	Event Event
}
