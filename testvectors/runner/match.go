package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors/runner/internal/process"
)

// match finds what a line answers, and returns what still waits after it.
func (s *session) match(line []byte, pending []*exchange) []*exchange {
	id := idOf(line)
	if id == pending[0].id {
		pending[0].answered(line)
		s.over(pending[0], nil)
		return pending[1:]
	}
	if s.extra(id, line) {
		return pending
	}
	if i := slices.IndexFunc(pending, func(e *exchange) bool { return e.id == id }); i > 0 {
		for _, e := range pending[:i] {
			e.fault(Fault{Kind: MissingLine, Message: "no answer; the next line answers " + pending[i].name, Actual: line})
			e.missed = true
			s.over(e, nil)
		}
		pending[i].answered(line)
		s.over(pending[i], nil)
		return pending[i+1:]
	}
	if id == "" {
		pending[0].fault(Fault{Kind: Garbage, Message: "the answer is not a JSON object with an id: " + process.Quoted(line)})
	} else {
		pending[0].fault(Fault{Kind: WrongID, Message: fmt.Sprintf("the answer has the id %s, not %s", id, pending[0].id), Actual: line})
	}
	s.over(pending[0], line)
	return pending[1:]
}

// extra returns whether a line belongs to an exchange that is over, and if so reports a
// fault of that one.
func (s *session) extra(id string, line []byte) bool {
	i := len(s.past) - 1
	for i >= 0 && s.past[i].id != id {
		i--
	}
	if i < 0 {
		return false
	}
	f := Fault{Kind: ExtraLine, Message: "answered twice, the second time by " + process.Quoted(line)}
	switch {
	case s.past[i].missed:
		f = Fault{Kind: OutOfOrder, Message: "answered after a later request", Actual: line}
		s.past[i].missed = false
	case s.stray != nil && i == len(s.past)-1:
		f.Message = "a line too many came before its answer, " + process.Quoted(s.stray)
	}
	s.past[i].fault(f)
	s.stray = nil
	return true
}

// over notes that an exchange is over, by a stray line or not.
func (s *session) over(e *exchange, stray []byte) {
	if len(s.past) == 2*window {
		s.past = append(s.past[:0], s.past[window:]...)
	}
	s.past, s.stray = append(s.past, e), stray
}

// idOf returns the JSON of a response's id, or "" if there is none. Of a line that
// begins with its id the rest is not parsed here: judge looks at it.
func idOf(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"id":`)); ok {
		if end := bytes.IndexAny(rest, ",}"); end > 0 && end <= len("18446744073709551615") && allDigits(rest[:end]) {
			return string(rest[:end])
		}
	}
	var r struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	return string(r.ID)
}

func allDigits(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < '0' || r > '9' })
}

// isUnsupported reports whether a line is exactly the answer "unsupported".
func isUnsupported(line []byte, id string) bool {
	want, _ := parseValue([]byte(`{"id":` + id + `,"ok":false,"error":"unsupported"}`))
	got, err := parseValue(line)
	return err == nil && len(differences(want, got)) == 0
}
