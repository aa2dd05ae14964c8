package transport

import (
	"fmt"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/recovery"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Config sets up an [Endpoint] and its connections. The zero value works; both
// ends must have the same ProtocolID.
type Config struct {
	// ProtocolID goes into every datagram's checksum, and is not sent. Datagrams
	// made with another one do not decode (FRM-5).
	ProtocolID uint32

	// NewScheduler makes the scheduler of one connection's sender, or of one
	// lane's. Nil means recovery.New(recovery.Adaptive()).
	NewScheduler func() statemachine.Scheduler

	// GiveUp is how long a chunk in flight may be without progress before its
	// connection ends with ErrGaveUp. A peer that is there but does not read
	// counts as progress. Zero means statemachine.DefaultGiveUp, 10 s.
	GiveUp time.Duration

	// IdleTimeout is how long a connection may hear nothing valid before it ends
	// with ErrIdle. Slices count if they are of the current chunk or the one before,
	// acks if they are of the chunk in flight or, while there is none, of the one
	// before. The protocol sends nothing while there is nothing to deliver, so
	// this must exceed the longest pause of the application. Zero means no limit:
	// then peers that vanish between two chunks hold their places until MaxPeers is
	// reached, and a server should set one.
	IdleTimeout time.Duration

	// Lanes is how many chunks of a connection may be in flight at once, for
	// streams; 8 fill most paths. Each has machines of its own, which are told
	// apart by protocol ids: the 256 from ProtocolID on belong to the connection
	// (LAN-2). Chunks are received in the order in which they were sent all the
	// same, but deliveries may be done in another. Both ends must have the same
	// number: from an end with another one nothing decodes, and what it sends
	// fails with ErrGaveUp. Chunk ids in observations are the lane's. Zero means 1;
	// the most is MaxLanes.
	Lanes int

	// SendQueue is how many chunks may wait behind those in flight. Zero means
	// 8; the most is 65536.
	SendQueue int

	// RecvQueue is how many complete chunks may wait for Recv, besides one that
	// the receiver holds. The peer waits while they do. Zero means 4; the most is
	// 65536.
	RecvQueue int

	// MaxPeers is how many connections an endpoint holds at once (SEC-3). Each has at
	// most RecvQueue+Lanes+1 chunks of 256 KiB that its peer made it allocate. Zero
	// means 1024; the most is 1<<24.
	//
	// When there are so many, a peer that begins takes the place of the connection
	// that has been silent the longest, if that has been silent for GiveUp at least,
	// was begun by its peer, and has nothing in flight or queued either way. It ends
	// with ErrEvicted; chunks that are complete can still be received. If there is
	// no such connection the newcomer is dropped, and tries again. Without this,
	// forged sources could take all places for ever, with one datagram each. Dial
	// does not evict: it fails with ErrTooManyPeers.
	MaxPeers int

	// Accept is asked, before there is any state, about a peer that sends first
	// (SEC-2).
	// It is called without locks, by the goroutine that reads the socket, for
	// every datagram that could begin a connection: it must be quick, and must
	// not close the endpoint. Nil means that everyone is welcome, or, at an
	// endpoint made by the function Dial, nobody.
	Accept func(net.Addr) bool

	// SocketBuffer is how many bytes are asked of the system for the socket's
	// read buffer, and for its write buffer. Zero means 512 KiB, two chunks; the
	// most is 1<<30.
	SocketBuffer int

	// Observe, when not nil, is told what happens to each slice that a connection
	// sends. It is called with locks held: it must be quick, and must not call
	// anything of this package.
	Observe func(*Conn, statemachine.Observation)
}

// What zero stands for.
const (
	defaultSendQueue    = 8
	defaultRecvQueue    = 4
	defaultMaxPeers     = 1024
	defaultSocketBuffer = 2 * codec.MaxChunkSize
)

// What is allowed. Times have no upper limit.
const (
	minDuration     = time.Microsecond
	maxQueue        = 1 << 16
	maxPeers        = 1 << 24
	maxSocketBuffer = 1 << 30
)

// withDefaults returns the Config with every zero replaced by what it means, or
// ErrConfig.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.NewScheduler == nil {
		cfg.NewScheduler = func() statemachine.Scheduler { return recovery.New(recovery.Adaptive()) }
	}
	durations := []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{
		{"GiveUp", &cfg.GiveUp, statemachine.DefaultGiveUp.Duration()},
		{"IdleTimeout", &cfg.IdleTimeout, 0},
	}
	for _, d := range durations {
		if *d.value != 0 && *d.value < minDuration {
			return cfg, fmt.Errorf("%w: %s is %v, but must be 0 or at least 1us", ErrConfig, d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	counts := []struct {
		name  string
		value *int
		zero  int
		most  int
	}{
		{"Lanes", &cfg.Lanes, 1, MaxLanes},
		{"SendQueue", &cfg.SendQueue, defaultSendQueue, maxQueue},
		{"RecvQueue", &cfg.RecvQueue, defaultRecvQueue, maxQueue},
		{"MaxPeers", &cfg.MaxPeers, defaultMaxPeers, maxPeers},
		{"SocketBuffer", &cfg.SocketBuffer, defaultSocketBuffer, maxSocketBuffer},
	}
	for _, c := range counts {
		if *c.value < 0 || *c.value > c.most {
			return cfg, fmt.Errorf("%w: %s is %d, but must be 0 to %d", ErrConfig, c.name, *c.value, c.most)
		}
		if *c.value == 0 {
			*c.value = c.zero
		}
	}
	return cfg, nil
}
