package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/packet"
)

// packets is what the flags of packets say.
type packets struct {
	pathFlags
	size, large int64
	every       int
	perSecond   int
	cadence     bool
	profile     string
	seed        uint64
	duration    time.Duration
	json        bool

	listen func() (net.PacketConn, error) // opens a socket
}

const (
	leastPayload     = 8 // bytes: the number of the payload
	mostPerSecond    = 1000
	packetsByDefault = 60
)

// packetProfiles are the values of --profile, the default first.
var packetProfiles = []string{packet.ProfileDefault: "default", packet.ProfileArticle: "article"}

func newPackets() *cobra.Command {
	p := packets{listen: func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) }}
	cmd := &cobra.Command{
		Use:   "packets",
		Short: "Exchange numbered packets through a bad network, and show acks, losses and round trips",
		Long: `packets runs two ends of the packet layer over real UDP sockets on loopback, with a
relay in between that delays and loses datagrams. Each sends --per-second packets a
second; one in --every is large and goes in fragments. Nothing is sent again.

Each second there is a line for each end: how many packets it sent, how many acks came
and how many packets it gave up as lost in that second; the round trip, its jitter, and
the mode of sending (BAD, or GOOD once the path was good for some seconds).

The mode only advises. With --cadence an end follows it: 30 packets a second in GOOD, 10
in BAD, in place of --per-second.

Each payload that arrives is compared with what was sent, and each ack with what arrived:
a difference is a mismatch. If nothing arrives at all, that is a time-out. After --for the
ends send no more, and wait until every packet is acked or lost.

With --json each second is one object ("kind":"second"), and the end another one
("kind":"summary"). A figure that is not known yet is null.
` + exitHelp,
		Example: `  chunkwire packets
  chunkwire packets --loss 20 --rtt 120ms --jitter 20ms --for 30s
  chunkwire packets --rtt 300ms --profile article --cadence
  chunkwire packets --for 0 --large 16K --every 5
  chunkwire packets --for 5s --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(); err != nil {
				return usageError(cmd, err)
			}
			return p.run(cmd.Context(), newScreen(cmd.OutOrStdout()))
		},
	}
	f := cmd.Flags()
	p.loss = 5
	p.pathFlags.add(f)
	most := int64(packet.Format{}.MaxPacket())
	f.Var(byteSize(&p.size, 200, most), "size", "size of a payload, 8 bytes to 16K")
	f.Var(byteSize(&p.large, 3000, most), "large", "size of a large payload, 8 bytes to 16K")
	f.IntVar(&p.every, "every", 10, "one in so many payloads is large; 0: none")
	f.IntVar(&p.perSecond, "per-second", packetsByDefault, "packets a second each way, at most 1000")
	f.BoolVar(&p.cadence, "cadence", false, "send as the mode advises: 30 a second in GOOD, 10 in BAD")
	f.StringVar(&p.profile, "profile", packetProfiles[0], "which round trips are bad: default (above 250 ms and 1.5 times the smallest), article (above 250 ms)")
	f.Uint64Var(&p.seed, "seed", 1, "seed of the relay's chance and of the payloads' bytes")
	f.DurationVar(&p.duration, "for", 10*time.Second, "how long to send; 0 is until interrupted")
	f.BoolVar(&p.json, "json", false, "print one JSON object a second and one at the end, and nothing else")
	completeFrom(cmd, "profile", packetProfiles)
	return cmd
}

func (p *packets) check() error {
	switch {
	case p.size < leastPayload || p.large < leastPayload:
		return errors.New("--size and --large must be 8 to 16384 bytes")
	case p.every < 0:
		return errors.New("--every must not be negative")
	case p.perSecond < 1 || p.perSecond > mostPerSecond:
		return fmt.Errorf("--per-second must be 1 to %d", mostPerSecond)
	case p.duration < 0:
		return errors.New("--for must not be negative")
	}
	if _, err := p.config(); err != nil {
		return err
	}
	return p.pathFlags.check()
}

// config returns that of both ends.
func (p *packets) config() (packet.Config, error) {
	for profile, name := range packetProfiles {
		if name == p.profile {
			return packet.Config{Profile: packet.Profile(profile)}, nil
		}
	}
	return packet.Config{}, fmt.Errorf("no profile %q; there are: %s", p.profile, strings.Join(packetProfiles, ", "))
}

func (p *packets) run(ctx context.Context, out screen) error {
	var show packetView = packetLines(out)
	if p.json {
		show = packetObjects(out.w)
		out.w = io.Discard
	}
	x, err := p.setUp(show)
	if err != nil {
		return err
	}
	defer x.close()
	out.print(fmt.Sprintf("client %v → relay %v → server %v", x.ends[0].socket.LocalAddr(), x.ends[0].peer, x.ends[1].socket.LocalAddr()))
	out.print(p.headline())
	err = x.run(ctx)
	if err == nil && x.ends[0].total.Delivered+x.ends[1].total.Delivered == 0 {
		err = timeoutError("nothing arrived at either end; allow more with --for, or less with --loss")
	}
	return errors.Join(err, show.summary(x, p, err))
}

// headline says what is sent, and over what.
func (p *packets) headline() string {
	line := fmt.Sprintf("%d packets a second each way", p.perSecond)
	if p.cadence {
		line = "30 packets a second each way in GOOD, 10 in BAD"
	}
	line += fmt.Sprintf(", %s", countOf(p.size, "byte"))
	if p.every > 0 {
		line += fmt.Sprintf(" (one in %d: %d)", p.every, p.large)
	}
	line += fmt.Sprintf(", RTT %v, %g %% loss each way", p.rtt, p.loss)
	if p.rate > 0 {
		line += ", " + formatBits(float64(p.rate))
	}
	return line
}

// packetView is where the exchange is shown.
type packetView interface {
	second(n int, x *exchange) error
	summary(x *exchange, p *packets, err error) error
}

// packetObjects shows JSON.
func packetObjects(w io.Writer) packetView { return packetJSON{json.NewEncoder(w)} }
