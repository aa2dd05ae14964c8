package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/transport"
)

// play is what the flags of play say.
type play struct {
	pathFlags
	logFlag
	clients  int
	world    int64
	mode     string
	metrics  string
	seed     uint64
	duration time.Duration
	json     bool

	events  *eventLog                      // of --log
	listen  func() (net.PacketConn, error) // opens a socket
	linkFor time.Duration                  // how long a client can take to connect
}

const (
	mostClients  = 32
	leastPlay    = time.Second
	mostPlay     = 10 * time.Minute
	settleLimit  = 20 * time.Second // after the end, for what is on its way
	playTimeout  = 5 * time.Second  // of the connections
	playLinkTime = 30 * time.Second
)

func newPlay() *cobra.Command {
	p := play{linkFor: playLinkTime, listen: func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) }}
	cmd := &cobra.Command{
		Use:   "play",
		Short: "Play a small game over connections through a bad network, and check the promise of each service",
		Long: `play runs a server and some clients over real UDP sockets on loopback, with a relay in
between that delays and loses datagrams. Each client has one connection, and over it go:

  positions  60 times a second, each way, unreliable: lost ones are not resent
  chat       ordered; the server passes each line on to all clients
  inventory  unordered; the server answers each change
  the world  a chunk to each client, in the middle of the game

In mid-game the first client gets another address without a notice, and the last one
is killed, without a notice to the server, and returns under the same identity.

Each second there is a table on a terminal, or a line in a pipe. At the end each message is
accounted for. Chat must have arrived completely and in order, each change of the inventory
once, each world unchanged, no position twice, and at least four fifths of the positions
that the network lets through. On the killed connection, the messages that arrived must be
all that were sent up to some point.
` + exitHelp,
		Example: `  chunkwire play
  chunkwire play --loss 20 --rtt 120ms --jitter 20ms --for 30s
  chunkwire play --clients 16 --rate 2M --queue 64K
  chunkwire play --mode mac --for 3s --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(); err != nil {
				return usageError(cmd, err)
			}
			return p.run(cmd.Context(), newScreen(cmd.OutOrStdout()), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	p.loss = 5
	p.pathFlags.add(f)
	f.IntVar(&p.clients, "clients", 4, fmt.Sprintf("how many clients, at most %d", mostClients))
	f.Var(byteSize(&p.world, codec.MaxChunkSize, codec.MaxChunkSize), "world", "size of the world, at most 256K")
	f.StringVar(&p.mode, "mode", modeNames[0], "protection of the datagrams: "+strings.Join(keyedModes, ", "))
	f.Uint64Var(&p.seed, "seed", 1, "seed of the relay's chance and of the world's bytes")
	f.DurationVar(&p.duration, "for", 10*time.Second, "how long to play, 1s to 10m")
	f.StringVar(&p.metrics, "metrics", "", "address where the server's metrics are served by HTTP meanwhile, `HOST:PORT`: /metrics for Prometheus, and /debug/vars")
	p.logFlag.add(f)
	f.BoolVar(&p.json, "json", false, "print one JSON object a second and for each event, and one at the end, and nothing else")
	completeFrom(cmd, "mode", keyedModes)
	return cmd
}

func (p *play) check() error {
	switch {
	case p.clients < 1 || p.clients > mostClients:
		return fmt.Errorf("--clients must be 1 to %d", mostClients)
	case p.world < 1:
		return fmt.Errorf("--world must be 1 to %d bytes", codec.MaxChunkSize)
	case p.duration < leastPlay || p.duration > mostPlay:
		return fmt.Errorf("--for must be %v to %v", leastPlay, mostPlay)
	}
	if !slices.Contains(keyedModes, p.mode) {
		return fmt.Errorf("--mode is one of %s here, since its clients have keys", strings.Join(keyedModes, ", "))
	}
	if p.metrics != "" {
		if err := checkAddress("--metrics", p.metrics, 0); err != nil {
			return err
		}
	}
	return p.pathFlags.check()
}

func (p *play) run(ctx context.Context, out screen, stderr io.Writer) (err error) {
	if p.events, err = p.logFlag.open("play", eventlog.Network); err != nil {
		return err
	}
	defer p.events.close(note{stderr})
	view := newPlayLines(out)
	if p.json {
		view = newPlayObjects(out.w)
		out.w = io.Discard
	}
	g, err := p.setUp(view)
	if err != nil {
		return err
	}
	defer g.close()
	stop, err := serveMetrics(p.metrics, g.server, stderr)
	if err != nil {
		return err
	}
	defer stop()
	out.print(fmt.Sprintf("%s → relay %v → server %v", countOf(int64(p.clients), "client"), g.relayAddr, g.server.Addr()))
	out.print(p.headline())
	err = g.run(ctx)
	result := g.judge()
	if err == nil && len(result.Faults) > 0 {
		err = fmt.Errorf("%w: %s", errPromise, result.Faults[0])
	}
	return errors.Join(err, view.summary(g, result, err))
}

// headline says what is played, and over what.
func (p *play) headline() string {
	line := fmt.Sprintf("mode %s, %d positions a second each way, a world of %s, RTT %v, %g %% loss each way",
		p.mode, positionsPerSecond, exactBytes(p.world), p.rtt, p.loss)
	if p.rate > 0 {
		line += ", " + formatBits(float64(p.rate))
	}
	return line
}

// config is what both ends have in common.
func (p *play) config() transport.Config {
	mode, _ := modeOf(p.mode) // it was checked
	return transport.Config{ProtocolID: defaultProtocolID, Mode: mode, Timeout: playTimeout, Log: p.events.fromNow()}
}
