package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// connectionFlags are those that send and recv share.
type connectionFlags struct {
	protocolID uint32
	lanes      int
	giveUp     time.Duration
	timeout    time.Duration
	raw        bool
	json       bool
	sends      bool // the command is send
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
	f.Var(protocolID{&c.protocolID}, "protocol-id", "number that both ends must share; the default is public, and it is no secret on the wire either")
	f.IntVar(&c.lanes, "lanes", 1, "how many chunks may be in flight at once, up to 16; both ends must have the same; 8 fill most long or lossy paths")
	f.DurationVar(&c.giveUp, "give-up", statemachine.DefaultGiveUp.Duration(), "how long the peer may be silent within a chunk; between chunks, 3 times that")
	f.DurationVar(&c.timeout, "timeout", 0, "how long it may take in all; 0 is without limit")
	f.BoolVar(&c.raw, "raw", false, "exactly one chunk of at most 256 KiB and nothing else, for transfers to and from other implementations")
	f.BoolVar(&c.json, "json", false, "print the final statistics as one JSON object, also of a failure")
}

// config returns the transport's configuration that the flags ask for.
func (c *connectionFlags) config() (plain.Config, error) {
	switch {
	case c.giveUp < minGiveUp || c.giveUp > maxGiveUp:
		return plain.Config{}, errors.New("--give-up must be 1ms to 24h")
	case c.lanes < 1 || c.lanes > plain.MaxLanes:
		return plain.Config{}, fmt.Errorf("--lanes must be 1 to %d", plain.MaxLanes)
	case c.raw && c.lanes > 1:
		return plain.Config{}, errors.New("--raw is one chunk, so --lanes must be 1")
	case c.timeout < 0:
		return plain.Config{}, errors.New("--timeout must not be negative")
	}
	return plain.Config{
		ProtocolID: c.protocolID,
		Lanes:      c.lanes,
		GiveUp:     c.giveUp,
		// Between two chunks, and while a peer stores the file, nothing need be
		// received; but a peer that has gone then must not be waited for.
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

// explain returns, for a peer that fell silent, what happened, how far the transfer
// had come, and what the flags have to do with it. Other errors stay as they are.
func (c *connectionFlags) explain(err error, peer net.Addr, far course, st plain.EndpointStats) error {
	waited := ""
	switch {
	case errors.Is(err, plain.ErrRefused) && !far.begun:
		return timeoutError(fmt.Sprintf("nobody listens at %v (connection refused); start the receiver first, and check host and port", peer))
	case errors.Is(err, plain.ErrRefused):
		return timeoutError(fmt.Sprintf("%v has gone after %s (connection refused)", peer, far))
	case errors.Is(err, plain.ErrIdle):
		waited = fmt.Sprintf("(waited %v, 3 times --give-up)", idleGiveUps*c.giveUp)
	case errors.Is(err, plain.ErrGaveUp):
		waited = fmt.Sprintf("(waited %v, --give-up)", c.giveUp)
	default:
		return err
	}
	return timeoutError(c.silence(peer, far, st) + " " + waited)
}

// silence returns what a silence after so much of a transfer may mean.
func (c *connectionFlags) silence(peer net.Addr, far course, st plain.EndpointStats) string {
	local := ""
	if st.WriteErrors > 0 {
		local = fmt.Sprintf("; this system could not send %s: %v", countOf(st.WriteErrors, "datagram"), st.LastWriteError)
	}
	switch {
	case !far.begun && st.WriteErrors > 0 && st.WriteErrors == st.DatagramsOut:
		return fmt.Sprintf("cannot send to %v: %v", peer, st.LastWriteError)
	case !far.begun:
		return fmt.Sprintf("no answer from %v; is it running, reachable, and using the same --protocol-id and --lanes?%s", peer, local)
	case c.sends && far.done == far.total:
		return fmt.Sprintf("%v has all %s, but has not said whether it stored them; it may still be writing, or be another implementation, which needs --raw here%s", peer, formatBytes(float64(far.done)), local)
	case c.sends && far.done == 0 && !c.raw:
		return fmt.Sprintf("%v took the first chunk and nothing after it; is it a recv --raw, or another implementation? They need --raw here%s", peer, local)
	}
	return fmt.Sprintf("%v stopped answering after %s%s", peer, far, local)
}

// warnOfSmallBuffers says when the system gives less than was asked for: a burst
// then loses slices before they reach the wire.
func warnOfSmallBuffers(w io.Writer, s plain.EndpointStats) {
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
