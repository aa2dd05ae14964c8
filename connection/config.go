package connection

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Constants of every connection (CXP-5).
const (
	// CloseTime is for how long an end that closes answers.
	CloseTime = core.Second
	// CloseFirst is the time from the first CLOSE to the second; it doubles from one to the
	// next.
	CloseFirst = 20 * core.Millisecond
	// Closes is how often CLOSE is sent without being asked for.
	Closes = 6
	// BadTick is the least time between two ticks in the mode BAD.
	BadTick = packet.BadInterval
	// YieldTime is for how long slices yield to messages after one was sent (CXM-5).
	YieldTime = core.Second
	// MessageBurst is how many bytes can go at once, whatever the rate.
	MessageBurst = 16384

	// The defaults of section 2.
	DefaultTick        = 16_667 * core.Micros(1)
	DefaultMessageRate = 1_000_000

	// NoLanes is the number of lanes of an end that wants no chunks.
	NoLanes = -1

	leastTick        = 5 * core.Millisecond
	mostTick         = 100 * core.Millisecond
	leastMessageRate = 64_000
	mostMessageRate  = 8_000_000_000
	keepAlivePart    = 8 // of the time-out
	mostKeepAlive    = 15 * core.Second
	badShare         = 4 // of the rate, while the mode is BAD
	reportShare      = 4 // of it, for reports
	mostGiveUp       = 3600 * core.Second
	received         = 2048 // numbers behind the next one that are distinguished (CXP-6)
	mostBehind       = 256  // of which reliable channels have these (CXM-26)
)

// Config sets up a connection. A field that is 0 has its default.
type Config struct {
	// Terms are what the handshake offers. Here Lanes is lanes.Most by default, and NoLanes offers none;
	// Format is filled in.
	session.Terms

	Packets packet.Format // the same at both ends
	// Channels are the same at both ends in id, kind and format. Nil: DefaultChannels. A GiveUp
	// of 0 is twice the time-out that both ends agree on.
	Channels []channel.Config

	// Tick is the time between two packets that messages make due: 5 to 100 ms; 16,667 us by
	// default.
	Tick core.Micros
	// MessageRate bounds messages, in bits a second with all headers: 64 kbit/s to 8 Gbit/s;
	// 1 Mbit/s by default. It is a quarter of that while the mode is BAD.
	MessageRate int64
	// Chunks sets up the lanes; how many there are is agreed. A GiveUp of 0 is as in
	// channels.
	Chunks lanes.Config
	// Log, when not nil, gets the events of connections, packets, messages and chunks
	// (package eventlog); the Log of Chunks is not used. A connection has the number of its link.
	Log eventlog.Log
	// KeyLog, when not nil, is given the keys of each connection, so that a capture of it can be read.
	KeyLog session.KeyLog
	// Seed says which numbers of packets are skipped, so that who acks without receiving is
	// found (CXM-18). It must be secret and new for each connection. Zeros: none are. A Client
	// and a Server draw it themselves.
	Seed [SeedSize]byte
	// Memory is buffers that many connections can share that one goroutine runs; nil: each has
	// its own.
	Memory *Memory
}

// Memory is buffers for one event at a time. The zero value is ready to use.
type Memory struct {
	body    *[]byte // that was opened; nil between events
	payload []byte  // that is composed
	record  Record  // that was decoded last
	earlier Record  // of the same payload, decoded again
	slices  statemachine.Memory

	refusals eventlog.Limit
}

// opened are buffers for what is decrypted: a connection at rest has none.
var opened = sync.Pool{New: func() any { return new([]byte) }}

// open opens a datagram. The body is in it, or in this memory until forget.
func (m *Memory) open(link *session.Link, datagram []byte) (body []byte, err error) {
	if link.Mode() != session.AEAD {
		return link.OpenInPlace(nil, datagram)
	}
	m.body = opened.Get().(*[]byte)
	if body, err = link.OpenInPlace((*m.body)[:0], datagram); err != nil {
		m.forget()
		return nil, err
	}
	*m.body = body
	return body, nil
}

// forget ends references into a datagram and into an opened body.
func (m *Memory) forget() {
	m.record, m.earlier = Record{}, Record{}
	if m.body != nil {
		opened.Put(m.body)
		m.body = nil
	}
}

// DefaultChannels returns the channels of a Config that has none: 0 is unreliable and goes first,
// 1 is ordered, 2 unordered.
func DefaultChannels() []channel.Config {
	return []channel.Config{
		{ID: 0, Kind: channel.Unreliable, Priority: 2},
		{ID: 1, Kind: channel.Ordered, Priority: 1},
		{ID: 2, Kind: channel.Unordered, Priority: 1},
	}
}

