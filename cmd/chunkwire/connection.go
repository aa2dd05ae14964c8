package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// connectionFlags are those that send and recv share.
type connectionFlags struct {
	variantFlags
	logFlag
	protocolID uint32
	key, mode  string
	keyLog     string
	lanes      int
	giveUp     time.Duration
	timeout    time.Duration
	raw        bool
	verbose    bool
	events     *eventLog // of --log
	json       bool
	sends      bool // the command is send
}

const defaultProtocolID = 0x11223344

const (
	minGiveUp = time.Millisecond
	maxGiveUp = 24 * time.Hour
	// The same of a connection (CXP-5).
	minTimeout = time.Second
	maxTimeout = time.Hour
	// idleGiveUps is how many times longer than a chunk in flight a plain connection
	// without one can be silent.
	idleGiveUps = 3
)

func (c *connectionFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	c.protocolID = defaultProtocolID
	f.Var(protocolID{&c.protocolID}, "protocol-id", "number that both ends must share; the default is public, and no value is secret on the wire")
	c.variantFlags.add(cmd, "the plain chunk protocol, as other implementations have it: no handshake, no keys, and anyone can forge")
	f.StringVar(&c.key, "key", "", "`FILE` with the identity and key of this end, or at recv of all its senders; 'chunkwire keygen' makes one")
	f.StringVar(&c.mode, "mode", "", "protection of the datagrams, the same at both ends: "+strings.Join(modeNames, ", ")+" (default aead; without --key only a passive observer cannot read it; unprotected has no --key)")
	f.StringVar(&c.keyLog, "key-log", "", "write the keys of connections to a new `FILE`, for inspect: anyone who has it can read the recorded traffic")
	f.IntVar(&c.lanes, "lanes", 0, "number of chunks in flight at once, 1 to 16; the ends agree on the smaller number; with --plain both must have the same. 0 is 16, with --plain 1")
	f.DurationVar(&c.giveUp, "give-up", statemachine.DefaultGiveUp.Duration(), "longest silence of the other end; with --plain, within a chunk, and 3 times this between chunks")
	f.DurationVar(&c.timeout, "timeout", 0, "longest time in all; 0: no limit")
	f.BoolVar(&c.raw, "raw", false, "exactly one chunk of at most 256 KiB and nothing else: no name, no size, no hash")
	f.BoolVar(&c.verbose, "verbose", false, "write to standard error when a connection begins, moves or ends, and each refusal")
	c.logFlag.add(f)
	f.BoolVar(&c.json, "json", false, "print the final statistics as one JSON object, also after a failure")
	completeFrom(cmd, "mode", modeNames)
}

// check returns the fault of the flags, if any. The profile is empty where nothing is sent.
func (c *connectionFlags) check(profile string) error {
	least, most, allowed := minTimeout, maxTimeout, "1s to 1h, or with --plain 1ms to 24h"
	if c.plain {
		least, most, allowed = minGiveUp, maxGiveUp, "1ms to 24h"
	}
	switch {
	case c.plain && (c.key != "" || c.mode != ""):
		return errors.New("--plain has no keys and no modes; leave out --plain, or --key and --mode")
	case c.giveUp < least || c.giveUp > most:
		return errors.New("--give-up must be " + allowed)
	case c.lanes < 0 || c.lanes > plain.MaxLanes:
		return fmt.Errorf("--lanes must be 1 to %d", plain.MaxLanes)
	case c.raw && c.lanes > 1:
		return errors.New("--raw is one chunk, so --lanes must be 1")
	case c.timeout < 0:
		return errors.New("--timeout must not be negative")
	}
	if err := c.checkMode(); err != nil {
		return err
	}
	return c.resolve(profile)
}

func (c *connectionFlags) checkMode() error {
	if c.mode == "" {
		return nil
	}
	mode, err := modeOf(c.mode)
	if err == nil && c.key != "" && mode == session.CRC {
		err = errors.New("--mode unprotected and --key do not go together: nothing would protect the key's identity")
	}
	return err
}

// ask is what a command asks of the protocol, besides the flags that both share.
type ask struct {
	lanes     int // if the flags have none; 0 is the most
	maxPeers  int
	recvLimit int64
	pace      pace.Pace
}

// protocol returns what the flags ask for. It reads the key file.
func (c *connectionFlags) protocol(n note, a ask) (protocol, error) {
	lanes := cmp.Or(c.lanes, a.lanes)
	if c.plain {
		return plainProtocol{c, plain.Config{
			ProtocolID: c.protocolID, Lanes: lanes, GiveUp: c.giveUp,
			// Between two chunks, and while a peer stores the file, nothing need be
			// received; but a peer that has gone then must not be waited for.
			IdleTimeout: idleGiveUps * c.giveUp,
			MaxPeers:    a.maxPeers, RecvLimit: a.recvLimit, Repair: c.repair,
			Profile: a.pace.Profile, MaxRate: a.pace.Limit(), NewScheduler: a.pace.Base, Logger: c.logger(n), Log: c.events.fromNow(),
		}}, nil
	}
	cfg := transport.Config{
		ProtocolID: c.protocolID, Lanes: lanes, Timeout: c.giveUp.Round(timeoutUnit),
		Channels: []channel.Config{}, // chunks only
		MaxPeers: a.maxPeers, RecvLimit: a.recvLimit,
		Profile: a.pace.Profile, MaxRate: a.pace.Limit(), NewScheduler: a.pace.Base, Logger: c.logger(n), Log: c.events.fromNow(),
	}
	if !c.repair {
		cfg.Variants = session.VariantSlices
	}
	err := c.addKeys(n, &cfg)
	return peerProtocol{c, cfg}, err
}

// logger returns the logger of --verbose; nil without.
func (c *connectionFlags) logger(n note) *slog.Logger {
	if !c.verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(n.w, nil))
}

// timeoutUnit is the unit of a connection's timeout (CXP-5).
const timeoutUnit = 100 * time.Millisecond

// addKeys reads the key file, if there is one.
func (c *connectionFlags) addKeys(n note, cfg *transport.Config) (err error) {
	cfg.Mode = session.AEAD
	if c.key != "" {
		warnOfOpenFile(n, c.key)
	}
	if c.keyLog != "" {
		log, err := openKeyLog(c.keyLog)
		if err != nil {
			return err
		}
		cfg.KeyLog = log.write
	}
	if c.mode != "" {
		cfg.Mode, _ = modeOf(c.mode) // it was checked
	}
	switch {
	case c.key == "":
	case c.sends:
		var own credential
		own, err = readCredential(c.key)
		cfg.Identity, cfg.Key = own.identity, own.key
	default:
		var all []credential
		all, err = readCredentials(c.key)
		cfg.Keys = keysOf(all)
	}
	return err
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
