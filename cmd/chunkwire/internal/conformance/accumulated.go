package conformance

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
)

// accumulation puts the random packets of a seeded run to the port: each is
// encoded, and then its spoiled datagram decoded.
//
// The reference implementation tells what each answer must be, so that the first
// wrong one can be shown. The hash is taken of those: as long as every answer
// is the same, it is the hash of the answers too.
type accumulation struct {
	run    testvectors.Accumulated
	result *Result
	random testvectors.RandomPackets
	sum    hash.Hash
	made   int
	queued []*question // the second one of a packet
	over   bool        // the outcome is known
	asked  func(n int) // counts packets
	newID  func() string
}

func (s *session) accumulate(run testvectors.Accumulated, result *Result, count func(int)) error {
	a := &accumulation{
		run: run, result: result, random: testvectors.RandomPackets(run.Seed), sum: sha256.New(),
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
	encode := a.question("encode_packet", wireRequest{ProtocolID: protocolID, Packet: packetJSON(p)}, wireResponse{OK: true, Hex: hex.EncodeToString(datagram)})

	spoiled := bytes.Clone(datagram)
	a.random.Spoil(protocolID, spoiled)
	outcome, want := "ok", wireResponse{OK: true}
	if p, err = framer.Decode(spoiled); err == nil {
		want.Packet = packetJSON(p)
	} else {
		var e *codec.Error
		errors.As(err, &e) // a decoder's errors are all of it
		outcome = string(e.Code())
		want = wireResponse{Error: outcome}
	}
	_, _ = a.sum.Write([]byte(outcome + "\n"))
	decode := a.question("decode_packet", wireRequest{ProtocolID: protocolID, Hex: hex.EncodeToString(spoiled)}, want)
	return []*question{encode, decode}
}

func (a *accumulation) question(op string, request wireRequest, response wireResponse) *question {
	id := json.RawMessage(a.newID())
	request.ID, request.Op, response.ID = id, op, id
	return &question{request: mustMarshal(request), response: mustMarshal(response), op: op, level: testvectors.Required}
}

// wireRequest and wireResponse are what the contract says of packets, in its
// order: most ports answer in it, and need not be parsed then.
type wireRequest struct {
	ID         json.RawMessage `json:"id"`
	Op         string          `json:"op"`
	ProtocolID uint32          `json:"protocol_id"`
	Hex        string          `json:"hex,omitempty"`
	Packet     *wirePacket     `json:"packet,omitempty"`
}

type wireResponse struct {
	ID     json.RawMessage `json:"id"`
	OK     bool            `json:"ok"`
	Error  string          `json:"error,omitempty"`
	Hex    string          `json:"hex,omitempty"`
	Packet *wirePacket     `json:"packet,omitempty"`
}

type wirePacket struct {
	Type      string `json:"type"`
	ChunkID   uint16 `json:"chunk_id"`
	SliceID   *int   `json:"slice_id,omitempty"`
	NumSlices *int   `json:"num_slices,omitempty"`
	Data      string `json:"data,omitempty"`
	Acked     string `json:"acked,omitempty"`
}

func packetJSON(p codec.Packet) *wirePacket {
	if p.Type == codec.TypeAck {
		return &wirePacket{Type: "ack", ChunkID: p.Ack.ChunkID, Acked: testvectors.AckedBits(p.Ack.Acked, p.Ack.NumSlices)}
	}
	return &wirePacket{
		Type: "slice", ChunkID: p.Slice.ChunkID, SliceID: &p.Slice.SliceID,
		NumSlices: &p.Slice.NumSlices, Data: hex.EncodeToString(p.Slice.Data),
	}
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values only
	}
	return b
}
