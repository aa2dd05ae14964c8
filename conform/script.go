package conform

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// This file has the one grammar of the scripts of machines. A line is TIMES EVENT ARGUMENTS :
// EXPECTATION, and the first one may be "with KEY=VALUE ...". Times and arguments are read by
// the declaration. What is expected is what print writes: nothing reads it.

// Dialect is what an operation adds to the grammar.
type Dialect struct {
	// Event makes an event of words that the declaration does not explain; or none. The
	// words are those behind the time.
	Event func(w *Words, config any, word string, args []string) Event
	// Say writes an event in the dialect's words, if it can. Whether they mean it is checked.
	Say func(config any, e Event) string
	// Step says what came of a step.
	Step func(config any, s Step) Said
}

// Said is what came of a step, in words.
type Said struct {
	Rows    []string
	Came    []Item
	Figures []string // such as @never: they are written where they change
}

// With adds why something was refused.
func (s Said) With(r Opt[Refused]) Said {
	if r.Is {
		s.Came = append(s.Came, Plain(fmt.Sprintf("%s,%d", r.V.Error, r.V.At)))
	}
	return s
}

// Item is a word with a number in it. Those that follow each other become a range.
type Item struct {
	Before string
	N      Opt[int64]
	After  string
}

// Counted returns a word with a number in it.
func Counted(before string, n int64, after string) Item { return Item{before, Some(n), after} }

// Plain returns a word without a number.
func Plain(word string) Item { return Item{Before: word} }

// Line is a line of a script, with what came of it.
type Line struct {
	Text, Event, Want, Got string
}

// Played is a script that was run.
type Played struct {
	Trace
	Steps []Step
	Rows  [][]string // of each step
	Lines []Line
}

// Wrong returns the first line of which something else came than it expects.
func (p *Played) Wrong() error {
	for _, l := range p.Lines {
		if l.Want != l.Got {
			return fmt.Errorf("%q: got %s", l.Text, l.Got)
		}
	}
	return nil
}

// Run runs a script with the oracle.
func (op *Op) Run(lines []string) (*Played, error) {
	config, lines, err := op.Settings(lines)
	if err != nil {
		return nil, err
	}
	m, err := op.Oracle(config)
	if err != nil {
		return nil, fmt.Errorf("%+v: %w", config, err)
	}
	p := &Played{Trace: Trace{Config: config}}
	var before []string
	for _, text := range lines {
		line := Line{Text: text}
		var found bool
		line.Event, line.Want, found = strings.Cut(text, " : ")
		if !found {
			return nil, fmt.Errorf("%q: nothing is expected", text)
		}
		said, err := op.runLine(p, m, line.Event)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		line.Got, before = print(said, before)
		p.Lines = append(p.Lines, line)
	}
	return p, nil
}

// taken are the rows of the latest event that its step does not have.
func taken(m Machine) []string {
	if r, is := m.(Rower); is {
		return r.Took()
	}
	return nil
}

// said is what came of a step that took these rows, if it does not have them itself.
func (op *Op) said(config any, s Step, rows []string) Said {
	said := op.Words.Step(config, s)
	if rows != nil {
		said.Rows = rows
	}
	return said
}

// Settings reads what the first line sets, if it begins with "with".
func (op *Op) Settings(lines []string) (config any, rest []string, err error) {
	var w Words
	v := reflect.New(reflect.TypeOf(op.Config)).Elem()
	v.Set(reflect.ValueOf(op.Config))
	if len(lines) > 0 && strings.HasPrefix(lines[0], "with ") {
		for word := range strings.FieldsSeq(lines[0][len("with "):]) {
			key, value, _ := strings.Cut(word, "=")
			plan := planOf(v.Type())
			i := slices.IndexFunc(plan, func(f field) bool { return f.name == key })
			if i < 0 {
				w.Bad("setting", key)
				break
			}
			plan[i].say(&w, v.FieldByIndex(plan[i].index), value)
		}
		lines = lines[1:]
	}
	if f, is := v.Interface().(Fitted); is {
		return f.Fit(), lines, w.Err
	}
	return v.Interface(), lines, w.Err
}

// runLine runs the events of a line.
func (op *Op) runLine(p *Played, m Machine, words string) (said []Said, err error) {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return nil, fmt.Errorf("no event")
	}
	var w Words
	for i, at := range w.Times(fields[0]) {
		w.Nth, w.Position = i, len(p.Events)
		e := op.Event(&w, p.Config, fields[1:])
		if w.Err != nil {
			return nil, w.Err
		}
		s := m.Do(at, e)
		if s == nil {
			return nil, fmt.Errorf("no event of the contract")
		}
		came := op.said(p.Config, s, taken(m))
		p.Events, p.Steps, p.Rows = append(p.Events, Timed{at, e}), append(p.Steps, s), append(p.Rows, came.Rows)
		said = append(said, came)
	}
	return said, w.Err
}

