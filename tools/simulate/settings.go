// Package simulate is what `chunkwire simulate` and the playground run: transfers over a path, by the flags of the
// command, and the report that it prints.
package simulate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Settings are what is simulated.
type Settings struct {
	Path
	Pace   pace.Pace
	Repair bool // repair slices, else slices that are sent again
	Size   int64
	Seeds  int           // transfers
	Seed   uint64        // of the first one
	Limit  time.Duration // of virtual time for a transfer
	Warm   bool          // measure the second block of a connection

	// Log, when not nil, is given what happens in the transfers that are measured, at both
	// ends and on the links. It is for one transfer at a time.
	Log eventlog.Log
}

// The most that a command takes.
const (
	MaxSeeds = 1_000_000
	MaxLimit = 1000 * time.Hour
)

// Check returns why the settings are bad, in the words of the command's flags.
func (s *Settings) Check() error {
	switch {
	case s.Size < 1 || s.Size > codec.MaxChunkSize:
		return fmt.Errorf("--size must be 1 to %d", codec.MaxChunkSize)
	case s.Seeds < 1 || s.Seeds > MaxSeeds:
		return fmt.Errorf("--seeds must be 1 to %d", MaxSeeds)
	case s.Limit <= 0 || s.Limit > MaxLimit:
		return errors.New("--limit must be above 0, and at most 1000h")
	}
	return s.Path.Check()
}

// Transfer runs the transfer with a seed.
func (s *Settings) Transfer(seed uint64) (chunk.Transfer, error) {
	limit := core.FromDuration(s.Limit)
	down, err1 := netsim.NewLink(s.OneWay(), 2*seed)
	up, err2 := netsim.NewLink(s.OneWay(), 2*seed+1)
	if err := errors.Join(err1, err2); err != nil {
		return chunk.Transfer{}, err
	}
	measured := !s.Warm
	var log eventlog.Log
	if s.Log != nil {
		log = func(e eventlog.Event) {
			if measured {
				s.Log(e)
			}
		}
	}
	c, err := s.conversation(limit, down, up, log)
	if err == nil && s.Warm {
		_, err = c.Transfer(Pattern(int(s.Size), seed+1), limit)
	}
	if err != nil {
		return chunk.Transfer{}, err
	}
	measured = true
	return c.Transfer(Pattern(int(s.Size), seed), limit)
}

func (s *Settings) conversation(giveUp core.Micros, down, up *netsim.Link, log eventlog.Log) (*chunk.Conversation, error) {
	kind := codec.KindOf(s.Repair)
	scheduler, err := s.Pace.Scheduler(kind)
	if err != nil {
		return nil, err
	}
	c, err := chunk.NewConversation(
		statemachine.SenderConfig{Kind: kind, Scheduler: scheduler, GiveUp: giveUp, Log: log.Of(0, eventlog.Sender)},
		statemachine.ReceiverConfig{Kind: kind, GiveUp: giveUp, Log: log.Of(0, eventlog.Receiver)}, down, up)
	if err == nil {
		c.Log = log
	}
	return c, err
}

// Pattern returns n bytes that only their seed knows, so that a slice in the
// wrong place shows.
func Pattern(n int, seed uint64) []byte {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b) // never fails
	return b
}
