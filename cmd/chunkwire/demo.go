package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/spf13/cobra"
)

// demo is what the flags of demo say.
type demo struct {
	pathFlags
	size    int64
	seed    uint64
	profile string
	timeout time.Duration
}

// demoRate is how fast the profiles of a fixed rate send over an unlimited link,
// in bits a second: without a limit they overflow the sockets' buffers.
const demoRate = 100_000_000

func newDemo() *cobra.Command {
	d := demo{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Push a world to a player through a bad network, on this machine",
		Long: `demo runs a server and a client over real UDP sockets on loopback, with a relay in
between that delays and loses datagrams. The client joins, the server pushes a block of
data, and the bytes are compared. On a terminal it shows each slice on its way.

The profiles fixed and article send at --rate, or at 100M without.
` + exitHelp,
		Example: `  chunkwire demo
  chunkwire demo --loss 20 --rtt 120ms
  chunkwire demo --rate 2M --queue 64K --size 100K
  chunkwire demo --loss 1 --duplicate 10 --reorder 10 --profile fixed --seed 7`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := d.check(); err != nil {
				return usageError(cmd, err)
			}
			return d.run(cmd.Context(), newScreen(cmd.OutOrStdout()), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.Var(byteSize(&d.size, codec.MaxChunkSize, codec.MaxChunkSize), "size", "size of the block, at most 256K")
	d.lossPPM = 50_000
	d.add(f)
	f.StringVar(&d.profile, "profile", profileNames[0], profileUsage)
	f.Uint64Var(&d.seed, "seed", 1, "seed of the relay's chance and of the block's bytes")
	f.DurationVar(&d.timeout, "timeout", time.Minute, "how long the transfer may take; 0 is without limit")
	return cmd
}

func (d *demo) check() error {
	switch {
	case d.size < 1:
		return fmt.Errorf("--size must be 1 to %d", codec.MaxChunkSize)
	case d.timeout < 0:
		return errors.New("--timeout must not be negative")
	}
	if _, err := d.pace(); err != nil {
		return err
	}
	return d.pathFlags.check()
}

// pace returns the sender's profile; the fixed ones go at the link's rate.
func (d *demo) pace() (pace, error) {
	switch {
	case !needsRate(d.profile):
		return paceOf(d.profile, -1)
	case d.rate == 0:
		return paceOf(d.profile, demoRate)
	}
	return paceOf(d.profile, d.rate)
}

func (d *demo) run(ctx context.Context, out screen, errOut io.Writer) error {
	ctx, cancel := withTimeout(ctx, d.timeout, fmt.Sprintf("the block did not get through within %v; allow more with --timeout", d.timeout))
	defer cancel()
	slices := newSliceMap(int(d.size))
	stage, err := d.setUp(ctx, slices)
	if err != nil {
		return err
	}
	defer stage.close()
	warnOfSmallBuffers(errOut, stage.server.Stats())

	fmt.Fprintf(out.w, "server %v → relay %v → client %v\n", stage.server.Addr(), stage.relayAddr, stage.client.LocalAddr())
	fmt.Fprintln(out.w, d.headline())
	world := pattern(int(d.size), d.seed)
	stop := watch(out, slices)
	result, err := stage.push(ctx, world)
	stop()
	if err != nil {
		return stuck(err)
	}
	if err := d.report(out, slices, result); err != nil {
		return err
	}
	if !bytes.Equal(result.got, world) {
		return errMismatch
	}
	return nil
}

// headline says what is sent, and over what.
func (d *demo) headline() string {
	line := fmt.Sprintf("%s, RTT %v, %g %% loss each way", countOf(d.size, "byte"), d.rtt, asPercent(d.lossPPM))
	if d.rate > 0 {
		line += ", " + formatBits(float64(d.rate))
	} else if needsRate(d.profile) {
		line += ", sent at " + formatBits(demoRate)
	}
	return line
}

// stuck tells why nothing came of it.
func stuck(err error) error {
	if errors.Is(err, transport.ErrGaveUp) {
		return timeoutError(fmt.Sprintf("the block did not get through: nothing arrived for %v", statemachine.DefaultGiveUp.Duration()))
	}
	return fmt.Errorf("the block did not get through: %w", err)
}

// stage is the server, the client, and the relay between them.
type stage struct {
	server    *transport.Endpoint
	client    *transport.Conn
	relay     *netsim.Relay
	relayAddr net.Addr
}

const loopback = "127.0.0.1:0"

func (d *demo) setUp(ctx context.Context, slices *sliceMap) (_ *stage, err error) {
	s := &stage{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	sending, err := d.pace()
	if err != nil {
		return nil, err
	}
	cfg := transport.Config{
		ProtocolID:   defaultProtocolID,
		NewScheduler: sending.make,
	}
	withMap := cfg
	withMap.Observe = func(_ *transport.Conn, o statemachine.Observation) { slices.note(o) }
	if s.server, err = transport.Listen("udp", loopback, withMap); err != nil {
		return nil, err
	}
	front, err := net.ListenPacket("udp", loopback)
	if err != nil {
		return nil, err
	}
	s.relayAddr = front.LocalAddr()
	s.relay, err = netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: s.server.Addr(),
		Dial: func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) },
		Up:   d.path(), Down: d.path(), Seed: d.seed,
	})
	if err != nil {
		return nil, errors.Join(err, front.Close())
	}
	s.client, err = transport.Dial(ctx, "udp", s.relayAddr.String(), cfg)
	return s, err
}

