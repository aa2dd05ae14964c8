package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Config sets up a [Server] or a dialed [Peer]. The zero value works: anonymous
// clients, addresses validated, encrypted for everybody who only listens. A value that is not allowed is an error
// that wraps core.ErrConfig.
type Config struct {
	// ProtocolID names the application, and its version: the same at both ends.
	ProtocolID uint32

	// Mode is the strength of the envelope, the same at both ends. 0 means session.AEAD. session.CRC
	// protects nothing, and excludes keys.
	Mode session.Mode

	// Channels are the channels of messages, the same at both ends in id, kind and
	// format. Nil means connection.DefaultChannels: 0 is unreliable, 1 ordered, 2
	// unordered. A list without an element means none.
	Channels []channel.Config

	// Variants is the set of variants of chunks that this end has, session.VariantSlices and
	// session.VariantRepair; the ends agree on the higher one that both have. 0 means both,
	// so that a loss costs no round trip where the other end has that, too.
	Variants uint8

	// Lanes is how many chunks may be in flight at once, at most 16; the ends agree on
	// the smaller number. 0 means 16, or 1 with a NewScheduler, since lanes of any
	// scheduler need not share the path; NoLanes means none at all. A chunk begins when
	// the path has room for it; in a round trip there is room for 256 KiB a lane. A lane
	// that no chunk has used costs nothing.
	Lanes int

	// Timeout is how long nothing may be heard of the other end, or nothing be acked that
	// was sent, before the connection ends with ErrTimeout: 1 s to 1 hour, in units of 100 ms; the ends agree on the
	// smaller one. 0 means 10 s. It bounds the handshake as well.
	Timeout time.Duration

	// Tick is how long messages wait at most for others to go with: 5 ms to 100 ms. 0
	// means 1/60 s.
	Tick time.Duration

	// MessageRate bounds messages, in bits a second with IP and UDP headers: 64 kbit/s
	// to 8 Gbit/s. 0 means 1 Mbit/s, a full packet in each Tick and as much again for what is lost.
	MessageRate int64

	// Identity and Key are a client's. 0 is anonymous, and has no key; any other has one
	// that is not zero.
	Identity uint64
	Key      session.Key

	// PrivateKey is a server's own, 32 random bytes, and ServerKey what its clients have
	// of it: session.ServerKey of PrivateKey. Then nobody else can act as the server,
	// even with the keys of its clients; and clients without an identity know that they
	// talk to it. Zeros: the server has none.
	PrivateKey session.Key
	ServerKey  session.Share

	// Keys returns the key of an identity that may connect to a server. It is asked each time that a client begins a
	// connection, after its address is proven, and may ask elsewhere in turn: it is called without locks, and meanwhile
	// all others go on. It must return when its context ends, which is after 4 s, or when the server ends: until it
	// returns its clients keep their places. At each socket 1,024 clients can wait for keys, of one IPv4 address or IPv6
	// /64 at most 16, and at most 1/64 of the places that are free; further clients get no answer yet, and ask again. So
	// do clients after an error. A key of zeros, which a map gives for an identity that it does not have,
	// is no key: the client is refused. A key expires when Keys no longer returns it: a connection that lives goes on,
	// also from another address. Nil means that clients are anonymous.
	Keys func(ctx context.Context, identity uint64) (session.Key, error)

	// Admit, when not nil, decides which of the clients that have connected to a server get in: until it has returned nil
	// for one, neither Accept nor Peers returns it, and nothing is broadcast to it. It can look at the identity and the
	// address, and receive what the client sends first: a name, or a ticket. An error ends the connection: with the code
	// and the text of a *ClosedError, or else with code 0. It is no error of the client's Dial, which returned before the
	// client could send anything, but of what the client calls next, such as Recv. Admit is called
	// without locks, for each client in a goroutine of its own; it must return when its context ends, which is
	// after the Timeout of the connection, or when that or the server ends. Clients that wait for it count for MaxPeers.
	Admit func(ctx context.Context, p *Peer) error

	// Anonymous admits clients without identity beside those that Keys knows.
	Anonymous bool

	// MaxPeers is how many connections a server has at once, and MaxPerAddress how many
	// of one IPv4 address or IPv6 /64. Nobody makes room for another: who comes then is
	// refused. 0 means 1024, and a quarter of MaxPeers but at least 16. With several
	// Sockets each has its part.
	MaxPeers, MaxPerAddress int

	// Memory is how many bytes a server keeps at most of what its clients have sent, and for their connections: it
	// has at most so many connections, living or ended and not yet accepted, as fit with all that each can make it
	// keep (docs/LIMITS.md), even if MaxPeers is more. Data of the application are not included. 0 means no
	// other bound than MaxPeers.
	Memory int64

	// Sockets is how many sockets Listen opens at the address, so that a server can use
	// more than two processors. It needs a system that spreads datagrams over sockets
	// (SO_REUSEPORT of Linux, SO_REUSEPORT_LB of FreeBSD); elsewhere Listen fails with
	// errors.ErrUnsupported. 0 means 1.
	Sockets int

	// SendQueue is how many chunks may wait behind those in flight. At most 65536; 0
	// means 8.
	SendQueue int

	// RecvQueue is how many complete chunks may wait for Recv, besides one for each
	// lane. The other end waits while they do. At most 65536; 0 means 4.
	RecvQueue int

	// RecvLimit is how many chunks a connection receives. 0 means no limit.
	RecvLimit int64

	// MaxRate limits the slices of chunks that a connection sends, in bits a second
	// with IP and UDP headers: statemachine.MinRate to MaxRate, or 0 for no limit.
	MaxRate int64

	// ServerRate limits the slices and messages that a server sends to all its clients together, and
	// AnonymousRate those to clients without an identity, as MaxRate for one connection.
	// Connections that wait take turns. 0 means 1 Gbit/s, and a quarter of ServerRate;
	// statemachine.MaxRate is 8 Gbit/s.
	ServerRate, AnonymousRate int64

	// Profile is how slices are paced, and how many are sent beyond those that are missing:
	// Adaptive, which is 0, Redundant, Burst, or Fixed, which sends at MaxRate.
	Profile Profile

	// NewScheduler makes the scheduler of one lane where the ends agreed on
	// session.VariantSlices, NewRepairScheduler where they agreed on session.VariantRepair.
	// They may be called with locks held. Nil makes the schedulers of the Profile, limited to
	// MaxRate.
	NewScheduler       func() (statemachine.Scheduler, error)
	NewRepairScheduler func() (statemachine.Scheduler, error)

	// GiveUp is how long a chunk may be without progress before the connection ends
	// with ErrFailed. 0 means twice the Timeout that the ends agree on.
	GiveUp time.Duration

	// Log, when not nil, gets each event (package eventlog): as much as connections do, and of
	// datagrams that are refused at most one a second of each code, once 256 were. It is called with locks held: it
	// must be quick, and must not call anything of this package.
	Log eventlog.Log

	// KeyLog, when not nil, is given the keys of each connection, so that a capture of it can be read: by
	// whoever has them. It is called with locks held, as Log is.
	KeyLog session.KeyLog

	// Logger, when not nil, gets connections that begin, move and end, refusals, and sockets that do
	// less than they were asked for. It gets no contents but the first characters of the text of a close, no keys
	// and no identities. Of each of the seven kinds of records that others can cause it gets 256, and then one a
	// second; of one IPv4 address or IPv6 /64 16, and then one in 10 s: in the long run at most 150 MB a day,
	// whoever comes. The next record of a kind says how many were left out. It is called with locks held: its
	// handler must be quick, and must not call anything of this package.
	Logger *slog.Logger

	// NoECN turns explicit congestion notification off. It is used where both ends have it: a
	// router then marks slices instead of dropping them, and the sender slows down. It needs
	// Linux, or a socket that is an ECNConn.
	NoECN bool

	// SocketBuffer is how many bytes are asked of the system for each socket's read
	// buffer, and for its write buffer. At most 1<<30; 0 means 512 KiB.
	SocketBuffer int
}

