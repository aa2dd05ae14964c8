package lanes

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Most is how many lanes a connection has at most (MAX_LANES).
const Most = 16

// What zero stands for.
const (
	defaultLanes     = 1
	defaultSendQueue = 8

	mostSendQueue = 1 << 16
)

// Config sets up the lanes of one end of a connection. A field that is 0 has its default.
type Config struct {
	// Lanes is how many chunks can be in flight at once, 1 to Most, the same at both ends; 1
	// by default.
	Lanes int
	// SendQueue is how many chunks can wait behind those in flight, up to 65,536; 8 by default.
	SendQueue int
	// ReceiveLimit is how many chunks are received. Slices of further ones are not answered, so
	// that their sender gives up. 0: no limit.
	ReceiveLimit int64
	// MaxRate limits the slices of all lanes together, in bits a second with all headers
	// (LAN-12): statemachine.MinRate to MaxRate, or 0 for no limit.
	MaxRate int64
	// Total limits the slices of all connections that share it, and their messages; nil: there is no limit.
	Total *Total
	// GiveUp is how long a chunk can be without progress before the connection has failed; 0:
	// statemachine.DefaultGiveUp.
	GiveUp core.Micros
	// Repair is the variant of spec/REPAIR.md, whose slices make up for each other, the same at
	// both ends and of all lanes (RPI-4). Without it each slice has a name and arrives itself (spec/PROTOCOL.md).
	Repair bool
	// Profile sets the pace of either variant; Adaptive by default.
	Profile Profile
	// NewScheduler and NewRepairScheduler make the scheduler of one lane's sender, without and
	// with Repair. Nil makes the schedulers of the Profile, limited to MaxRate.
	NewScheduler       func() (statemachine.Scheduler, error)
	NewRepairScheduler func() (statemachine.Scheduler, error)
	// Memory is a pool of slice buffers that several connections can share; nil: each keeps
	// its own.
	Memory *statemachine.Memory
	// Rebuilds bounds the work for repair slices, together with other connections that share it: a slice beyond it
	// counts as one that did not arrive. Nil: there is no bound.
	Rebuilds *Rebuilds
	// Log, when not nil, gets the events of each slice, ack and chunk, and the rows of
	// the machines, each with its lane.
	Log eventlog.Log
}

// complete returns the configuration without fields that are 0, or why it is bad.
func (c Config) complete() (Config, error) {
	setDefault(&c.Lanes, defaultLanes)
	setDefault(&c.SendQueue, defaultSendQueue)
	setDefault(&c.GiveUp, statemachine.DefaultGiveUp)
	switch {
	case c.Lanes < 1 || c.Lanes > Most:
		return c, core.ConfigError("lanes: Lanes", c.Lanes, "1 to 16")
	case c.SendQueue < 1 || c.SendQueue > mostSendQueue:
		return c, core.ConfigError("lanes: SendQueue", c.SendQueue, "1 to 65536")
	case c.ReceiveLimit < 0:
		return c, core.ConfigError("lanes: ReceiveLimit", c.ReceiveLimit, "0 and more")
	}
	return c, statemachine.CheckRate("lanes: MaxRate", c.MaxRate)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// scheduler makes the scheduler of a lane.
func (c *Config) scheduler() (statemachine.Scheduler, error) {
	given := c.NewScheduler
	if c.Repair {
		given = c.NewRepairScheduler
	}
	if given != nil {
		return given()
	}
	return c.Profile.NewScheduler(codec.KindOf(c.Repair), c.MaxRate)
}

// newSender returns a sender with a scheduler of its own.
func (c *Config) newSender(log eventlog.Log) (*statemachine.Sender, error) {
	sched, err := c.scheduler()
	if err != nil {
		return nil, err
	}
	return statemachine.NewSender(statemachine.SenderConfig{Kind: codec.KindOf(c.Repair), GiveUp: c.GiveUp, Scheduler: sched, Log: log})
}

func (c *Config) newReceiver(log eventlog.Log) (*statemachine.Receiver, error) {
	return statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.KindOf(c.Repair), GiveUp: c.GiveUp, Memory: c.Memory, Log: log})
}