func (s *stage) close() {
	if s.client != nil {
		_ = s.client.Close()
	}
	if s.relay != nil {
		_ = s.relay.Close()
	}
	if s.server != nil {
		_ = s.server.Close()
	}
}

// pushed is what came of the transfer.
type pushed struct {
	got       []byte
	delivered time.Duration // until the client had it
	acked     time.Duration // until the server knew
	server    transport.Stats
	client    transport.Stats
	up, down  netsim.LinkStats // of the relay
}

// push lets the client join and the server answer with the world.
func (s *stage) push(ctx context.Context, world []byte) (p pushed, err error) {
	var began, delivered, acked time.Time
	serve := func(ctx context.Context) error {
		conn, err := s.server.Accept(ctx)
		if err != nil {
			return err
		}
		if _, err := conn.Recv(ctx); err != nil {
			return err
		}
		began = time.Now()
		err = conn.Send(ctx, world)
		acked, p.server = time.Now(), conn.Stats()
		return err
	}
	join := func(ctx context.Context) error { return s.client.Send(ctx, []byte("join")) }
	receive := func(ctx context.Context) (err error) {
		p.got, err = s.client.Recv(ctx)
		delivered = time.Now()
		return err
	}
	if err := together(ctx, serve, join, receive); err != nil {
		return p, err
	}
	p.delivered, p.acked, p.client = delivered.Sub(began), acked.Sub(began), s.client.Stats()
	p.up, p.down = s.relay.Stats()
	return p, nil
}

// together runs tasks at the same time. The first error ends all, and is
// returned.
func together(ctx context.Context, tasks ...func(context.Context) error) (first error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var once sync.Once
	for _, task := range tasks {
		running.Go(func() {
			if err := task(ctx); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		})
	}
	running.Wait()
	return first
}

// report prints the slice map, the table and the relay's losses at the end.
func (d *demo) report(out screen, slices *sliceMap, p pushed) error {
	fmt.Fprintf(out.w, "\nhow often each slice was sent (· is once):\n")
	for _, row := range slices.times(out.mapWidth()) {
		fmt.Fprintf(out.w, "  %s\n", row)
	}
	fmt.Fprintln(out.w)
	if err := d.table(out.w, slices.totals(), p); err != nil {
		return err
	}
	if random, queue := p.down.LostRandom+p.up.LostRandom, p.down.LostQueue+p.up.LostQueue; random+queue > 0 {
		fmt.Fprintf(out.w, "relay: lost %d of the server's datagrams, %d of the client's; queue dropped %d\n",
			p.down.LostRandom, p.up.LostRandom, queue)
	}
	return nil
}

func (d *demo) table(w io.Writer, sums sliceSums, p pushed) error {
	equal := "equal"
	if !bytes.Equal(p.got, pattern(int(d.size), d.seed)) {
		equal = "DIFFERENT"
	}
	f := estimateFragmenting(int(d.size), d.lossPPM, d.rtt, d.rate)
	size := float64(d.size)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tthis run\tone packet in fragments, expected")
	fmt.Fprintf(t, "delivered after\t%s\t%s\n", formatSeconds(p.delivered.Seconds()), formatSeconds(f.Seconds))
	fmt.Fprintf(t, "known to the server after\t%s\t\n", formatSeconds(p.acked.Seconds()))
	fmt.Fprintf(t, "rate\t%s\t%s\n", formatBits(8*size/p.delivered.Seconds()), formatBits(8*size/f.Seconds))
	fmt.Fprintf(t, "attempts at the whole\t1\t%s\n", formatCount(f.Attempts))
	fmt.Fprintf(t, "datagrams sent\t%d\t%s\n", sums.Sent, formatCount(f.Datagrams))
	fmt.Fprintf(t, "of them resent\t%d (%d needlessly)\t\n", sums.Resent, sums.Spurious)
	fmt.Fprintf(t, "bytes sent / size\t%.2f\t%s\n", float64(p.server.Sender.BytesSent)/size, formatCount(f.Bytes/size))
	fmt.Fprintf(t, "acks sent\t%d\t\n", p.client.Receiver.AcksSent)
	fmt.Fprintf(t, "round trip measured\t%v\t\n", p.server.Sender.Schedule.SmoothedRTT.Duration().Round(100*time.Microsecond))
	fmt.Fprintf(t, "bytes\t%s\t\n", equal)
	return t.Flush()
}