// ECNConn is a net.PacketConn for New and Over that reads the field ECN of IP headers, and sets
// it: explicit congestion notification (RFC 3168).
type ECNConn = udp.ECNConn

// Profile is how slices are paced.
type Profile = lanes.Profile

// The profiles.
const (
	Adaptive  = lanes.Adaptive
	Redundant = lanes.Redundant
	Burst     = lanes.Burst
	Fixed     = lanes.Fixed
)

// NoLanes is the number of lanes of an end that wants no chunks.
const NoLanes = connection.NoLanes

// NoChannels is for Config.Channels of ends that want no messages.
var NoChannels = []channel.Config{}

// What zero stands for.
const (
	defaultRecvQueue    = 4
	defaultSocketBuffer = 2 * codec.MaxChunkSize
	defaultServerRate   = 1_000_000_000
	anonymousShare      = 4 // of it
)

// withDefaults returns the Config with its own zeros replaced by what they mean, or
// an error that wraps core.ErrConfig. What the layers below check is left to them.
func (cfg Config) withDefaults() (Config, error) {
	for _, c := range []struct {
		name    string
		value   int
		most    int
		allowed string
	}{
		{"Config.RecvQueue", cfg.RecvQueue, 1 << 16, "0 to 65536"},
		{"Config.SocketBuffer", cfg.SocketBuffer, 1 << 30, "0 to 1073741824 bytes"},
		{"Config.Sockets", cfg.Sockets, maxSockets, "0 to 256"},
		{"Config.MaxPeers", cfg.MaxPeers, maxPeers, "0 to 16777216"},
		{"Config.MaxPerAddress", cfg.MaxPerAddress, maxPeers, "0 to MaxPeers"},
	} {
		if c.value < 0 || c.value > c.most {
			return cfg, core.ConfigError(c.name, c.value, c.allowed)
		}
	}
	if cfg.Identity != 0 && cfg.Key == (session.Key{}) {
		return cfg, core.ConfigError("Config.Key", "zeros", "32 random bytes, with an Identity")
	}
	if err := cmp.Or(statemachine.CheckRate("Config.ServerRate", cfg.ServerRate), statemachine.CheckRate("Config.AnonymousRate", cfg.AnonymousRate)); err != nil {
		return cfg, err
	}
	setDefault(&cfg.ServerRate, defaultServerRate)
	setDefault(&cfg.AnonymousRate, max(cfg.ServerRate/anonymousShare, statemachine.MinRate))
	setDefault(&cfg.RecvQueue, defaultRecvQueue)
	setDefault(&cfg.SocketBuffer, defaultSocketBuffer)
	setDefault(&cfg.Sockets, 1)
	if cfg.NewScheduler != nil || cfg.NewRepairScheduler != nil {
		setDefault(&cfg.Lanes, 1)
	}
	setDefault(&cfg.Lanes, lanes.Most)
	setDefault(&cfg.MaxPeers, session.DefaultMaxConnections)
	if cfg.Channels == nil {
		cfg.Channels = connection.DefaultChannels()
	}
	if cfg.Memory != 0 {
		fit := (cfg.Memory - int64(cfg.Sockets)*socketMemory) / cfg.peerMemory()
		if fit < 1 {
			return cfg, core.ConfigError("Config.Memory", cfg.Memory, fmt.Sprintf("0, or %d bytes and more", int64(cfg.Sockets)*socketMemory+cfg.peerMemory()))
		}
		cfg.MaxPeers = int(min(int64(cfg.MaxPeers), fit))
		cfg.MaxPerAddress = min(cfg.MaxPerAddress, cfg.MaxPeers)
	}
	setDefault(&cfg.MaxPerAddress, session.DefaultMaxPerAddress(cfg.MaxPeers))
	return cfg, nil
}

