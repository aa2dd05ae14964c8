package session

import (
	"io"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// What is the same in every session (CXP-5).
const (
	// LinkInterval is how often a client asks in the first LinkFast, LinkSlow how often then.
	LinkInterval = 250 * core.Millisecond
	LinkFast     = 2 * core.Second
	LinkSlow     = core.Second
	// ProofSpacing is the least time between two PROOFs.
	ProofSpacing = 10 * core.Millisecond
	// KeptChallenges is how many challenges a client keeps.
	KeptChallenges = 32
	// CookieUse is for how long a client uses a cookie, CookieLife for how long a server takes it.
	CookieUse  = 4 * core.Second
	CookieLife = 5 * core.Second
	// RefuseWait is how long a client waits for a better answer than an unproven refusal.
	RefuseWait = core.Second
	// HalfOpen is how long a server keeps a connection of which no data came.
	HalfOpen = CookieLife
	// Remember is how long a server knows that a connection ended.
	Remember = 10 * core.Second
	// Replay is how many counters behind the highest are distinguished.
	Replay = 2048
	// KeyLife is how many datagrams an end seals with one key, KeyTime how long it has the keys, FailedAEAD and
	// FailedMAC how many wrong tags it takes with one (CXE-10 to CXE-12).
	KeyLife    = 1 << 40
	KeyTime    = 24 * 3600 * core.Second
	FailedAEAD = 1 << 36
	FailedMAC  = 1 << 32

	// DefaultTimeout is the timeout of Terms.
	DefaultTimeout = 10 * core.Second

	// VariantSlices is the variant of chunks of which each slice has a name and arrives itself
	// (PROTOCOL.md), VariantRepair that with repair slices (REPAIR.md).
	VariantSlices = 1
	VariantRepair = 2
	// DefaultVariants is both.
	DefaultVariants = VariantSlices | VariantRepair

	// ExtensionECN is the extension by which the ends tell each other of marks of congestion.
	ExtensionECN = 1
	// ExtensionClock is the extension by which they tell each other of their clocks.
	ExtensionClock = 2

	// MostLanes is the largest number of lanes.
	MostLanes = 16
	// DefaultMaxConnections is the bound of a server.
	DefaultMaxConnections = 1024

	timeoutUnit        = 100 * core.Millisecond
	leastTimeout       = core.Second
	mostTimeout        = 3600 * core.Second
	leastPerAddress    = 16
	mostMaxConnections = 1 << 24
	endedPerLiving     = 4 // entries of ended connections, for each that can live
	silencePart        = 3 // of ten parts of the time-out
)

// Silence returns after how long without a sign of life a client links again (CXP-5).
func Silence(timeout core.Micros) core.Micros { return timeout * silencePart / 10 }

// Mode is the strength of the envelope: the kind of its datagrams (CXE-2 to CXE-4).
type Mode uint8

// The modes.
const (
	CRC  Mode = 0x40 // unprotected: a checksum against accidents, and never with an identity
	MAC  Mode = 0x41 // HMAC-SHA-256, 8 bytes
	AEAD Mode = 0x42 // ChaCha20-Poly1305
)

func (m Mode) String() string {
	if m < CRC || m > AEAD {
		return "unknown mode"
	}
	return [...]string{"crc", "mac", "aead"}[m-CRC]
}

// Overhead returns how many bytes the envelope of one of the modes adds to a body.
func (m Mode) Overhead() int { return HeadSize + m.tagSize() }

func (m Mode) tagSize() int { return [...]int{crcTag, macTag, aeadTag}[m-CRC] }

// Key is a secret that both ends have, of 32 bytes.
type Key [32]byte

// KeyLog is given the keys of a connection when it is made. Whoever has them reads it.
type KeyLog func(link uint32, c2s, s2c Key)

// Nonce is drawn for each attempt to link.
type Nonce [16]byte

// Terms are what an end offers, or wants (CXP-1). Protocol, Mode and Format must be the same at
// both ends.
type Terms struct {
	Protocol uint32 // PROTOCOL_ID
	// Mode is AEAD by default. CRC protects nothing, has to be asked for, and excludes identities.
	Mode Mode
	// Lanes is how many chunks can be on their way at once, 0 to 16; 0: none at all. The
	// smaller one is agreed.
	Lanes int
	// Variants is the set of chunk variants that this end knows; the highest common one is
	// agreed. 0 is the default, 3: both that there are.
	Variants uint8
	// Extensions is a set, too; the common ones are agreed.
	Extensions uint16
	// Timeout is after how long without a sign of life the connection ends: 1 s to 1 hour, in
	// units of 100 ms; 10 s by default. The smaller one is agreed.
	Timeout core.Micros
	Format  [8]byte // of the layers above (CXP-4)
}

func (t *Terms) setDefaults() {
	setDefault(&t.Mode, AEAD)
	setDefault(&t.Variants, DefaultVariants)
	setDefault(&t.Timeout, DefaultTimeout)
}

func setDefault[V comparable](field *V, value V) {
	var zero V
	if *field == zero {
		*field = value
	}
}

// Complete returns the terms without fields that are 0, or why they are bad (CXP-2).
func (t Terms) Complete() (Terms, error) {
	t.setDefaults()
	switch {
	case t.Mode < CRC || t.Mode > AEAD:
		return t, core.ConfigError("session: Mode", int(t.Mode), "CRC, MAC or AEAD")
	case t.Lanes < 0 || t.Lanes > MostLanes:
		return t, core.ConfigError("session: Lanes", t.Lanes, "0 to 16")
	case t.Timeout < leastTimeout || t.Timeout > mostTimeout || t.Timeout%timeoutUnit != 0:
		return t, core.ConfigError("session: Timeout", t.Timeout, "1 s to 1 hour, in units of 100 ms")
	}
	return t, nil
}

// ClientConfig sets up a Client.
type ClientConfig struct {
	Terms
	Identity uint64 // 0: anonymous
	Key      Key    // of the identity; zeros without one
	// ServerKey is the key of the server, which the server has the private one of: then nobody else can act
	// as the server. Zeros: it has none.
	ServerKey Share
	// KeyLog, when not nil, is given what the datagrams of the connection are sealed with, so that a capture
	// can be read.
	KeyLog KeyLog
	// Random gives the client's nonces and private shares. It must not be predictable, and not fail.
	Random io.Reader
}

// complete returns the configuration without fields that are 0, or why it is bad (CXP-2).
func (c ClientConfig) complete() (ClientConfig, error) {
	var err error
	if c.Terms, err = c.Terms.Complete(); err != nil {
		return c, err
	}
	switch {
	case c.Random == nil:
		return c, core.ConfigError("session: Random", nil, "a source of randomness")
	case c.Identity == 0 && c.Key != Key{}:
		return c, core.ConfigError("session: Key", "set", "zeros without an identity")
	case c.Identity != 0 && c.Mode == CRC:
		return c, core.ConfigError("session: Mode", c.Mode, "MAC or AEAD with an identity")
	case c.ServerKey != (Share{}) && c.Mode == CRC:
		return c, core.ConfigError("session: Mode", c.Mode, "MAC or AEAD with ServerKey")
	case c.ServerKey != (Share{}) && !c.ServerKey.usable():
		return c, core.ConfigError("session: ServerKey", c.ServerKey, "a key that ServerKey returned")
	}
	return c, nil
}

// ServerConfig sets up a Server.
type ServerConfig struct {
	Terms
	// Keys returns the key of an identity other than 0, at once: see Server.NeedsKey. Nil: no identity has one.
	Keys func(identity uint64) (Key, bool)
	// PrivateKey is the server's own, of 32 random bytes; its clients have ServerKey of it. Zeros: it has none.
	PrivateKey Key
	// Anonymous lets clients in without an identity. Nobody who changes what is on the path is kept
	// out of their connections, and with CRC nobody at all.
	Anonymous bool
	// MaxConnections is how many connections live at once: 1 to 2^24; 1,024 by default.
	MaxConnections int
	// MaxPerAddress is how many of them live at one IPv4 address or IPv6 /64; a quarter of
	// MaxConnections by default, but at least 16 if there are so many.
	MaxPerAddress int
	// Shards is how many servers share one address, and Shard which of them this is: link mod
	// Shards is Shard. 0: it is alone.
	Shard, Shards uint32
	// Beside is another server at the same address, whose challenges this one takes: nil if there is none.
	// They can run at the same time.
	Beside *Server
	// KeyLog is as for a client.
	KeyLog KeyLog
	// Random gives the secret, links and private shares. It must not be predictable, and not fail.
	Random io.Reader
	// Log, when not nil, is given the rows that change the state of an entry.
	Log eventlog.Log
}

// DefaultMaxPerAddress returns how many of so many connections one address can have by default.
func DefaultMaxPerAddress(connections int) int {
	return min(max(connections/4, leastPerAddress), connections)
}

// complete returns the configuration without fields that are 0, or why it is bad (CXP-2).
func (c ServerConfig) complete() (ServerConfig, error) {
	var err error
	if c.Terms, err = c.Terms.Complete(); err != nil {
		return c, err
	}
	setDefault(&c.MaxConnections, DefaultMaxConnections)
	setDefault(&c.MaxPerAddress, DefaultMaxPerAddress(c.MaxConnections))
	setDefault(&c.Shards, 1)
	bad := func(field string, got any, allowed string) (ServerConfig, error) {
		return c, core.ConfigError("session: "+field, got, allowed)
	}
	switch {
	case c.Random == nil:
		return bad("Random", nil, "a source of randomness")
	case c.Keys == nil && !c.Anonymous:
		return bad("Keys", nil, "keys, or Anonymous")
	case c.Keys != nil && c.Mode == CRC:
		return bad("Mode", c.Mode, "MAC or AEAD with Keys")
	case c.PrivateKey != (Key{}) && c.Mode == CRC:
		return bad("Mode", c.Mode, "MAC or AEAD with PrivateKey")
	case c.MaxConnections < 1 || c.MaxConnections > mostMaxConnections:
		return bad("MaxConnections", c.MaxConnections, "1 to 2^24")
	case c.MaxPerAddress < 1 || c.MaxPerAddress > c.MaxConnections:
		return bad("MaxPerAddress", c.MaxPerAddress, "1 to MaxConnections")
	case c.Shard >= c.Shards || c.Shards > 1<<16:
		return bad("Shards", c.Shards, "more than Shard, up to 2^16")
	}
	return c, nil
}
