package layout

import (
	"cmp"
	"strconv"
)

// walk goes along a layout in one direction. A decoder's bytes are in; an encoder's grow.
type walk struct {
	format     *Format
	parameters Parameters
	decoding   bool

	bytes []byte
	at    int // the next bit
	end   int // a decoder's: where the bits end
	late  []func()
	saw   func(Part)
	first *Fault // the fault of a number behind which Trace goes on

	dry    bool    // an encoder that writes nothing
	holds  bool    // one that looks whether numbers fit all the same
	values visitor // an encoder that makes no checks shows it each value
}

// visitor sees the values of a layout in their order, and the elements of lists around theirs.
type visitor interface {
	value(it *Item, s *scope, c *context)
	enter(it *Item, e *scope)
	leave(it *Item)
}

// whole is all bytes, for a function of them.
func (w *walk) whole() []byte { return w.bytes }

// left is how many bits are left to a decoder.
func (w *walk) left() int { return w.end - w.at }

// nowhere is the place of a fault that lies in no field.
const nowhere = "none"

// fault is a refusal at a place in bits.
func (w *walk) fault(code, check string, bit int) *Fault {
	if w.format.Unit == "bytes" {
		bit /= 8
	}
	return &Fault{code, check, bit}
}

// truncated is the refusal of what is not whole.
func (w *walk) truncated(it *Item, c *context) *Fault {
	at := w.at
	if w.format.Short == "end" {
		at = w.end
	}
	id := it.Whole
	if id == "" {
		id = c.whole
	}
	return w.fault("truncated", id, at)
}

// check makes a check at a field.
func (w *walk) check(k *Check, s *scope, at int) *Fault {
	if w.values != nil || k.By == "decoder" && !w.decoding || k.By == "encoder" && w.decoding || truth(k.ok(s)) {
		return nil
	}
	code := k.Code
	if code == "" {
		code = load().codes[k.ID]
	}
	switch n, err := strconv.Atoi(k.At); {
	case k.At == nowhere:
		return &Fault{code, k.ID, -1}
	case k.At == "here":
		at = w.at
	case k.At == "end":
		at = w.end
	case err == nil:
		return &Fault{code, k.ID, n}
	case k.At != "" && k.At[0] < 'a':
		return &Fault{code, k.ID, int(s.parameter(k.At))}
	case k.At != "":
		at, _ = s.place(k.At)
	}
	return w.fault(code, k.ID, at)
}

// context is what a layout says for the items in it.
type context struct {
	whole    string
	sentence string
	exact    bool
}

func (w *walk) items(list []Item, s *scope, c *context) *Fault {
	for i := range list {
		it := &list[i]
		if it.when != nil && !truth(it.when(s)) {
			if it.Else != nil {
				s.local[it.Name] = *it.Else
			}
			continue
		}
		if err := w.item(it, s, c); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) item(it *Item, s *scope, c *context) *Fault {
	at := w.at
	switch {
	case it.Check != nil:
		return w.check(it.Check, s, w.at)
	case it.Let != "":
		s.local[it.Let] = it.is(s)
		return nil
	case it.Value != "":
		if w.decoding {
			s.values[it.Value] = it.is(s)
			if w.saw != nil {
				w.saw(Part{Item: it, Name: it.Value, At: w.at, Value: s.values[it.Value]})
			}
		} else if w.values != nil {
			w.values.value(it, s, c)
		}
		return nil
	case it.Use != "":
		return w.use(it, s, c)
	case it.Each != "":
		return w.each(it, s, c)
	}
	if it.Name != "" {
		s.places[it.Name] = at
	}
	if w.decoding {
		if err := w.read(it, s, c); err != nil {
			return err
		}
	} else if err := w.given(it, s, c); err != nil {
		return err
	}
	for n := range it.Checks {
		if err := w.check(&it.Checks[n], s, at); err != nil {
			if w.saw == nil || !it.Late {
				return err
			}
			w.first = err
		}
	}
	if !w.decoding && !w.dry {
		w.write(it, s)
	}
	return nil
}

// use walks along another layout.
func (w *walk) use(it *Item, s *scope, c *context) *Fault {
	f, end := find(it.Use), w.end
	inner := &context{c.whole, cmp.Or(f.Sentence, c.sentence), c.exact || f.Exact}
	if f.Whole != "" {
		inner.whole = f.Whole
	}
	if it.Within != "" && w.decoding {
		size := 8 * int(number(it.size(s)))
		if w.left() < size {
			return w.truncated(it, c)
		}
		w.end = w.at + size
	}
	at := w.at
	w.begin(it, s)
	err := w.items(f.Items, s, inner)
	if err == nil || it.Within == "" {
		w.finish(it)
		w.end = end
		return err
	}
	if w.decoding {
		err.Check = it.As
		return err
	}
	return w.fault("invalid_field", it.Refused, at)
}

// each walks along a list.
func (w *walk) each(it *Item, s *scope, c *context) *Fault {
	if w.values != nil && it.Name != "" {
		w.values.value(it, s, c)
	}
	given := listOf(s.values[it.Name])
	n := int64(len(given))
	switch {
	case it.size != nil && (w.decoding || it.Name == ""):
		n = number(it.size(s))
	case w.decoding:
		n = 1 << 62
	}
	list := []Values{}
	var before *scope
	for i := int64(0); i < n && (it.size != nil || !w.decoding || w.left() > 0); i++ {
		e := newScope(w, Values{}, s)
		if !w.decoding && it.Name != "" {
			e.values = given[i]
		}
		e.isElement, e.index, e.before, e.isLast = true, i, before, i == n-1
		w.begin(it, e)
		err := w.items(it.Items, e, c)
		w.finish(it)
		list, before = append(list, e.values), e
		if err != nil {
			return err
		}
	}
	if w.decoding && it.Name != "" {
		s.values[it.Name] = list
	}
	return nil
}