// byDeclaration begins an event whose words the dialect does not get.
const byDeclaration = "plain"

// Event makes an event of words: by the dialect, or by the declaration.
func (op *Op) Event(w *Words, config any, words []string) Event {
	plain := len(words) > 0 && words[0] == byDeclaration
	if plain {
		words = words[1:]
	}
	name := ""
	if op.Events[0].Name != "" {
		if len(words) == 0 {
			w.Bad("event", "")
			return nil
		}
		name, words = words[0], words[1:]
	}
	if op.Words.Event != nil && !plain {
		if e := op.Words.Event(w, config, name, words); e != nil || w.Err != nil {
			return e
		}
	}
	i := slices.IndexFunc(op.Events, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		w.Bad("event", name)
		return nil
	}
	return readEventWords(w, op.Events[i].Of, words)
}

// readEventWords reads the fields of an event in order, of which the last ones may have values
// in the declaration.
func readEventWords(w *Words, of Event, words []string) Event {
	v := reflect.New(reflect.TypeOf(of)).Elem()
	plan := planOf(v.Type())
	for i, f := range plan {
		word := f.preset
		if i < len(words) {
			word = words[i]
		} else if f.omit {
			continue
		}
		f.say(w, v.FieldByIndex(f.index), word)
	}
	if len(words) > len(plan) {
		w.Bad("argument", words[len(plan)])
	}
	return v.Interface()
}

const (
	none    = "none" // null, or an empty list
	noBytes = "-"
)

// say sets a value by a word.
func (s *shape) say(w *Words, to reflect.Value, word string) {
	switch {
	case word == none && s.null:
		return
	case word == none && s.of.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(s.of, 0, 0))
		return
	}
	switch to = s.inner(to); {
	case s.of.Kind() == reflect.Slice && isNumber(s.of.Elem()):
		for _, n := range w.List(word) {
			elem := reflect.New(s.of.Elem()).Elem()
			setNumber(elem, n)
			to.Set(reflect.Append(to, elem))
		}
	case isNumber(s.of):
		n := w.Number(word)
		if n < s.low || n > s.high {
			w.Bad("number in the range", word)
		}
		setNumber(to, n)
	case s.of.Kind() == reflect.Bool:
		to.SetBool(word == "yes")
		if word != "yes" && word != "no" {
			w.Bad("yes or no", word)
		}
	case s.of == isBytes:
		text, err := readHex(strings.TrimPrefix(word, noBytes))
		if err != nil {
			w.Bad("hex", word)
		}
		to.SetString(text)
	case s.of.Kind() == reflect.String:
		if to.SetString(word); len(s.in) > 0 && !slices.Contains(s.in, word) {
			w.Bad("word", word)
		}
	default: // as JSON
		if inner := s.inside(); inner.read([]byte(word), to, false) != nil {
			w.Bad("argument", word)
		}
	}
}

// inside is the shape of what an Opt has.
func (s *shape) inside() shape {
	inner := *s
	inner.null = false
	return inner
}

// word is the inverse of say.
func (s *shape) word(v reflect.Value) string {
	if s.null {
		if !v.Field(0).Bool() {
			return none
		}
		v = v.Field(1)
	}
	switch {
	case s.of.Kind() == reflect.Slice && v.Len() == 0:
		return none
	case s.of.Kind() == reflect.Slice && isNumber(s.of.Elem()):
		var list []int64
		for i := range v.Len() {
			list = append(list, number(v.Index(i)))
		}
		return WriteRanges(list)
	case isNumber(s.of) && s.unit == "us":
		return WriteTime(number(v))
	case isNumber(s.of):
		return strconv.FormatInt(number(v), 10)
	case s.of.Kind() == reflect.Bool:
		if v.Bool() {
			return "yes"
		}
		return "no"
	case s.of.Kind() == reflect.Slice, s.of.Kind() == reflect.Struct:
		return string(marshal(v.Interface()))
	case s.of == isBytes && v.Len() == 0:
		return noBytes
	case s.of == isBytes:
		return hex.EncodeToString([]byte(v.String()))
	default:
		return fmt.Sprint(v.Interface())
	}
}

