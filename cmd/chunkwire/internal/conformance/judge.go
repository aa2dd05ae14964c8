package conformance

import (
	"bytes"
	"encoding/json"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Kind is a kind of failure.
type Kind string

// The kinds of failures; none is a refusal (PRT-4).
const (
	Differs        Kind = "differs"         // the answer is not the expected one
	Garbage        Kind = "garbage"         // a line is no JSON object with an id
	WrongID        Kind = "wrong_id"        // the answer is to no request
	ExtraLine      Kind = "extra_line"      // more than one line for a request
	MissingLine    Kind = "missing_line"    // no line for a request, but for later ones
	OutOfOrder     Kind = "out_of_order"    // answered after a later request
	Crash          Kind = "crash"           // the port ended
	Hang           Kind = "hang"            // nothing came in time
	Unsupported    Kind = "unsupported"     // skipped where that is not allowed
	UnexpectedPass Kind = "unexpected_pass" // passed, but listed as a known failure
	BadVector      Kind = "bad_vector"      // the vector itself is wrong
)

// Fault tells how a vector failed.
type Fault struct {
	Kind    Kind
	Message string
	Actual  []byte   // the line, if there is one to show
	Lines   []string // the request, the expected and the actual, for people
}

// question is a request with the response that it must get.
type question struct {
	request, response []byte // on one line each, with the id
	op                string
	level             testvectors.Level
}

// verdict is what is said of an answer.
type verdict int

const (
	passed verdict = iota
	failed
	skipped
)

// judge compares an answer with what it must be.
func (q *question) judge(line []byte) (verdict, Fault) {
	if bytes.Equal(line, q.response) {
		return passed, Fault{}
	}
	want, err := parseValue(q.response)
	if err != nil {
		return failed, Fault{Kind: BadVector, Message: "the vector's response is no JSON: " + err.Error()}
	}
	got, err := parseValue(line)
	if err != nil {
		return failed, Fault{Kind: Garbage, Message: "the answer is not one JSON object: " + err.Error(), Actual: line}
	}
	if q.op == "receiver" && q.level == testvectors.Required {
		ignoreDeadlines(want, got)
	}
	paths := differences("", want, got)
	switch {
	case len(paths) == 0:
		return passed, Fault{}
	case isUnsupported(line, idOf(line)):
		return skipped, Fault{}
	}
	return failed, Fault{Kind: Differs, Message: "the answer differs: " + list(paths), Actual: line, Lines: q.explain(want, got)}
}

// ignoreDeadlines makes the deadlines of an answer those that are wanted, as
// long as they are integers or null: TRC-5 does not compare them.
func ignoreDeadlines(want, got any) {
	const field = "deadline_us"
	wanted, _ := get(want, "steps").([]any)
	steps, _ := get(got, "steps").([]any)
	for i := range min(len(wanted), len(steps)) {
		step, ok := steps[i].(*object)
		if !ok {
			continue
		}
		d, there := step.fields[field]
		if _, isNumber := d.(json.Number); !there || !isNumber && d != nil {
			continue
		}
		if w, ok := wanted[i].(*object); !ok {
			continue
		} else if value, ok := w.fields[field]; ok {
			step.fields[field] = value
		} else {
			step.remove(field)
		}
	}
}
