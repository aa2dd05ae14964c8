package measure

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/repair"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	protocol "github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Limit is far more virtual time than any transfer takes.
const Limit = 180 * core.Second

// Ends are a sender and a receiver with a link each way, of either variant.
type Ends interface {
	Submit(chunk []byte) error // at once
	Sending() bool
	Ready() bool
	Read() ([]byte, error) // the receiver's chunk, at once
	Err() error            // of the sender
	Stats() statemachine.SenderStats
	Links() (down, up *netsim.Link)

	Now() core.Micros
	At(at core.Micros, do func())
	Run(limit core.Micros, done func() bool) bool
}

// Scheme makes ends over links of their own, or shared ones.
type Scheme func(down, up *netsim.Link) Ends

// Named returns the scheme of named slices with such schedulers.
func Named[S statemachine.Scheduler](scheduler func() (S, error)) Scheme {
	return func(down, up *netsim.Link) Ends {
		return &named{*check.Must(chunk.NewConversation(
			statemachine.SenderConfig{Scheduler: check.Must(scheduler()), GiveUp: Limit},
			statemachine.ReceiverConfig{GiveUp: Limit}, down, up))}
	}
}

// Repaired returns the scheme of repair slices with such schedulers.
func Repaired[S protocol.Scheduler](scheduler func() (S, error)) Scheme {
	return func(down, up *netsim.Link) Ends {
		return &repaired{*check.Must(repair.NewConversation(
			protocol.SenderConfig{Scheduler: check.Must(scheduler()), GiveUp: Limit},
			protocol.ReceiverConfig{GiveUp: Limit}, down, up))}
	}
}

type named struct{ chunk.Conversation }

func (e *named) Submit(chunk []byte) error {
	err := e.Sender.Submit(e.Now(), chunk)
	e.Flush()
	return err
}

func (e *named) Read() ([]byte, error) {
	got, err := e.Receiver.Read(e.Now(), nil)
	e.Flush()
	return got, err
}

func (e *named) Sending() bool                   { return e.Sender.Vars().State == statemachine.SenderSending }
func (e *named) Ready() bool                     { return e.Receiver.Vars().State == statemachine.ReceiverReady }
func (e *named) Stats() statemachine.SenderStats { return e.Sender.Stats() }
func (e *named) Err() error                      { return e.Sender.Err() }
func (e *named) Links() (down, up *netsim.Link)  { return e.Down, e.Up }

type repaired struct{ repair.Conversation }

func (e *repaired) Submit(chunk []byte) error {
	err := e.Sender.Submit(e.Now(), encode(chunk))
	e.Flush()
	return err
}

func (e *repaired) Read() ([]byte, error) {
	got, err := e.Receiver.Read(e.Now(), nil)
	e.Flush()
	return got, err
}

func (e *repaired) Sending() bool                   { return e.Sender.Vars().State == statemachine.SenderSending }
func (e *repaired) Ready() bool                     { return e.Receiver.Vars().State == statemachine.ReceiverReady }
func (e *repaired) Stats() statemachine.SenderStats { return e.Sender.Stats() }
func (e *repaired) Err() error                      { return e.Sender.Err() }
func (e *repaired) Links() (down, up *netsim.Link)  { return e.Down, e.Up }

// Together runs ends of one variant that share links, until done, or until the limit has
// passed. It reports whether they were done.
func Together(limit core.Micros, done func() bool, ends ...Ends) bool {
	var ofNamed []*sim.World[codec.Packet]
	var ofRepaired []*sim.World[protocol.Packet]
	for _, e := range ends {
		switch e := e.(type) {
		case *named:
			ofNamed = append(ofNamed, e.World)
		case *repaired:
			ofRepaired = append(ofRepaired, e.World)
		}
	}
	if len(ofNamed) > 0 {
		return sim.Together(limit, done, ofNamed...)
	}
	return sim.Together(limit, done, ofRepaired...)
}

// fullEncoded is FullChunk, encoded once for all transfers.
var fullEncoded = erasure.Encode(FullChunk)

func encode(chunk []byte) *erasure.Encoded {
	if len(chunk) == len(FullChunk) && &chunk[0] == &FullChunk[0] {
		return fullEncoded
	}
	return erasure.Encode(chunk)
}
