package measure

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Limit is far more virtual time than any transfer takes.
const Limit = 1800 * core.Second

// Ends are a sender and a receiver with a link each way.
type Ends struct{ *chunk.Conversation }

// Submit submits a chunk at once.
func (e Ends) Submit(chunk []byte) error {
	err := e.Sender.SubmitEncoded(e.Now(), encode(chunk))
	e.Flush()
	return err
}

// Read reads the receiver's chunk at once.
func (e Ends) Read() ([]byte, error) {
	got, err := e.Receiver.Read(e.Now(), nil)
	e.Flush()
	return got, err
}

// Err returns the error of the sender.
func (e Ends) Err() error { return e.Sender.Err() }

// Stats returns the counters of the sender.
func (e Ends) Stats() statemachine.SenderStats { return e.Sender.Stats() }

// Links returns the links of both ways.
func (e Ends) Links() (down, up *netsim.Link) { return e.Down, e.Up }

// Scheme makes ends over links of their own, or shared ones.
type Scheme func(down, up *netsim.Link) Ends

// Named returns the scheme of named slices with such schedulers.
func Named[S statemachine.Scheduler](scheduler func() (S, error)) Scheme {
	return scheme(codec.Named, scheduler)
}

// Repaired returns the scheme of repair slices with such schedulers.
func Repaired[S statemachine.Scheduler](scheduler func() (S, error)) Scheme {
	return scheme(codec.Repair, scheduler)
}

func scheme[S statemachine.Scheduler](kind codec.Kind, scheduler func() (S, error)) Scheme {
	return func(down, up *netsim.Link) Ends {
		return Ends{check.Must(chunk.NewConversation(
			statemachine.SenderConfig{Kind: kind, Scheduler: check.Must(scheduler()), GiveUp: Limit},
			statemachine.ReceiverConfig{Kind: kind, GiveUp: Limit}, down, up))}
	}
}

// Together runs ends that share links, until done, or until the limit has passed. It reports
// whether they were done.
func Together(limit core.Micros, done func() bool, ends ...Ends) bool {
	var worlds []*sim.World[codec.Packet]
	for _, e := range ends {
		worlds = append(worlds, e.World)
	}
	return sim.Together(limit, done, worlds...)
}

// fullEncoded is FullChunk, encoded once for all transfers.
var fullEncoded = erasure.Encode(FullChunk)

func encode(chunk []byte) *erasure.Encoded {
	if len(chunk) == len(FullChunk) && &chunk[0] == &FullChunk[0] {
		return fullEncoded
	}
	return erasure.Encode(chunk)
}
