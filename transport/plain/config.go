package plain

import (
	"log/slog"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Config sets up an [Endpoint] and its connections. The zero value works; both
// ends must have the same ProtocolID and Lanes. A value that is not allowed is an
// error that wraps core.ErrConfig.
type Config struct {
	// ProtocolID goes into every datagram's checksum, and is not sent. Datagrams
	// made with another one do not decode (FRM-5).
	ProtocolID uint32

	// Admit decides, before there is any state, whether a peer that sends first gets
	// a connection (SEC-2). Nil admits everyone. It is called without locks, by the
	// goroutine that reads the socket, for every datagram that could begin a
	// connection: it must be quick, and must not close the endpoint. Dial and Over
	// ignore it: the connection that they return is the only one.
	Admit func(net.Addr) bool

	// LimitUnvalidated bounds the data sent to an address that can be forged. To a peer
	// that began its connection, slices go one at a time, with a wait of 250 ms that
	// doubles from one to the next, until an ack of one has come. It costs the first
	// chunk a round trip, and 250 ms or more if that slice or its ack is lost; a
	// forged source gets six slices in the default GiveUp instead of hundreds. It
	// does not stop an attacker who sees the traffic, or who guesses chunk id and
	// number of slices and so can forge the ack.
	LimitUnvalidated bool

	// MaxRate limits the slices that a connection sends, on all its lanes together,
	// in bits a second with IP and UDP headers (LAN-12): statemachine.MinRate to
	// MaxRate, or 0 for no limit.
	MaxRate int64

	// Repair is the variant of spec/REPAIR.md: a loss then costs no round trip. Both ends
	// must have the same: from an end with the other variant nothing decodes, and what it
	// sends fails with ErrGaveUp. The 512 protocol ids from ProtocolID on belong to the
	// connection (RPI-1, RPI-2). False is the article's protocol, as other implementations have it.
	Repair bool

	// Profile is how slices are paced, and how many are sent beyond those that are missing:
	// Adaptive, which is 0, Redundant, Burst, or Fixed, which sends at MaxRate.
	Profile Profile

	// NewScheduler makes the scheduler of one connection's sender, or of one lane's,
	// without Repair, NewRepairScheduler with it. It is called once more when an endpoint
	// is made, so that a bad configuration fails there, and can be called with locks held:
	// it must not call anything of this package. Nil makes the schedulers of the Profile, limited
	// to MaxRate.
	NewScheduler       func() (statemachine.Scheduler, error)
	NewRepairScheduler func() (statemachine.Scheduler, error)

	// GiveUp is how long a chunk in flight can be without progress before its
	// connection ends with ErrGaveUp. A peer that is there but does not read counts
	// as progress. At least 1 us; 0 means statemachine.DefaultGiveUp, 10 s.
	GiveUp time.Duration

	// IdleTimeout is how long a connection can receive nothing valid before it ends
	// with ErrIdle: at least 1 us, or 0 for no limit. Slices count if they are of the
	// current chunk or the one before, acks if they are of the chunk in flight or,
	// while there is none, of the one before (CON-6). The protocol sends nothing while
	// there is nothing to deliver, so this must exceed the longest pause of the
	// application. Without it peers that vanish between two chunks keep their places
	// until MaxPeers is reached, so a server should set it.
	IdleTimeout time.Duration

	// Lanes is how many chunks of a connection can be in flight at once, for
	// streams; 8 fill most paths. Each has machines of its own, which protocol ids
	// distinguish: those from ProtocolID on belong to the connection
	// (LAN-2). Chunks are received in the order in which they were sent all the
	// same, but deliveries can be done in another. Both ends must have the same
	// number: from an end with another one nothing decodes, and what it sends
	// fails with ErrGaveUp. Chunk ids in observations are the lane's. At most
	// MaxLanes; 0 means 1.
	Lanes int

	// SendQueue is how many chunks can wait behind those in flight. At most 65536; 0
	// means 8.
	SendQueue int

	// RecvQueue is how many complete chunks can wait for Recv, besides one for each
	// lane that stays in the receiver. The peer waits while they do. At most 65536; 0
	// means 4.
	RecvQueue int

	// RecvLimit is how many chunks a connection receives. Slices of further ones are
	// not answered, so that their sender gives up. 0 means no limit.
	RecvLimit int64

	// MaxPeers is how many connections an endpoint has at once (SEC-3). Each has at
	// most RecvQueue+Lanes+1 chunks of 256 KiB that its peer made it allocate. At most
	// 1<<24; 0 means 1024.
	//
	// When there are so many, a peer that begins takes the place of another, which
	// ends with ErrEvicted; chunks that are complete can still be received. It must
	// have been silent for GiveUp, must have been begun by its peer, and must have
	// nothing in flight or queued either way. Of these the one that was silent for the
	// longest goes, and one that has acked a slice of this end goes only if there is
	// no connection that was begun by its peer and has not. If there is no such
	// connection the newcomer is dropped, and tries again. Dial does not evict: it
	// fails with ErrTooManyPeers.
	MaxPeers int

	// SocketBuffer is how many bytes are asked of the system for the socket's
	// read buffer, and for its write buffer; EndpointStats has the sizes granted. At most
	// 1<<30; 0 means 512 KiB, two chunks.
	SocketBuffer int

	// Log, when not nil, gets each event (package eventlog). It is called
	// with locks held: it must be quick, and must not call anything of this package.
	Log eventlog.Log

	// Logger, when not nil, gets connections that begin and end, and datagrams and beginnings that are
	// refused, and of sockets that do less than they were asked for. It gets no contents, and only so much that
	// nobody can fill a disk. It is called with locks held: its handler must be quick, and must not call anything
	// of this package.
	Logger *slog.Logger
}

// MaxLanes is the most that Config.Lanes can be.
const MaxLanes = lanes.Most

// Profile is how slices are paced.
type Profile = lanes.Profile

// The profiles.
const (
	Adaptive  = lanes.Adaptive
	Redundant = lanes.Redundant
	Burst     = lanes.Burst
	Fixed     = lanes.Fixed
)

// What zero stands for.
const (
	defaultLanes        = 1
	defaultSendQueue    = 8
	defaultRecvQueue    = 4
	defaultMaxPeers     = 1024
	defaultSocketBuffer = 2 * codec.MaxChunkSize
)

// withDefaults returns the Config with every zero replaced by what it means, or
// an error that wraps core.ErrConfig.
func (cfg Config) withDefaults() (Config, error) {
	if err := cfg.check(); err != nil {
		return cfg, err
	}
	setDefault(&cfg.GiveUp, statemachine.DefaultGiveUp.Duration())
	setDefault(&cfg.Lanes, defaultLanes)
	setDefault(&cfg.SendQueue, defaultSendQueue)
	setDefault(&cfg.RecvQueue, defaultRecvQueue)
	setDefault(&cfg.MaxPeers, defaultMaxPeers)
	setDefault(&cfg.SocketBuffer, defaultSocketBuffer)
	one := cfg.ends().Chunks
	one.Lanes = 1
	_, err := lanes.New(one)
	return cfg, err
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ends returns the configuration of connections without I/O.
func (cfg *Config) ends() connection.PlainConfig {
	return connection.PlainConfig{
		Format: connection.NewPlainFormat(cfg.ProtocolID, cfg.Lanes, cfg.Repair),
		Chunks: lanes.Config{
			Repair: cfg.Repair, SendQueue: cfg.SendQueue, ReceiveLimit: cfg.RecvLimit, MaxRate: cfg.MaxRate,
			GiveUp: core.FromDuration(cfg.GiveUp), Profile: cfg.Profile,
			NewScheduler: cfg.NewScheduler, NewRepairScheduler: cfg.NewRepairScheduler,
		},
		IdleTimeout:      core.FromDuration(cfg.IdleTimeout),
		LimitUnvalidated: cfg.LimitUnvalidated,
	}
}

// check returns an error for a value that is not allowed.
func (cfg *Config) check() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Config.GiveUp", cfg.GiveUp}, {"Config.IdleTimeout", cfg.IdleTimeout}} {
		if d.value != 0 && d.value < time.Microsecond {
			return core.ConfigError(d.name, d.value, "0, or 1us and more")
		}
	}
	for _, c := range []struct {
		name    string
		value   int64
		most    int64
		allowed string
	}{
		{"Config.Lanes", int64(cfg.Lanes), MaxLanes, "0 to 16"},
		{"Config.SendQueue", int64(cfg.SendQueue), 1 << 16, "0 to 65536"},
		{"Config.RecvQueue", int64(cfg.RecvQueue), 1 << 16, "0 to 65536"},
		{"Config.RecvLimit", cfg.RecvLimit, 1<<63 - 1, "0 and more"},
		{"Config.MaxPeers", int64(cfg.MaxPeers), 1 << 24, "0 to 16777216"},
		{"Config.SocketBuffer", int64(cfg.SocketBuffer), 1 << 30, "0 to 1073741824 bytes"},
	} {
		if c.value < 0 || c.value > c.most {
			return core.ConfigError(c.name, c.value, c.allowed)
		}
	}
	return statemachine.CheckRate("Config.MaxRate", cfg.MaxRate)
}
