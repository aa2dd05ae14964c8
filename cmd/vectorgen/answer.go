package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// answer is what oracles answer to a request.
type answer struct {
	response  json.RawMessage
	rows      []string // that a trace took
	refusedBy string   // the sentence on which a refusal rests
}

// answered answers a request as a port does, with the layouts of spec/formats.json and with oracles. A port can
// read all of them.
func answered(request json.RawMessage) (a answer, err error) {
	var r *conform.Recorded
	by := port.Port{
		Codecs: formats.Layouts(), Plain: oracles,
		Machine: func(op *conform.Op, config any) (m conform.Machine, err error) {
			r, err = op.Record(config)
			return r, err
		},
		Refusing: func(f *layout.Fault) { a.refusedBy = f.Check },
	}
	response := by.Answer(withFirstID(request))
	a.response = append([]byte("{"), bytes.TrimPrefix(response, []byte(`{"id":1,`))...)
	for _, code := range []error{conform.ErrBadRequest, conform.ErrUnsupported} {
		if bytes.HasSuffix(response, fmt.Appendf(nil, `"error":%q}`, code)) {
			return a, code
		}
	}
	if r != nil {
		a.rows = slices.Concat(r.Rows()...)
	}
	return a, nil
}

// withFirstID is a request or a response with an id.
func withFirstID(text json.RawMessage) []byte { return append([]byte(`{"id":1,`), text[1:]...) }