// What a server keeps, in bytes: for each socket, for each connection, in each lane beside the chunk, and for each
// sequence of a window beside its data.
const (
	socketMemory   = 8 << 20
	restMemory     = 64 << 10
	laneMemory     = 80 << 10
	sequenceMemory = 64
)

// peerMemory returns how many bytes one connection can make a server keep at most.
func (cfg *Config) peerMemory() int64 {
	kept := restMemory
	if cfg.Lanes != NoLanes {
		kept += cfg.Lanes*(codec.MaxChunkSize+laneMemory) + cfg.RecvQueue*codec.MaxChunkSize
	}
	for _, c := range cfg.Channels {
		if !c.Kind.Reliable() {
			kept += cmp.Or(c.QueueBytes, channel.DefaultQueue)
			continue
		}
		f := c.Format.WithDefaults()
		kept += f.Window * (f.Data + sequenceMemory)
	}
	return int64(kept)
}

// The most that Config.Sockets and Config.MaxPeers may be.
const (
	maxSockets = 256
	maxPeers   = 1 << 24
)

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// connection returns what both kinds of end have in common. An end whose socket reads and sets
// the field ECN offers that (CXM-12).
func (cfg *Config) connection(marks bool, memory *connection.Memory) connection.Config {
	extensions := uint16(session.ExtensionClock)
	if !cfg.NoECN && marks {
		extensions |= session.ExtensionECN
	}
	return connection.Config{
		Terms: session.Terms{
			Protocol: cfg.ProtocolID, Mode: cfg.Mode, Lanes: cfg.Lanes, Variants: cfg.Variants, Timeout: core.FromDuration(cfg.Timeout),
			Extensions: extensions,
		},
		Channels:    cfg.Channels,
		Tick:        core.FromDuration(cfg.Tick),
		MessageRate: cfg.MessageRate,
		Chunks: lanes.Config{
			SendQueue: cfg.SendQueue, ReceiveLimit: cfg.RecvLimit, MaxRate: cfg.MaxRate,
			GiveUp: core.FromDuration(cfg.GiveUp), Profile: cfg.Profile, NewScheduler: cfg.NewScheduler,
			NewRepairScheduler: cfg.NewRepairScheduler,
		},
		Log: cfg.Log, KeyLog: cfg.KeyLog, Memory: memory,
	}
}

