// Package port answers the port contract for this implementation, as a port in any
// language does (appendix B of spec/PROTOCOL.md): one JSON object a line. What encodes
// and decodes is a table (code.go), machines are declared for package conform, and the
// rest is declared in plain.go; so others, such as oracles, can answer, too.
package port

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Port is what answers requests: the packages, or others in their place.
type Port struct {
	Codecs   map[string]formats.Format
	Machine  func(op *conform.Op, config any) (conform.Machine, error)
	Plain    map[string]Plain
	Refusing func(*layout.Fault) // nil, or is told what is refused
}

// packages are this implementation.
var packages = Port{
	Codecs: formats.All, Machine: func(op *conform.Op, config any) (conform.Machine, error) { return op.Product(config) },
	Plain: plain,
}

// Machines are the machines of all protocols.
var Machines = []*conform.Op{
	chunks.Sender, chunks.Receiver, chunks.RepairSender, chunks.RepairReceiver, packets.Endpoint, packets.Path, packets.Congestion,
	channels.Receiver, channels.Sender, sessions.Client, sessions.Server, connections.Op, connections.Moves,
}

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
func Answer(line []byte) []byte { return packages.Answer(line) }

// Answer is Answer of the package, by whatever the port has.
func (p *Port) Answer(line []byte) []byte {
	id := json.RawMessage("null")
	var q conform.Object
	err := json.Unmarshal(line, &q)
	if raw := q["id"]; err == nil && isInteger(raw) {
		id = raw
	} else {
		err = conform.ErrBadRequest
	}
	var response any
	if err == nil {
		response, err = p.answer(q)
	}
	if err != nil {
		response = p.refusal(q, err)
	}
	text, err := json.Marshal(response)
	if err != nil { // a response is strings and numbers
		panic(fmt.Sprintf("port: a response is no JSON: %v", err))
	}
	return append(fmt.Appendf(nil, `{"id":%s,`, id), text[1:]...)
}

// isInteger reports whether a JSON value is an integer, of any size.
func isInteger(raw json.RawMessage) bool {
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// opOf is the operation of a request.
func opOf(q conform.Object) (string, error) {
	var request struct {
		Op string `json:"op"`
	}
	err := conform.ReadObject(q, &request)
	return request.Op, err
}

// answer answers a request. Its op decides before its other fields are read: a port
// need not know the fields of an op that it does not have. Fields that nobody asks for are not
// looked at (PRT-5). Of a trace the events before one that is bad are run (TRC-6, CHO-12).
func (p *Port) answer(q conform.Object) (response any, err error) {
	op, err := opOf(q)
	if err != nil {
		return nil, err
	}
	if c, is := CodeOf(q); is {
		return c.answer(q, p.Codecs[c.Layout])
	}
	if plain, is := p.Plain[op]; is {
		return plain.answer(q)
	}
	for _, m := range Machines {
		if m.Name == op {
			steps, err := m.Answer(q, func(config any) (conform.Machine, error) { return p.Machine(m, config) })
			return conform.Steps{OK: true, Steps: steps}, err
		}
	}
	return nil, conform.ErrUnsupported
}

// refusal is the response to a request that is not answered.
func (p *Port) refusal(q conform.Object, err error) any {
	fault := formats.FaultOf(err)
	switch {
	case errors.Is(err, conform.ErrUnsupported):
		return contract.Answer{Error: contract.Unsupported}
	case fault == nil:
		return contract.Answer{Error: contract.BadRequest}
	}
	if p.Refusing != nil {
		p.Refusing(fault)
	}
	answer := contract.Answer{Error: fault.Code}
	if op, _ := opOf(q); unplaced.MatchString(op) {
		return answer
	}
	return contract.Placed{Answer: answer, At: fault.At}
}

// unplaced are the operations whose refusals have no place: the operations of chunks (PRT-3, PKO-2).
var unplaced = regexp.MustCompile("^(encode|decode|repair)_")
