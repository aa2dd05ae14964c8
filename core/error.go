package core

import (
	"fmt"
	"io"
)

// Code is the kind of a refusal, by the name that ports and vectors use.
type Code string

// Format describes the packets that a set of rules is about.
type Format struct {
	Name string // the package that users see in an error text
	Unit string // what places count: "bit" or "byte"
}

// Rule is a sentence of a specification that bytes or a value can break.
type Rule struct {
	format *Format
	code   Code
	id     string // of the sentence; empty in a sentinel's rule
	why    string
	step   int
	made   []Error // for the places 0, step, 2*step, …
	noByte Error   // for a fault that lies in no place
}

// NoPlace is the place of a fault that lies nowhere in the bytes, such as the fault of a
// packet that came before.
const NoPlace = -1

// Rule returns the rule of the sentence id. The text why says what is invalid.
// Errors are made in advance for the places 0, step, 2*step and so on up to last;
// one for any other place is allocated when it is needed.
func (f *Format) Rule(id string, code Code, why string, step, last int) *Rule {
	r := &Rule{format: f, code: code, id: id, why: why, step: step}
	r.made = make([]Error, last/step+1)
	for i := range r.made {
		r.made[i] = Error{r, i * step}
	}
	r.noByte = Error{r, NoPlace}
	return r
}

// Sentinel returns an error for errors.Is: it matches every error of the format
// with that code.
func (f *Format) Sentinel(code Code) *Error {
	return &Error{rule: &Rule{format: f, code: code}}
}

// NotAt returns the error for the rule broken in no place.
func (r *Rule) NotAt() *Error { return &r.noByte }

// At returns the error for the rule broken at a place.
func (r *Rule) At(place int) *Error {
	if i := place / r.step; place%r.step == 0 && uint(i) < uint(len(r.made)) {
		return &r.made[i]
	}
	return &Error{r, place}
}

// Error says why bytes or a value were refused.
type Error struct {
	rule  *Rule
	place int
}

// Code returns the kind of the refusal.
func (e *Error) Code() Code { return e.rule.code }

// Rule returns the id of the specification's sentence that was broken, such as
// "DEC-7"; it is empty for a sentinel.
func (e *Error) Rule() string { return e.rule.id }

// Place returns where the field at fault begins, in the units of its format,
// counted from the start of the decoded bytes; NoPlace if it lies in no field.
func (e *Error) Place() int { return e.place }

func (e *Error) Error() string {
	r := e.rule
	if r.id == "" {
		return r.format.Name + ": " + string(r.code)
	}
	where := ""
	if e.place != NoPlace {
		where = fmt.Sprintf(" at %s %d", r.format.Unit, e.place)
	}
	return fmt.Sprintf("%s: %s%s: %s", r.format.Name, r.code, where, r.why)
}

// Format writes the sentence, too, with %+v.
func (e *Error) Format(s fmt.State, verb rune) { FormatError(s, verb, e, e.rule.id) }

// FormatError is the method Format of an error that has details, which only %+v shows.
func FormatError(s fmt.State, verb rune, err error, details string) {
	if verb != 'v' || !s.Flag('+') || details == "" {
		fmt.Fprintf(s, fmt.FormatString(s, verb), err.Error())
		return
	}
	io.WriteString(s, err.Error()+" ("+details+")")
}

// Is makes errors.Is match the sentinel of the same format and code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && (e == t || t.rule.id == "" && t.rule.format == e.rule.format && t.rule.code == e.rule.code)
}
