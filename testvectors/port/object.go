package port

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform/formats"
)

// object is a JSON object whose fields are read by their exact names. A field that
// is missing, null, of another type or out of range makes the request a bad one,
// which err keeps; it is shared with the objects inside. Fields that nobody asks
// for are not looked at (PRT-5).
type object struct {
	fields map[string]json.RawMessage
	codecs map[string]formats.Format // that encode and decode
	err    *error
}

func newObject(text []byte) (*object, error) {
	o := &object{codecs: formats.All, err: new(error)}
	if json.Unmarshal(text, &o.fields) != nil || o.fields == nil {
		return nil, errBadRequest
	}
	return o, nil
}

func (o *object) bad() { *o.err = errBadRequest }

// has reports whether there is a field, whatever its value.
func (o *object) has(name string) bool {
	_, ok := o.fields[name]
	return ok
}

// isNull reports whether a field is there and null.
func (o *object) isNull(name string) bool { return string(o.fields[name]) == "null" }

// field reads a field that must be there.
func field[T any](o *object, name string) (v T) {
	var p *T // stays nil for null
	if json.Unmarshal(o.fields[name], &p) != nil || p == nil {
		o.bad()
		return v
	}
	return *p
}

func (o *object) text(name string) string            { return field[string](o, name) }
func (o *object) flag(name string) bool              { return field[bool](o, name) }
func (o *object) list(name string) []json.RawMessage { return field[[]json.RawMessage](o, name) }

// object returns a field that is an object. It is never nil.
func (o *object) object(name string) *object {
	return &object{fields: field[map[string]json.RawMessage](o, name), codecs: o.codecs, err: o.err}
}

// hex returns a field of lower-case hex.
func (o *object) hex(name string) []byte {
	s := o.text(name)
	b, err := hex.DecodeString(s)
	if err != nil || strings.ToLower(s) != s {
		o.bad()
	}
	return b
}

// number returns a field that is a plain integer. One that no int64 holds is the
// largest or the smallest.
func (o *object) number(name string) int64 {
	v, err := integer(o.fields[name])
	if err != nil {
		o.bad()
	}
	return v
}

// within returns a number that must lie between two others.
func (o *object) within(name string, low, high int64) int64 {
	v := o.number(name)
	if v < low || v > high {
		o.bad()
	}
	return v
}

// small is within for what an int holds everywhere.
func (o *object) small(name string, low, high int32) int {
	return int(o.within(name, int64(low), int64(high)))
}

// isInteger reports whether a JSON value is an integer, of any size.
func isInteger(raw json.RawMessage) bool {
	_, err := integer(raw)
	return err == nil
}

func integer(raw json.RawMessage) (int64, error) {
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errBadRequest
	}
	return v, nil // out of range it is the nearest
}

func pointerTo[T any](v T) *T { return &v }
