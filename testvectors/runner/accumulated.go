package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// accumulation puts the random packets of a seeded run to the port: each is
// encoded, and then its spoiled datagram decoded.
//
// Each answer is compared with the reference implementation's, so that the first
// wrong one can be shown. The hash is taken over the reference's: as long as every
// answer is the same, it is the hash of the answers too.
type accumulation struct {
	run    testvectors.Accumulated
	result *Result
	random randomPackets
	sum    hash.Hash
	made   int
	queued []*question // the second one of a packet
	over   bool        // the outcome is known
	asked  func(n int) // counts packets
	newID  func() string
}

func (s *session) accumulate(run testvectors.Accumulated, result *Result, count func(int)) error {
	a := &accumulation{
		run: run, result: result, random: randomPackets(run.Seed), sum: sha256.New(),
		asked: count, newID: s.newID,
	}
	if err := s.run(a.next); err != nil {
		return err
	}
	switch sum := hex.EncodeToString(a.sum.Sum(nil)); {
	case a.over:
	case sum != run.SHA256:
		result.fail(Fault{Kind: BadVector, Message: fmt.Sprintf("every answer is the reference implementation's, but their SHA-256 is %s, not %s", sum, run.SHA256)})
	default:
		result.Status = Passed
	}
	return nil
}

// next returns the next request, and nil at the end or once a fault is known.
func (a *accumulation) next() *exchange {
	if a.over {
		return nil
	}
	if len(a.queued) == 0 {
		if a.made == a.run.Packets {
			return nil
		}
		a.made++
		a.asked(1)
		a.queued = a.packet()
	}
	q, n := a.queued[0], a.made
	a.queued = a.queued[1:]
	what := fmt.Sprintf("%s, packet %d of %d", a.run.Name, n, a.run.Packets)
	return &exchange{
		name: what, id: idOf(q.request), line: q.request,
		answered: func(line []byte) {
			switch v, f := q.judge(line); v {
			case failed:
				a.fail(q, what, f)
			case skipped:
				a.skip()
			}
		},
		fault: func(f Fault) { a.fail(q, what, f) },
		moot:  func() bool { return a.over },
	}
}

// fail notes the first fault; after it the state of a hash is of no interest.
func (a *accumulation) fail(q *question, what string, f Fault) {
	if a.over && a.result.Status != Skipped {
		return
	}
	a.over = true
	f.Message = fmt.Sprintf("%s, %s: %s", what, q.op, f.Message)
	a.result.question = *q
	a.result.fail(f)
}

func (a *accumulation) skip() {
	if !a.over {
		a.over = true
		a.result.Status = Skipped
	}
}

// packet makes the two questions about a packet.
func (a *accumulation) packet() []*question {
	protocolID, p := a.random.Next()
	framer := codec.NewFramer(protocolID)
	datagram, err := framer.Append(nil, p)
	if err != nil {
		panic(err) // ACC-2 makes none that cannot be encoded
	}
	_, _ = a.sum.Write(datagram)
	encode := a.question(contract.Request{Op: contract.OpEncodePacket, ProtocolID: &protocolID, Packet: contract.PacketOf(p)}, contract.Response{Answer: contract.Answer{OK: true}, Hex: hexOf(datagram)})

	spoiled := bytes.Clone(datagram)
	a.random.Spoil(protocolID, spoiled)
	outcome, want := "ok", contract.Response{Answer: contract.Answer{OK: true}}
	if p, err = framer.Decode(spoiled); err == nil {
		want.Packet = contract.PacketOf(p)
	} else {
		var e *codec.Error
		errors.As(err, &e) // a decoder's errors are all of it
		outcome = string(e.Code())
		want.Answer = contract.Answer{Error: outcome}
	}
	_, _ = a.sum.Write([]byte(outcome + "\n"))
	decode := a.question(contract.Request{Op: contract.OpDecodePacket, ProtocolID: &protocolID, Hex: hexOf(spoiled)}, want)
	return []*question{encode, decode}
}

func (a *accumulation) question(request contract.Request, response contract.Response) *question {
	id := a.newID()
	return &question{request: withID(mustMarshal(request), id), response: withID(mustMarshal(response), id), op: request.Op, level: testvectors.Required}
}

func hexOf(b []byte) *string {
	text := hex.EncodeToString(b)
	return &text
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values only
	}
	return b
}