// Script writes a script: what happened, and what came of it.
func (op *Op) Script(config any, events []Timed, steps []Step, rows [][]string) string {
	var b strings.Builder
	b.WriteString(op.with(config))
	var before []string
	for i, e := range events {
		got := "nothing"
		if i < len(steps) && steps[i] != nil && op.Words.Step != nil {
			got, before = print([]Said{op.said(config, steps[i], rows[i])}, before)
		}
		fmt.Fprintf(&b, "%s %s : %s\n", WriteTime(e.At), op.sayEvent(config, i, e.Event), got)
	}
	return b.String()
}

// with is the line that sets up a machine, if that is needed.
func (op *Op) with(config any) string {
	text := ""
	v, usual := reflect.ValueOf(config), reflect.ValueOf(op.Config)
	for _, f := range planOf(v.Type()) {
		if word := f.word(v.FieldByIndex(f.index)); word != f.word(usual.FieldByIndex(f.index)) {
			text += " " + f.name + "=" + word
		}
	}
	if text == "" {
		return ""
	}
	return "with" + text + "\n"
}

// sayEvent writes the words of an event: the dialect's if they mean the event, or those of
// the declaration.
func (op *Op) sayEvent(config any, position int, e Event) string {
	var tries []string
	if op.Words.Say != nil {
		tries = append(tries, op.Words.Say(config, e))
	}
	declared := op.declared(e)
	for _, text := range append(tries, declared) {
		w := Words{Position: position}
		if fields := strings.Fields(text); reflect.DeepEqual(op.Event(&w, config, fields), e) && w.Err == nil {
			return text
		}
	}
	return byDeclaration + " " + declared
}

// declared writes the fields of an event in order, without the last ones that the declaration has.
func (op *Op) declared(e Event) string {
	words := []string{}
	if name := op.Events[op.kind(e)].Name; name != "" {
		words = append(words, name)
	}
	v, plan := reflect.ValueOf(e), planOf(reflect.TypeOf(e))
	for len(plan) > 0 {
		last := plan[len(plan)-1]
		if value := v.FieldByIndex(last.index); !(last.omit && value.IsZero()) && (last.preset == "" || last.word(value) != last.preset) {
			break
		}
		plan = plan[:len(plan)-1]
	}
	for _, f := range plan {
		words = append(words, f.word(v.FieldByIndex(f.index)))
	}
	return strings.Join(words, " ")
}

// print writes what came of a line: rows, each once; what came; and those figures that are
// not what they were.
func print(steps []Said, before []string) (text string, figures []string) {
	var rows, changed []string
	var came []Item
	for _, s := range steps {
		for _, row := range s.Rows {
			if !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
		came, figures = append(came, s.Came...), s.Figures
	}
	for _, f := range figures {
		if !slices.Contains(before, f) {
			changed = append(changed, f)
		}
	}
	words := slices.Concat(rows, joined(came), changed)
	if len(words) == 0 {
		return "-", figures
	}
	return strings.Join(words, " "), figures
}

// joined writes items: ranges of those that follow each other, up or down, and equal ones
// without a number once. Those of KEY=NUMBER become one list.
func joined(list []Item) (words []string) {
	for i := 0; i < len(list); i++ {
		first, before := list[i], ""
		step := int64(0)
		for ; i+1 < len(list) && follows(list[i], list[i+1], &step); i++ {
		}
		word := ""
		if first.N.Is {
			word = strconv.FormatInt(first.N.V, 10)
		}
		if list[i] != first {
			word += "-" + strconv.FormatInt(list[i].N.V, 10)
		}
		last := len(words) - 1
		if last >= 0 {
			before = words[last]
		}
		if key := first.Before; len(key) > 1 && strings.HasSuffix(key, "=") && first.After == "" && strings.HasPrefix(before, key) {
			words[last] += "," + word
		} else {
			words = append(words, first.Before+word+first.After)
		}
	}
	return words
}

// follows reports whether an item goes on with a range, whose direction its first two say.
func follows(a, b Item, step *int64) bool {
	d := b.N.V - a.N.V
	if a.N.Is && (d != 1 && d != -1 || *step != 0 && d != *step) {
		return false
	}
	a.N, *step = b.N, d
	return a == b
}

// Rewrite returns the text of an archive in which the lines of a script expect what came.
func (p *Played) Rewrite(archive, name string) string {
	at := strings.Index("\n"+archive, "\n-- "+name+" --\n")
	for _, l := range p.Lines {
		at += strings.Index(archive[at:], "\n"+l.Text+"\n") + 1
		line := l.Event + " : " + l.Got
		archive = archive[:at] + line + archive[at+len(l.Text):]
		at += len(line)
	}
	return archive
}