// Complete returns the configuration without fields that are 0, with the format of what is
// above the session, or why it is bad: an error that wraps core.ErrConfig (CXP-2).
func (c Config) Complete() (Config, error) {
	c.Packets = c.Packets.WithDefaults()
	if c.Channels == nil {
		c.Channels = DefaultChannels()
	}
	setDefault(&c.Tick, DefaultTick)
	setDefault(&c.MessageRate, DefaultMessageRate)
	setDefault(&c.Lanes, lanes.Most)
	setDefault(&c.Timeout, session.DefaultTimeout)
	setDefault(&c.Variants, session.DefaultVariants)
	if c.Memory == nil {
		c.Memory = new(Memory)
	}
	switch {
	case c.Lanes < NoLanes || c.Lanes > lanes.Most:
		return c, core.ConfigError("connection: Lanes", c.Lanes, "NoLanes, or 0 to 16")
	case c.Variants > session.DefaultVariants:
		return c, core.ConfigError("connection: Variants", c.Variants, "1, 2, 3, or 0 for 3")
	case c.Extensions&^(session.ExtensionECN|session.ExtensionClock) != 0:
		return c, core.ConfigError("connection: Extensions", c.Extensions, "a set of session.ExtensionECN and session.ExtensionClock")
	case c.Tick < leastTick || c.Tick > mostTick:
		return c, core.ConfigError("connection: Tick", c.Tick, "5 to 100 ms")
	case c.MessageRate < leastMessageRate || c.MessageRate > mostMessageRate:
		return c, core.ConfigError("connection: MessageRate", c.MessageRate, "64 kbit/s to 8 Gbit/s")
	}
	if _, err := c.terms().Complete(); err != nil {
		return c, err
	}
	c.Terms.Format = c.format()
	var err error
	for variant := uint8(session.VariantSlices); variant <= session.VariantRepair && err == nil; variant *= 2 {
		if c.Variants&variant != 0 {
			_, err = c.machines(session.Agreed{Lanes: max(c.Lanes, 0), Variant: variant, Timeout: c.Timeout}, nil)
		}
	}
	return c, err
}

func setDefault[V comparable](field *V, value V) {
	var zero V
	if *field == zero {
		*field = value
	}
}

// terms returns what the session offers.
func (c *Config) terms() session.Terms {
	t := c.Terms
	t.Lanes = max(t.Lanes, 0)
	return t
}

// format returns the summary of what both ends must agree on above the session (CXP-4).
func (c *Config) format() [8]byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(c.Packets.FragmentSize))
	b = binary.LittleEndian.AppendUint16(b, uint16(c.Packets.MaxFragments))
	b = append(b, byte(len(c.Channels)))
	byID := slices.SortedFunc(slices.Values(c.Channels), func(a, b channel.Config) int { return cmp.Compare(a.ID, b.ID) })
	for _, ch := range byID {
		f := ch.Format.WithDefaults()
		if !ch.Kind.Reliable() {
			f = channel.Format{}
		}
		b = append(b, ch.ID, byte(ch.Kind))
		b = binary.LittleEndian.AppendUint16(b, uint16(f.Window))
		b = binary.LittleEndian.AppendUint16(b, uint16(f.Data))
		b = append(b, byte(f.Group))
	}
	sum := sha256.Sum256(b)
	return [8]byte(sum[:])
}

// machines is what a connection is made of.
type machines struct {
	packets *packet.Endpoint
	mux     *channel.Mux
	lanes   *lanes.Lanes // nil without lanes
}

// machines makes the machines of a connection whose ends agreed (CXP-6).
func (c *Config) machines(agreed session.Agreed, log eventlog.Log) (m machines, err error) {
	giveUp := min(2*agreed.Timeout, mostGiveUp)
	channels := slices.Clone(c.Channels)
	for i := range channels {
		setDefault(&channels[i].GiveUp, giveUp)
	}
	if m.packets, err = packet.NewEndpoint(packet.Config{Format: c.Packets, Received: received}); err != nil {
		return m, err
	}
	if m.mux, err = channel.NewMux(channel.MuxConfig{Channels: channels, MaxPacket: c.Packets.MaxPacket()}); err != nil {
		return m, err
	}
	if agreed.Lanes == 0 {
		return m, nil
	}
	chunks := c.Chunks
	chunks.Lanes, chunks.Log = agreed.Lanes, log
	setDefault(&chunks.GiveUp, giveUp)
	if chunks.Memory == nil {
		chunks.Memory = &c.Memory.slices
	}
	chunks.Repair = agreed.Variant == session.VariantRepair // RPI-3
	m.lanes, err = lanes.New(chunks)
	return m, err
}