func (cfg *Config) client(marks bool) connection.ClientConfig {
	return connection.ClientConfig{Config: cfg.connection(marks, nil), Identity: cfg.Identity, Key: cfg.Key, ServerKey: cfg.ServerKey, Random: rand.Reader}
}

// server returns the configuration of one of a server's sockets.
func (cfg *Config) server(shard int, marks bool) connection.ServerConfig {
	each := func(n int) int { return (n + cfg.Sockets - 1) / cfg.Sockets }
	return connection.ServerConfig{
		Config: cfg.connection(marks, new(connection.Memory)), PrivateKey: cfg.PrivateKey, Anonymous: cfg.Anonymous || cfg.Keys == nil,
		MaxConnections: each(cfg.MaxPeers), MaxPerAddress: each(cfg.MaxPerAddress),
		Shard: uint32(shard), Shards: uint32(cfg.Sockets), Random: rand.Reader,
	}
}

// fields are the names by which layers below know fields of Config.
var fields = map[string]string{
	"session: Mode": "Mode", "session: Timeout": "Timeout", "session: Key": "Key", "session: ServerKey": "ServerKey",
	"session: MaxConnections": "MaxPeers", "session: MaxPerAddress": "MaxPerAddress",
	"connection: Lanes": "Lanes", "connection: Variants": "Variants", "connection: Tick": "Tick", "connection: MessageRate": "MessageRate",
	"lanes: SendQueue": "SendQueue", "lanes: ReceiveLimit": "RecvLimit", "lanes: MaxRate": "MaxRate", "lanes: Profile": "Profile",
	"Profile.MaxRate": "MaxRate", "GiveUp": "GiveUp",
}

// named names the field that a layer below does not take as callers of this package do.
func named(err error) error {
	var e *core.FieldError
	if !errors.As(err, &e) {
		return err
	}
	if name, ok := fields[e.Field]; ok {
		return core.ConfigError("Config."+name, e.Got, e.Allowed)
	}
	if name, ok := strings.CutPrefix(e.Field, "channel: "); ok {
		return core.ConfigError("Config.Channels: "+name, e.Got, e.Allowed)
	}
	return err
}

// settings is a Config with what follows from it.
type settings struct {
	Config
	unreliable uint8 // the first such channel; channel.MaxChannels if no channel is
}

func newSettings(cfg Config) (settings, error) {
	cfg, err := cfg.withDefaults()
	s := settings{cfg, channel.MaxChannels}
	if i := slices.IndexFunc(cfg.Channels, func(c channel.Config) bool { return c.Kind == channel.Unreliable }); i >= 0 {
		s.unreliable = cfg.Channels[i].ID
	}
	return s, err
}

// find returns the place of a channel in Channels, or -1.
func (s *settings) find(id uint8) int {
	return slices.IndexFunc(s.Channels, func(c channel.Config) bool { return c.ID == id })
}

// has reports whether there is such a channel.
func (s *settings) has(id uint8) bool { return s.find(id) >= 0 }

// kind returns the kind of a channel that there is.
func (s *settings) kind(id uint8) channel.Kind { return s.Channels[s.find(id)].Kind }
