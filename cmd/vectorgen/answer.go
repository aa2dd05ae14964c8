package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// answer is what oracles answer to a request.
type answer struct {
	response  json.RawMessage
	rows      []string // that a trace took
	refusedBy string   // the sentence on which a refusal rests
}

// answered answers a request: one to encode or decode by the layouts of spec/formats.json, any
// other by an oracle. A port can read all of them.
func answered(request json.RawMessage) (a answer, err error) {
	var q conform.Object
	var h contract.Header
	if err := errors.Join(json.Unmarshal(request, &q), json.Unmarshal(request, &h)); err != nil {
		return a, err
	}
	if _, is := port.CodeOf(q); is {
		return byLayout(request), nil
	}
	for _, op := range machines {
		if op.Name == h.Op {
			return byMachine(op, q)
		}
	}
	if respond, ok := oracles[h.Op]; ok {
		return respond(request)
	}
	return a, fmt.Errorf("no oracle of %q", h.Op)
}

// byLayout is what a port of the layouts answers.
func byLayout(request json.RawMessage) (a answer) {
	response := port.AnswerBy(formats.Layouts(&a.refusedBy), withFirstID(request))
	a.response = append([]byte("{"), bytes.TrimPrefix(response, []byte(`{"id":1,`))...)
	return a
}

// withFirstID is a request or a response with an id.
func withFirstID(text json.RawMessage) []byte { return append([]byte(`{"id":1,`), text[1:]...) }

// machines are those that are declared for package conform.
var machines = []*conform.Op{
	chunks.Sender, chunks.Receiver, chunks.RepairSender, chunks.RepairReceiver, packets.Endpoint, packets.Congestion, channels.Receiver, channels.Sender, sessions.Client, sessions.Server, connections.Op,
}

// byMachine takes the oracle through a trace.
func byMachine(op *conform.Op, q conform.Object) (a answer, err error) {
	t, err := op.Read(q)
	if err := errors.Join(err, t.Unread); err != nil {
		return a, err
	}
	r, err := op.Record(t.Config)
	if err != nil {
		return a, err
	}
	steps, err := conform.Run(r, t.Events)
	for _, taken := range r.Rows() {
		a.rows = append(a.rows, taken...)
	}
	a.response = asJSON(conform.Steps{OK: true, Steps: steps})
	return a, err
}

// by reads a request for what answers it.
func by[Q any](respond func(Q) (any, error)) func(json.RawMessage) (answer, error) {
	return func(request json.RawMessage) (a answer, err error) {
		var q Q
		if err := json.Unmarshal(request, &q); err != nil {
			return a, err
		}
		response, err := respond(q)
		a.response = asJSON(response)
		if r, is := response.(refusal); is {
			a.refusedBy = r.check
		}
		return a, err
	}
}

// ok is the beginning of a response that refuses nothing.
var ok = contract.Answer{OK: true}

// refusal is a response that refuses, with the check that does.
type refusal struct {
	contract.Placed
	check string
}

func refused(code string, at int, check string) refusal {
	return refusal{contract.Placed{Answer: contract.Answer{Error: code}, At: at}, check}
}

// oracles answer what is neither a codec nor declared for package conform.
var oracles = map[string]func(json.RawMessage) (answer, error){
	contract.OpRepairRow: by(repairRow), contract.OpRepairSlice: by(repairSlice), contract.OpRepairRebuild: by(repairRebuild),
	contract.OpChannelReport: by(channelReport),
	contract.OpSessionSeal:   by(sessionSeal), contract.OpSessionOpen: by(sessionOpen), contract.OpSessionKeys: by(sessionKeys),
	contract.OpSessionCookie: by(sessionCookie), contract.OpSessionProof: by(sessionProof),
}
