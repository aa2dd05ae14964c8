package conform

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
)

// This file makes configurations and events, each field in its declared range. They come
// from a Source: the bytes of a fuzzer, which all mean something, or what a property test
// draws. Times are told from the event before, or from the deadline, and machines may tell
// numbers from where the oracle stands: so a mutated prefix does not take the meaning from
// what follows. Encode is the exact inverse for bytes.

// Source is where events come from.
type Source interface {
	More() bool                     // whether there is another event
	Number(least, most int64) int64 // both included
	Bytes(most int) []byte          // which may be kept
}

// Packed is an event with an encoding of its own: bytes that mean something, or numbers that
// are near the oracle's.
type Packed interface {
	Pack(out []byte, config any, look Look) []byte
	Unpack(in Source, config any, look Look) Event
}

// Fitted is a configuration whose fields must fit to each other. Fit changes those that do not.
type Fitted interface{ Fit() any }

// Input is a source of bytes. When they are used up all further ones are 0.
type Input struct{ Left []byte }

// More reports whether there are more.
func (in *Input) More() bool { return len(in.Left) > 0 }

// Number reads a number in as many bytes as its range needs.
func (in *Input) Number(least, most int64) int64 {
	var b [8]byte
	span, size := spanOf(least, most)
	copy(b[:size], in.take(size))
	n := binary.LittleEndian.Uint64(b[:])
	if span+1 != 0 {
		n %= span + 1
	}
	return int64(uint64(least) + n)
}

// Bytes reads a size in two bytes, and so many bytes.
func (in *Input) Bytes(most int) []byte {
	return in.take(int(in.Number(0, int64(min(most, 1<<16-1)))))
}

// take returns the next n bytes, or what there is.
func (in *Input) take(n int) []byte {
	n = min(n, len(in.Left))
	b := in.Left[:n:n]
	in.Left = in.Left[n:]
	return b
}

// spanOf is how many values a range has, less one, and in how many bytes they go.
func spanOf(least, most int64) (span uint64, size int) {
	span = uint64(most) - uint64(least)
	return span, max(1, (bits.Len64(span)+7)/8)
}

// AppendNumber is the inverse of Input.Number.
func AppendNumber(out []byte, least, most, n int64) []byte {
	_, size := spanOf(least, most)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n)-uint64(least))
	return append(out, b[:size]...)
}

// AppendBytes is the inverse of Input.Bytes.
func AppendBytes(out []byte, most int, b []byte) []byte {
	return append(AppendNumber(out, 0, int64(min(most, 1<<16-1)), int64(len(b))), b...)
}

// Near reads a number that is mostly near another.
func Near(in Source, to, least, most int64) int64 {
	if v := in.Number(0, 255); v < 255 {
		return min(max(to+v-nearBelow, least), most)
	}
	return in.Number(least, most)
}

// nearBelow is how far below a number the nearest begin.
const nearBelow = 64

// AppendNear is the inverse of Near.
func AppendNear(out []byte, to, least, most, n int64) []byte {
	if v := n - to + nearBelow; v >= 0 && v < 255 {
		return AppendNumber(out, 0, 255, v)
	}
	return AppendNumber(AppendNumber(out, 0, 255, 255), least, most, n)
}

// Data is told by its size, and its first byte if the others follow from it, as in traces.
const byBytes = 0x8000

func ramp(first byte, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(1 + (i+31*(i/256)+int(first)+254)%255)
	}
	return b
}

// AppendData is the inverse of ReadData for data whose size fits.
func AppendData(out, data []byte) []byte {
	if len(data) > 0 && string(ramp(data[0], len(data))) == string(data) {
		return append(AppendNumber(out, 0, 0xffff, int64(len(data))), data[0])
	}
	return AppendBytes(AppendNumber(out, 0, 0xffff, byBytes), byBytes, data)
}

// ReadData makes data of a size that fit makes of any.
func ReadData(in Source, fit func(int) int) []byte {
	n := int(in.Number(0, 0xffff))
	if n&byBytes == 0 {
		return ramp(byte(in.Number(0, 255)), fit(n))
	}
	b := in.Bytes(byBytes)
	size := fit(len(b))
	return append(b[:min(len(b), size):min(len(b), size)], ramp(1, max(0, size-len(b)))...)
}

