package main

import (
	"fmt"
	"io"
	"time"

	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/spf13/pflag"
)

// connectionFlags are those that send and recv share.
type connectionFlags struct {
	protocolID uint32
	profile    string
	rate       int64
	giveUp     time.Duration
	timeout    time.Duration
	raw        bool
	json       bool
}

const defaultProtocolID = 0x11223344

// idleGiveUps is how many times longer than a chunk in flight a connection
// without one may be silent.
const idleGiveUps = 3

func (c *connectionFlags) add(f *pflag.FlagSet) {
	c.protocolID = defaultProtocolID
	f.Var(protocolID{&c.protocolID}, "protocol-id", "number that both ends must share")
	f.StringVar(&c.profile, "profile", profileNames[0], profileUsage)
	f.Var(bitRate(&c.rate, -1), "rate", "the profile's regular rate, in bits a second; 0 is unlimited")
	f.Lookup("rate").DefValue = "1M"
	f.DurationVar(&c.giveUp, "give-up", statemachine.DefaultGiveUp.Duration(), "how long a chunk may be without progress, and a third of how long the peer may be silent")
	f.DurationVar(&c.timeout, "timeout", 0, "how long the whole transfer may take; 0 is without limit")
	f.BoolVar(&c.raw, "raw", false, "exactly one chunk of at most 256 KiB and nothing else, to talk to other implementations")
	f.BoolVar(&c.json, "json", false, "print the final statistics as one JSON object")
}

// config returns the transport's configuration that the flags ask for.
func (c *connectionFlags) config() (transport.Config, error) {
	profile, err := profileOf(c.profile, c.rate)
	if err != nil {
		return transport.Config{}, err
	}
	if c.giveUp <= 0 || c.timeout < 0 {
		return transport.Config{}, fmt.Errorf("--give-up must be above 0, and --timeout not below")
	}
	return transport.Config{
		ProtocolID:   c.protocolID,
		NewScheduler: func() statemachine.Scheduler { return statemachine.NewBase(profile) },
		GiveUp:       c.giveUp,
		// Between two chunks, and while a peer stores the file, nothing need be
		// heard; but a peer that has gone then must not be waited for.
		IdleTimeout: idleGiveUps * c.giveUp,
	}, nil
}

// warnOfSmallBuffers tells when the system gives less than was asked for: a
// burst then loses slices before they reach the wire.
func warnOfSmallBuffers(w io.Writer, s transport.EndpointStats) {
	for _, b := range []struct {
		name  string
		bytes int
	}{{"receive", s.ReadBuffer}, {"send", s.WriteBuffer}} {
		if b.bytes > 0 && b.bytes < s.BufferWanted {
			fmt.Fprintf(w, "chunkwire: note: the system gives a %s buffer of %s, not %s; a burst may lose slices (on Linux, raise net.core.rmem_max and wmem_max)\n",
				b.name, formatBytes(float64(b.bytes)), formatBytes(float64(s.BufferWanted)))
		}
	}
}
