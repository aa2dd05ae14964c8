package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// accumulation puts the random packets of a seeded run to the port (ACC-1 to ACC-3): each is
// encoded, and then its spoiled datagram decoded.
//
// Each answer is compared with the reference implementation's, so that the first
// wrong one can be shown. The hash is taken over the reference's: as long as every
// answer is the same, it is the hash of the answers too.
type accumulation struct {
	run    testvectors.Accumulated
	result *Result
	random *oracle.Generator
	sum    hash.Hash
	made   int
	queued []*question // the second one of a packet
	over   bool        // the outcome is known
	asked  func(n int) // counts packets
	newID  func() string
}

func newAccumulation(run testvectors.Accumulated, result *Result, count func(int), newID func() string) *accumulation {
	return &accumulation{run: run, result: result, random: oracle.NewGenerator(uint32(run.Seed)), sum: sha256.New(), asked: count, newID: newID}
}

func (s *session) accumulate(run testvectors.Accumulated, result *Result, count func(int)) error {
	a := newAccumulation(run, result, count, s.newID)
	if err := s.run(a.next); err != nil {
		return err
	}
	a.end()
	return nil
}

// end judges the hash, unless the outcome is known.
func (a *accumulation) end() {
	switch sum := hex.EncodeToString(a.sum.Sum(nil)); {
	case a.over:
	case sum != a.run.SHA256:
		a.result.fail(Fault{Kind: BadVector, Message: fmt.Sprintf("every answer is the reference implementation's, but their SHA-256 is %s, not %s", sum, a.run.SHA256)})
	default:
		a.result.Status = Passed
	}
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
	protocolID, p := a.random.Packet()
	in := layout.Parameters{"PROTOCOL_ID": int64(protocolID)}
	v := layout.Names{}.Get(p)
	datagram, err := formats.All[framed].Encode(v, in)
	if err != nil {
		panic(err) // ACC-2 makes none that cannot be encoded
	}
	_, _ = a.sum.Write(datagram)
	encode := a.question(contract.OpEncodePacket, protocolID, "packet", layout.JSON(framed, v, in), layout.Object{{Name: "ok", Value: true}, {Name: "hex", Value: conform.Bytes(datagram)}})

	spoiled, outcome := a.random.Flip(protocolID, datagram), "ok"
	var want layout.Object
	if v, err = formats.All[framed].Decode(spoiled, in, nil); err == nil {
		want = layout.Object{{Name: "ok", Value: true}, {Name: "packet", Value: layout.JSON(framed, v, in)}}
	} else {
		outcome = formats.FaultOf(err).Code
		want = layout.Object{{Name: "ok", Value: false}, {Name: "error", Value: outcome}}
	}
	_, _ = a.sum.Write([]byte(outcome + "\n"))
	return []*question{encode, a.question(contract.OpDecodePacket, protocolID, "hex", conform.Bytes(spoiled), want)}
}

// framed is the layout of the packets of seeded runs.
const framed = "chunk-datagram"

func (a *accumulation) question(op string, protocolID uint32, of string, what any, response layout.Object) *question {
	id := layout.Object{{Name: "id", Value: json.RawMessage(a.newID())}}
	request := append(id, layout.Object{{Name: "op", Value: op}, {Name: "protocol_id", Value: protocolID}, {Name: of, Value: what}}...)
	return &question{request: mustMarshal(request), response: mustMarshal(append(id, response...)), op: op, level: testvectors.Required}
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values only
	}
	return b
}
