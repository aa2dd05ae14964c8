package runner

import (
	"bytes"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
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

// Fault is how a vector failed.
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
	noRequest         bool // "unsupported" is no answer to it
}

// verdict is the result of comparing an answer.
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
	paths := differences(want, got, q.open()...)
	switch {
	case len(paths) == 0:
		return passed, Fault{}
	case !q.noRequest && isUnsupported(line, idOf(line)):
		return skipped, Fault{}
	}
	return failed, Fault{Kind: Differs, Message: "the answer differs: " + list(paths), Actual: line, Lines: q.explain(want, got)}
}

// open are the fields of steps whose values are not compared.
func (q *question) open() []string {
	if q.level != testvectors.Required {
		return nil
	}
	return contract.Open(q.op)
}
