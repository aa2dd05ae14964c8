// Package port answers the port contract for this implementation, as a port in any
// language does (appendix B of spec/PROTOCOL.md): one JSON object a line. The
// operations of the chunk protocol are in chunk.go and trace.go, those of the packet
// layer in packet.go, those of channels in channel.go, those of sessions and connections
// in session.go and connection.go; another protocol adds a table of its own to operations.
package port

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// operation answers a request with a response without its id. Its error is one of
// this package or a *codec.Error.
type operation func(q *object) (response any, err error)

// operations are the tables of all protocols.
var operations = []map[string]operation{chunkOperations, repairOperations, {
	packets.Endpoint.Name: machine(packets.Endpoint), packets.Congestion.Name: machine(packets.Congestion),
	channels.Receiver.Name: machine(channels.Receiver), channels.Sender.Name: machine(channels.Sender),
	sessions.Client.Name: machine(sessions.Client), sessions.Server.Name: machine(sessions.Server), connections.Op.Name: machine(connections.Op),
	contract.OpChannelReport: plain(report),
	contract.OpSessionSeal:   plain(seal), contract.OpSessionOpen: plain(open), contract.OpSessionKeys: plain(keys),
	contract.OpSessionCookie: plain(cookie), contract.OpSessionProof: plain(proof),
}}

// The contract's own errors (PRT-3).
var (
	errBadRequest  = conform.ErrBadRequest
	errUnsupported = conform.ErrUnsupported
)

// Serve answers each line of r by a line on w, until r ends.
func Serve(r io.Reader, w io.Writer) error {
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := out.Write(append(Answer(line), '\n')); err != nil {
				return err
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// Answer answers one line, with or without its newline (PRT-1). The answer has
// none. Every line gets an answer, at worst that it is a bad request (PRT-4).
func Answer(line []byte) []byte { return AnswerBy(formats.All, line) }

// AnswerBy is Answer with other encoders and decoders than those of the packages.
func AnswerBy(codecs map[string]formats.Format, line []byte) []byte {
	id := json.RawMessage("null")
	q, err := newObject(line)
	if err == nil {
		q.codecs = codecs
		if raw := q.fields["id"]; isInteger(raw) {
			id = raw
		} else {
			err = errBadRequest
		}
	}
	var response any
	if err == nil {
		response, err = q.answer()
	}
	if err != nil {
		response = refusal(q, err)
	}
	text, err := json.Marshal(response)
	if err != nil { // a response is strings and numbers
		panic(fmt.Sprintf("port: a response is no JSON: %v", err))
	}
	return append(fmt.Appendf(nil, `{"id":%s,`, id), text[1:]...)
}

// answer answers a request. Its op decides before its other fields are read: a port
// need not know those of an op that it does not have.
func (o *object) answer() (response any, err error) {
	op := o.text("op")
	if *o.err != nil {
		return nil, *o.err
	}
	if c, is := CodeOf(o.fields); is {
		return code(c, o)
	}
	for _, table := range operations {
		if do, ok := table[op]; ok {
			return do(o)
		}
	}
	return nil, errUnsupported
}

// refusal is the response to a request that is not answered.
func refusal(q *object, err error) any {
	fault := formats.FaultOf(err)
	switch {
	case errors.Is(err, errUnsupported):
		return contract.Answer{Error: contract.Unsupported}
	case fault == nil:
		return contract.Answer{Error: contract.BadRequest}
	}
	answer := contract.Answer{Error: fault.Code}
	if op := q.text("op"); unplaced.MatchString(op) {
		return answer
	}
	return contract.Placed{Answer: answer, At: fault.At}
}

// unplaced are the operations whose refusals have no place: those of chunks (PRT-3, PKO-2).
var unplaced = regexp.MustCompile("^(encode|decode|repair)_")
