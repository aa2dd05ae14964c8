package conform

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var (
	// ErrBadRequest is a field that is missing, of another type or out of its range (PRT-3).
	ErrBadRequest = errors.New("bad_request")
	// ErrUnsupported is an event that the operation does not have.
	ErrUnsupported = errors.New("unsupported")
)

// MostTime is the latest time of an event.
const MostTime = 1<<62 - 1

// Object are the fields of a JSON object by their exact names; those that nobody asks for are
// not looked at (PRT-5).
type Object = map[string]json.RawMessage

// Trace is a request of an operation.
type Trace struct {
	Config any
	Events []Timed
	Unread error // why the events end early
}

// Read reads a request, up to the first event that is bad (TRC-6).
func (op *Op) Read(request Object) (t Trace, err error) {
	config, err := object(request["config"])
	if err != nil {
		return t, err
	}
	if t.Config, err = readStruct(reflect.TypeOf(op.Config), config); err != nil {
		return t, err
	}
	var list []json.RawMessage
	if json.Unmarshal(request["events"], &list) != nil || list == nil {
		return t, ErrBadRequest
	}
	for _, raw := range list {
		var e Timed
		if e, t.Unread = op.readEvent(t.Config, raw); t.Unread != nil {
			break
		}
		t.Events = append(t.Events, e)
	}
	return t, nil
}

func object(raw json.RawMessage) (o Object, err error) {
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return nil, ErrBadRequest
	}
	return o, nil
}

// readEvent reads an event. What it is decides before its other fields are read.
func (op *Op) readEvent(config any, raw json.RawMessage) (t Timed, err error) {
	o, err := object(raw)
	if err != nil {
		return t, err
	}
	var name string
	if op.Events[0].Name != "" {
		if name, err = readText(o["event"]); err != nil {
			return t, err
		}
	}
	i := slices.IndexFunc(op.Events, func(k Kind) bool { return k.Name == name && (k.If == nil || k.If(config)) })
	if i < 0 {
		return t, ErrUnsupported
	}
	if t.Event, err = readStruct(reflect.TypeOf(op.Events[i].Of), o); err != nil {
		return t, err
	}
	if t.At, err = integer(o["at"]); t.At < 0 || t.At > MostTime {
		err = ErrBadRequest
	}
	return t, err
}

func readStruct(t reflect.Type, o Object) (any, error) {
	v := reflect.New(t).Elem()
	for _, f := range planOf(t) {
		raw, is := o[f.name]
		if !is && f.omit {
			continue
		}
		if err := f.read(raw, v.FieldByIndex(f.index), f.omit); err != nil {
			return nil, err
		}
	}
	return v.Interface(), nil
}

// read reads a value. One that may be absent may not be null.
func (s *shape) read(raw json.RawMessage, to reflect.Value, omit bool) error {
	if s.null && !omit && string(raw) == "null" {
		return nil
	}
	to = s.inner(to)
	switch {
	case reflect.PointerTo(s.of).Implements(isUnmarshaler): // a union
		if json.Unmarshal(raw, to.Addr().Interface()) != nil {
			return ErrBadRequest
		}
		return nil
	case isNumber(s.of):
		n, err := integer(raw)
		if err != nil || n < s.low || n > s.high || len(s.in) > 0 && !slices.Contains(s.in, strconv.FormatInt(n, 10)) {
			return ErrBadRequest
		}
		setNumber(to, n)
		return nil
	case s.of.Kind() == reflect.Bool:
		if text := string(raw); text != "true" && text != "false" {
			return ErrBadRequest
		}
		to.SetBool(string(raw) == "true")
		return nil
	case s.of.Kind() == reflect.Struct:
		o, err := object(raw)
		if err != nil {
			return err
		}
		inner, err := readStruct(s.of, o)
		if err == nil {
			to.Set(reflect.ValueOf(inner))
		}
		return err
	case s.of.Kind() == reflect.Slice:
		return s.readList(raw, to)
	}
	return s.readString(raw, to)
}

var isUnmarshaler = reflect.TypeFor[json.Unmarshaler]()

// Decode reads an object by the declaration of what it is read into.
func Decode(raw json.RawMessage, into any) error {
	o, err := object(raw)
	if err != nil {
		return err
	}
	return ReadObject(o, into)
}

// ReadObject is Decode of an object whose fields are known.
func ReadObject(o Object, into any) error {
	v := reflect.ValueOf(into).Elem()
	read, err := readStruct(v.Type(), o)
	if err == nil {
		v.Set(reflect.ValueOf(read))
	}
	return err
}

func (s *shape) readList(raw json.RawMessage, to reflect.Value) error {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil || len(list) < s.least || len(list) > s.most {
		return ErrBadRequest
	}
	to.Set(reflect.MakeSlice(s.of, len(list), len(list)))
	elem := s.elem()
	for i, raw := range list {
		if err := elem.read(raw, to.Index(i), false); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) readString(raw json.RawMessage, to reflect.Value) error {
	text, err := readText(raw)
	if err == nil && s.of == isBytes {
		text, err = readHex(text)
	}
	if err != nil || len(text) < s.least || len(text) > s.most || len(s.in) > 0 && !slices.Contains(s.in, text) {
		return ErrBadRequest
	}
	to.SetString(text)
	return nil
}

func readText(raw json.RawMessage) (string, error) {
	var text *string // stays nil for null
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return "", ErrBadRequest
	}
	return *text, nil
}

func readHex(text string) (string, error) {
	b, err := hex.DecodeString(text)
	if err != nil || strings.ToLower(text) != text {
		return "", ErrBadRequest
	}
	return string(b), nil
}

// integer reads a plain integer; one that no int64 holds is the nearest.
func integer(raw json.RawMessage) (int64, error) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, ErrBadRequest
	}
	return n, nil
}

// Run takes a machine through a trace.
func Run(m Machine, events []Timed) (steps []Step, err error) {
	steps = []Step{}
	for _, e := range events {
		s := m.Do(e.At, e.Event)
		if s == nil {
			return nil, ErrBadRequest
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// Answer answers a request by a machine, as a port does: the events before one that cannot
// be read are run.
func (op *Op) Answer(request Object, machine func(config any) (Machine, error)) (steps []Step, err error) {
	t, err := op.Read(request)
	if err != nil {
		return nil, err
	}
	m, err := machine(t.Config)
	if err != nil {
		return nil, ErrBadRequest
	}
	if steps, err = Run(m, t.Events); err == nil {
		err = t.Unread
	}
	return steps, err
}

// Request writes a request.
func (op *Op) Request(config any, events []Timed) json.RawMessage {
	list := []json.RawMessage{}
	for _, e := range events {
		list = append(list, op.writeEvent(e))
	}
	return marshal(struct {
		Op     string            `json:"op"`
		Config any               `json:"config"`
		Events []json.RawMessage `json:"events"`
	}{op.Name, config, list})
}

func (op *Op) writeEvent(e Timed) json.RawMessage {
	head := fmt.Appendf(nil, `{"at":%d`, e.At)
	if name := op.Events[op.kind(e.Event)].Name; name != "" {
		head = fmt.Appendf(head, `,"event":%q`, name)
	}
	rest := marshal(e.Event)[1:]
	if len(rest) > 1 {
		head = append(head, ',')
	}
	return append(head, rest...)
}

// Steps is the response to a trace, without its id.
type Steps struct {
	OK    bool   `json:"ok"`
	Steps []Step `json:"steps"`
}

// Response writes the response to a trace.
func Response(steps []Step) json.RawMessage { return marshal(Steps{true, steps}) }

func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // declarations are of strings and numbers
	}
	return b
}
