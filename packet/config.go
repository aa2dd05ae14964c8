package packet

import (
	"github.com/chunkwire/chunkwire/core"
)

// Times and sizes that are the same in every endpoint (PKP-5).
const (
	// LostAfter is after how long a packet without an ack counts as lost (L2).
	LostAfter = core.Second
	// Kept is for how long a late ack of a packet still counts (L5).
	Kept = 4 * core.Second
	// AckDelay is how long an ack waits for a packet to go with (PKA-3).
	AckDelay = 20 * core.Millisecond
	// AckEvery is after how many packets an ack waits no longer (PKA-3).
	AckEvery = 16
	// ReassemblyTime is how long a packet can stay incomplete (PKX-2).
	ReassemblyTime = core.Second

	defaultReceived   = 256
	defaultSentMax    = 8192
	defaultReassembly = 64
	defaultPackets    = 8
	smallestSpace     = 5
	largestFirst      = 1 << 32
)

// Config sets up an Endpoint. A field that is 0 has its default (section 2).
type Config struct {
	Format // the same at both ends

	// FragmentAbove is the largest payload that goes in one datagram, in bytes:
	// FragmentSize to 1,160, which is the default.
	FragmentAbove int
	// Received is how many numbers behind the next one are distinguished: a power of two,
	// 64 to 16,384; 256 by default.
	Received int
	// SentMax is how many sent numbers are kept at most: a power of two, 256 to 16,384;
	// 8,192 by default.
	SentMax int
	// Reassembly is for how many numbers behind the next one fragments are taken: a
	// power of two, at most half of Received; 64 by default, or half of Received.
	Reassembly int
	// ReassemblyPackets is how many packets can be incomplete at once: 1 to Reassembly;
	// 8 by default, or Reassembly.
	ReassemblyPackets int
	// ReassemblyBytes is how many bytes of fragments are stored at most: a packet's
	// largest payload or more; twice that by default.
	ReassemblyBytes int

	// NextToSend and NextToReceive are the numbers with which the two directions begin;
	// the peer's must fit them (PKS-1).
	NextToSend, NextToReceive core.Number
	// Profile is the profile of Congestion.
	Profile Profile

	// SequenceBits is how many bits of a number are used: 16 by default. Fewer, from 5
	// on, make a search of all states possible, and have no other use: both rings can
	// then have 4 numbers and up to a quarter of the space.
	SequenceBits core.Space
}

// complete returns the configuration without fields that are 0, or why it is bad (PKP-3).
func (c Config) complete() (Config, error) {
	c.setDefaults()
	least, leastSent, most := 64, 256, 1<<14
	if c.SequenceBits < core.Wire16 {
		least, leastSent, most = 4, 4, 1<<c.SequenceBits/4
	}
	if err := c.Format.validate(); err != nil {
		return c, err
	}
	bad := func(field string, got any, allowed string) (Config, error) {
		return c, core.ConfigError("packet: "+field, got, allowed)
	}
	switch {
	case c.SequenceBits < smallestSpace || c.SequenceBits > core.Wire16:
		return bad("SequenceBits", int(c.SequenceBits), "5 to 16")
	case c.FragmentAbove < c.FragmentSize || c.FragmentAbove > largestAbove:
		return bad("FragmentAbove", c.FragmentAbove, "FragmentSize to 1160")
	case !powerOfTwo(c.Received, least, most):
		return bad("Received", c.Received, "a power of two, 64 to 16384")
	case !powerOfTwo(c.SentMax, leastSent, most):
		return bad("SentMax", c.SentMax, "a power of two, 256 to 16384")
	case !powerOfTwo(c.Reassembly, 1, c.Received/2):
		return bad("Reassembly", c.Reassembly, "a power of two, at most half of Received")
	case c.ReassemblyPackets < 1 || c.ReassemblyPackets > c.Reassembly:
		return bad("ReassemblyPackets", c.ReassemblyPackets, "1 to Reassembly")
	case c.ReassemblyBytes < c.MaxPacket():
		return bad("ReassemblyBytes", c.ReassemblyBytes, "the largest payload of a packet or more")
	case c.NextToSend < 0 || c.NextToSend > largestFirst:
		return bad("NextToSend", c.NextToSend, "0 to 2^32")
	case c.NextToReceive < 0 || c.NextToReceive > largestFirst:
		return bad("NextToReceive", c.NextToReceive, "0 to 2^32")
	case c.Profile > ProfileArticle:
		return bad("Profile", int(c.Profile), "one of this package")
	}
	return c, nil
}

func (c *Config) setDefaults() {
	c.Format = c.Format.WithDefaults()
	setDefault(&c.SequenceBits, core.Wire16)
	setDefault(&c.FragmentAbove, largestAbove)
	setDefault(&c.Received, defaultReceived)
	setDefault(&c.SentMax, defaultSentMax)
	setDefault(&c.Reassembly, min(defaultReassembly, c.Received/2))
	setDefault(&c.ReassemblyPackets, min(defaultPackets, c.Reassembly))
	setDefault(&c.ReassemblyBytes, 2*c.MaxPacket())
}

func setDefault[V int | core.Space](field *V, value V) {
	if *field == 0 {
		*field = value
	}
}

// powerOfTwo reports whether n numbers fit the space without a rest (PKP-4).
func powerOfTwo(n, least, most int) bool { return n >= least && n <= most && n&(n-1) == 0 }