// AsDeclared makes an event by its declaration alone: each field from its whole range.
func AsDeclared[E any](in Source) E { return unpackStruct(reflect.TypeFor[E](), in).Interface().(E) }

// AppendDeclared is the inverse of AsDeclared.
func AppendDeclared(out []byte, event any) []byte { return packStruct(out, reflect.ValueOf(event)) }

func unpackStruct(t reflect.Type, in Source) reflect.Value {
	v := reflect.New(t).Elem()
	for _, f := range planOf(t) {
		if f.isThere(func() int64 { return in.Number(0, 1) }) {
			f.unpack(v.FieldByIndex(f.index), in)
		}
	}
	return v
}

// isThere asks whether a field is there that may be absent: an Opt says so itself.
func (f *field) isThere(ask func() int64) bool { return f.null || !f.omit || ask() == 1 }

// mostListed is how many values a list gets at most.
const mostListed = 255

func (s *shape) unpack(to reflect.Value, in Source) {
	if s.null && in.Number(0, 1) == 0 {
		return
	}
	switch to = s.inner(to); {
	case len(s.in) > 0:
		s.set(to, s.in[in.Number(0, int64(len(s.in)-1))])
	case isNumber(s.of):
		setNumber(to, in.Number(s.low, s.high))
	case s.of.Kind() == reflect.Bool:
		to.SetBool(in.Number(0, 1) == 1)
	case s.of.Kind() == reflect.Struct:
		to.Set(unpackStruct(s.of, in))
	case s.of.Kind() == reflect.Slice:
		n, elem := int(in.Number(int64(s.least), int64(min(s.most, mostListed)))), s.elem()
		to.Set(reflect.MakeSlice(s.of, n, n))
		for i := range n {
			elem.unpack(to.Index(i), in)
		}
	default:
		b := in.Bytes(s.most)
		to.SetString(string(append(b, make([]byte, max(0, s.least-len(b)))...)))
	}
}

// set sets one of the values that a field may have.
func (s *shape) set(to reflect.Value, value string) {
	if to.Kind() == reflect.String {
		to.SetString(value)
		return
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("conform: %q is no number", value)) // of a declaration
	}
	setNumber(to, n)
}

func packStruct(out []byte, v reflect.Value) []byte {
	for _, f := range planOf(v.Type()) {
		from := v.FieldByIndex(f.index)
		is := f.isThere(func() int64 {
			there := bit(!from.IsZero())
			out = AppendNumber(out, 0, 1, there)
			return there
		})
		if is {
			out = f.pack(out, from)
		}
	}
	return out
}

func (s *shape) pack(out []byte, from reflect.Value) []byte {
	if s.null {
		if !from.Field(0).Bool() {
			return AppendNumber(out, 0, 1, 0)
		}
		out, from = AppendNumber(out, 0, 1, 1), from.Field(1)
	}
	switch {
	case len(s.in) > 0:
		return AppendNumber(out, 0, int64(len(s.in)-1), int64(max(0, slices.Index(s.in, fmt.Sprint(from.Interface())))))
	case isNumber(s.of):
		return AppendNumber(out, s.low, s.high, number(from))
	case s.of.Kind() == reflect.Bool:
		return AppendNumber(out, 0, 1, bit(from.Bool()))
	case s.of.Kind() == reflect.Struct:
		return packStruct(out, from)
	case s.of.Kind() == reflect.Slice:
		n, elem := min(from.Len(), s.most, mostListed), s.elem()
		out = AppendNumber(out, int64(s.least), int64(min(s.most, mostListed)), int64(n))
		for i := range n {
			out = elem.pack(out, from.Index(i))
		}
		return out
	}
	return AppendBytes(out, s.most, []byte(from.String()))
}

