package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/spf13/pflag"
)

// connectionFlags are those that send and recv share.
type connectionFlags struct {
	protocolID uint32
	lanes      int
	giveUp     time.Duration
	timeout    time.Duration
	raw        bool
	json       bool
}

const defaultProtocolID = 0x11223344

const (
	minGiveUp = time.Millisecond
	maxGiveUp = 24 * time.Hour
	// idleGiveUps is how many times longer than a chunk in flight a connection
	// without one may be silent.
	idleGiveUps = 3
)

func (c *connectionFlags) add(f *pflag.FlagSet) {
	c.protocolID = defaultProtocolID
	f.Var(protocolID{&c.protocolID}, "protocol-id", "number that both ends must share")
	f.IntVar(&c.lanes, "lanes", 1, "how many chunks may be in flight at once, up to 16; both ends must have the same; 8 fill most long or lossy paths")
	f.DurationVar(&c.giveUp, "give-up", statemachine.DefaultGiveUp.Duration(), "how long the peer may be silent within a chunk; between chunks, 3 times that")
	f.DurationVar(&c.timeout, "timeout", 0, "how long it may take in all; 0 is without limit")
	f.BoolVar(&c.raw, "raw", false, "exactly one chunk of at most 256 KiB and nothing else, to talk to other implementations")
	f.BoolVar(&c.json, "json", false, "print the final statistics as one JSON object, also of a failure")
}

// config returns the transport's configuration that the flags ask for.
func (c *connectionFlags) config() (transport.Config, error) {
	switch {
	case c.giveUp < minGiveUp || c.giveUp > maxGiveUp:
		return transport.Config{}, errors.New("--give-up must be 1ms to 24h")
	case c.lanes < 1 || c.lanes > transport.MaxLanes:
		return transport.Config{}, fmt.Errorf("--lanes must be 1 to %d", transport.MaxLanes)
	case c.raw && c.lanes > 1:
		return transport.Config{}, errors.New("--raw is one chunk, so --lanes must be 1")
	case c.timeout < 0:
		return transport.Config{}, errors.New("--timeout must not be negative")
	}
	return transport.Config{
		ProtocolID: c.protocolID,
		Lanes:      c.lanes,
		GiveUp:     c.giveUp,
		// Between two chunks, and while a peer stores the file, nothing need be
		// heard; but a peer that has gone then must not be waited for.
		IdleTimeout: idleGiveUps * c.giveUp,
	}, nil
}

// checkAddress checks the form of HOST:PORT, and not whether there is such a
// host.
func checkAddress(flag, address string, minPort int) error {
	if address == "" {
		return fmt.Errorf("%s HOST:PORT is needed", flag)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s wants HOST:PORT: %w", flag, err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		n, err = net.LookupPort("udp", port)
	}
	if err != nil || port == "" || n < minPort || n > 65535 {
		return fmt.Errorf("%s wants HOST:PORT, and %q is no port", flag, port)
	}
	return nil
}

// explain says of a peer that fell silent what the flags have to do with it.
func (c *connectionFlags) explain(err error, peer net.Addr, far course) error {
	silent, flag := c.giveUp, "--give-up"
	switch {
	case errors.Is(err, transport.ErrIdle):
		silent, flag = idleGiveUps*c.giveUp, "3 times --give-up"
	case !errors.Is(err, transport.ErrGaveUp):
		return err
	}
	text := fmt.Sprintf("%v stopped answering after %s of %s", peer, formatBytes(float64(far.done)), formatBytes(float64(far.total)))
	switch {
	case !far.begun:
		text = fmt.Sprintf("no answer from %v; is it running, reachable, and using the same --protocol-id and --lanes?", peer)
	case far.done == far.total:
		text = fmt.Sprintf("%v has all %s, but did not say whether it stored them", peer, formatBytes(float64(far.done)))
	}
	return timeoutError(fmt.Sprintf("%s (waited %v, %s)", text, silent, flag))
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
