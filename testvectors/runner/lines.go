package runner

import "github.com/chunkwire/chunkwire/testvectors"

// finish looks at how the port ends.
func (r *runner) finish() {
	if f, checked := r.session.finish(); checked {
		end := r.add(&Result{
			Name: endOfInput, Group: processGroup, Level: testvectors.Required,
			Comment: "At the end of its input a port exits with 0, and has written nothing but its answers.",
		})
		if end.Status = Passed; f != nil {
			end.fail(*f)
		}
	}
}

// line sends a line that is no request, and an op that does not exist after it: a
// port that is silent at the line is found by the answer to that.
func (r *runner) line(l testvectors.Line) error {
	result := r.add(&Result{Name: l.Name, Group: processGroup, Level: testvectors.Required, Comment: l.Comment, Sentences: []string{"PRT-3", "PRT-4"}})
	q := &result.question
	*q = question{request: []byte(l.Line), response: []byte(`{"id":null,"ok":false,"error":"bad_request"}`), noRequest: true}
	id := r.session.newID()
	both := []*exchange{
		r.asks(result, "null"),
		{name: unknownOp, id: id, line: proof(id), answered: func([]byte) {}, fault: func(Fault) {}},
	}
	return r.session.run(func() *exchange {
		if len(both) == 0 {
			return nil
		}
		e := both[0]
		both = both[1:]
		return e
	})
}