func bit(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// How the time of an event is told. Its kind goes into the same number.
const (
	sameTime = iota
	atDeadline
	beforeDeadline
	laterMs
	later
	earlier
	laterLittle
	laterMuch
	again // the event before, so often
	howMany
)

const (
	mostAgain  = 1 << 8
	mostMs     = 1<<8 - 1
	mostLittle = 1<<16 - 1
	mostLater  = 1<<32 - 1
)

// tell tells a time from the one before.
func tell(now, at int64, look Look) (how, least, most, n int64) {
	switch d := at - now; {
	case d == 0:
		return sameTime, 0, 0, 0
	case d > 0 && look.Deadline == Some(at):
		return atDeadline, 0, 0, 0
	case d > 0 && look.Deadline == Some(at+1):
		return beforeDeadline, 0, 0, 0
	case d > 0 && d%1000 == 0 && d/1000 <= mostMs:
		return laterMs, 0, mostMs, d / 1000
	case d > 0 && d <= mostLittle:
		return laterLittle, 0, mostLittle, d
	case d > 0 && d <= mostLater:
		return later, 0, mostLater, d
	case d < 0 && -d <= mostLater:
		return earlier, 0, mostLater, -d
	default:
		return laterMuch, -MostTime, MostTime, d
	}
}

// told is the inverse of tell.
func told(in Source, how, now int64, look Look) int64 {
	switch how {
	case atDeadline, beforeDeadline:
		if look.Deadline.Is {
			now = max(now, look.Deadline.V-(how-atDeadline))
		}
	case laterMs:
		now += 1000 * in.Number(0, mostMs)
	case later:
		now += in.Number(0, mostLater)
	case earlier:
		now -= in.Number(0, mostLater)
	case laterLittle:
		now += in.Number(0, mostLittle)
	case laterMuch:
		now += in.Number(-MostTime, MostTime)
	}
	return min(max(now, 0), MostTime) // a sum of two below 2^62 does not wrap
}

// Encode encodes a trace for Input. The oracle is taken through it.
func (op *Op) Encode(config any, events []Timed, oracle Oracle) []byte {
	out := packStruct(nil, reflect.ValueOf(config))
	now, repeated := int64(0), 0
	for i, e := range events {
		if repeated--; repeated >= 0 {
			oracle.Do(e.At, e.Event)
			continue
		}
		out = op.append(out, now, e, config, oracle.Look())
		now = e.At
		oracle.Do(e.At, e.Event)
		if repeated = runOf(events[i:]); repeated > 0 {
			out = AppendNumber(AppendNumber(out, 0, op.heads(), again), 1, mostAgain, int64(repeated))
		}
	}
	return out
}

// runOf returns how often the first event comes again at once.
func runOf(events []Timed) (n int) {
	for n < mostAgain && n+1 < len(events) && same(events[n+1], events[0]) {
		n++
	}
	return n
}

// append encodes an event.
func (op *Op) append(out []byte, now int64, e Timed, config any, look Look) []byte {
	how, least, most, n := tell(now, e.At, look)
	out = AppendNumber(out, 0, op.heads(), int64(op.kind(e.Event))*howMany+how)
	if most > least {
		out = AppendNumber(out, least, most, n)
	}
	if p, is := e.Event.(Packed); is {
		return p.Pack(out, config, look)
	}
	return packStruct(out, reflect.ValueOf(e.Event))
}

// heads is the largest number that says what an event is, and how its time is told.
func (op *Op) heads() int64 { return int64(len(op.Events))*howMany - 1 }

// Configure makes a configuration.
func (op *Op) Configure(in Source) any {
	config := unpackStruct(reflect.TypeOf(op.Config), in).Interface()
	if f, is := config.(Fitted); is {
		return f.Fit()
	}
	return config
}

// Play makes events one by one, as the oracle stands then, and ends after so many.
func (op *Op) Play(in Source, config any, oracle Oracle, most int) iter.Seq2[int64, Event] {
	return func(yield func(int64, Event) bool) {
		now := int64(0)
		var e Event
		for n := 0; n < most && in.More(); {
			head, times := in.Number(0, op.heads()), int64(1)
			if e != nil && head%howMany == again {
				times = in.Number(1, mostAgain)
			} else {
				now, e = op.next(in, head, now, config, oracle.Look())
			}
			for ; times > 0 && n < most; times-- {
				if n++; !yield(now, e) {
					return
				}
			}
		}
	}
}

// next makes an event and its time, whose head was read.
func (op *Op) next(in Source, head, now int64, config any, look Look) (int64, Event) {
	now = told(in, head%howMany, now, look)
	k := op.Events[head/howMany]
	if k.If != nil && !k.If(config) {
		k = op.Events[0]
	}
	return now, makeEvent(in, k.Of, config, look)
}

func makeEvent(in Source, of Event, config any, look Look) Event {
	if p, is := of.(Packed); is {
		return p.Unpack(in, config, look)
	}
	return unpackStruct(reflect.TypeOf(of), in).Interface()
}
