package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
	size, rate, queue           int64
	rtt                         time.Duration
	lossPPM, dupPPM, reorderPPM int
	seed                        uint64
	profile                     string
	timeout                     time.Duration
}

func newDemo() *cobra.Command {
	d := demo{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Push a world to a player through a bad network, on this machine",
		Long: `demo runs a server and a client over real UDP sockets on loopback, with a relay in
between that delays and loses datagrams. The client joins, the server pushes a block of
data, and the bytes are compared. On a terminal it shows each slice on its way.
` + exitHelp,
		Example: `  chunkwire demo
  chunkwire demo --loss 20 --rtt 120ms
  chunkwire demo --rate 2M --queue 64K --size 100K
  chunkwire demo --loss 1 --duplicate 10 --reorder 10 --profile fixed --seed 7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := d.check(); err != nil {
				return usageError(cmd, err)
			}
			return d.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.Var(byteSize(&d.size, codec.MaxChunkSize, codec.MaxChunkSize), "size", "size of the block")
	f.DurationVar(&d.rtt, "rtt", 50*time.Millisecond, "round-trip time, half of it each way")
	d.lossPPM = 50_000
	f.Var(percent{&d.lossPPM}, "loss", "datagrams lost each way")
	f.Var(percent{&d.dupPPM}, "duplicate", "datagrams doubled each way")
	f.Var(percent{&d.reorderPPM}, "reorder", "datagrams held back by 10 ms each way")
	f.Var(bitRate(&d.rate, 0), "rate", "rate of the link each way, in bits a second; 0 is unlimited")
	f.Var(byteSize(&d.queue, 0, 1<<30), "queue", "bytes that wait before the link; 0 is unlimited")
	f.StringVar(&d.profile, "profile", profileNames[0], profileUsage)
	f.Uint64Var(&d.seed, "seed", 1, "seed of the relay's chance and of the block's bytes")
	f.DurationVar(&d.timeout, "timeout", time.Minute, "how long the transfer may take")
	return cmd
}

func (d *demo) check() error {
	if d.size < 1 {
		return fmt.Errorf("--size must be 1 to %d", codec.MaxChunkSize)
	}
	if _, err := d.pace(); err != nil {
		return err
	}
	return d.path().Validate()
}

// pace returns the sender's profile; the fixed ones go at the link's rate.
func (d *demo) pace() (statemachine.Profile, error) {
	if d.profile == "burst" {
		return profileOf(d.profile, -1)
	}
	return profileOf(d.profile, d.rate)
}

func (d *demo) path() netsim.Path {
	return netsim.Path{
		Delay: d.rtt / 2, LossPPM: d.lossPPM, DuplicatePPM: d.dupPPM,
		ReorderPPM: d.reorderPPM, ReorderDelay: 10 * time.Millisecond,
		Rate: d.rate, Queue: int(d.queue), Overhead: statemachine.HeaderBytes,
	}
}

func (d *demo) run(ctx context.Context, out, errOut io.Writer) error {
	ctx, cancel := withTimeout(ctx, d.timeout)
	defer cancel()
	slices := newSliceMap(int(d.size))
	stage, err := d.setUp(ctx, slices)
	if err != nil {
		return err
	}
	defer stage.close()
	warnOfSmallBuffers(errOut, stage.server.Stats())

	fmt.Fprintf(out, "server %v → relay %v → client %v: %d bytes, RTT %v, %g %% loss each way\n",
		stage.server.Addr(), stage.relayAddr, stage.client.LocalAddr(), d.size, d.rtt, float64(d.lossPPM)/10_000)
	world := pattern(int(d.size), d.seed)
	stop := watch(out, slices)
	result, err := stage.push(ctx, world)
	stop()
	if err != nil {
		return fmt.Errorf("the block did not get through: %w", err)
	}
	if err := d.report(out, slices, result); err != nil {
		return err
	}
	if !bytes.Equal(result.got, world) {
		return errMismatch
	}
	return nil
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
	profile, err := d.pace()
	if err != nil {
		return nil, err
	}
	cfg := transport.Config{
		ProtocolID:   defaultProtocolID,
		NewScheduler: func() statemachine.Scheduler { return statemachine.NewBase(profile) },
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
}

// push lets the client join and the server answer with the world.
func (s *stage) push(ctx context.Context, world []byte) (pushed, error) {
	joined := make(chan error, 1)
	go func() { joined <- s.client.Send(ctx, []byte("join")) }()
	conn, err := s.server.Accept(ctx)
	if err != nil {
		return pushed{}, err
	}
	if _, err := conn.Recv(ctx); err != nil {
		return pushed{}, err
	}
	if err := <-joined; err != nil {
		return pushed{}, err
	}

	began := time.Now()
	var p pushed
	received := make(chan error, 1)
	go func() {
		var err error
		p.got, err = s.client.Recv(ctx)
		p.delivered = time.Since(began)
		received <- err
	}()
	err = conn.Send(ctx, world)
	p.acked = time.Since(began)
	if err = errors.Join(err, <-received); err != nil {
		return pushed{}, err
	}
	p.server, p.client = conn.Stats(), s.client.Stats()
	return p, nil
}

// report prints the slice map and the table at the end.
func (d *demo) report(w io.Writer, slices *sliceMap, p pushed) error {
	fmt.Fprintf(w, "\nhow often each slice was sent (· is once):\n")
	for _, row := range slices.times() {
		fmt.Fprintf(w, "  %s\n", row)
	}
	equal := "equal"
	if !bytes.Equal(p.got, pattern(int(d.size), d.seed)) {
		equal = "DIFFERENT"
	}
	sums, f := slices.totals(), estimateFragmenting(int(d.size), d.lossPPM, d.rtt, d.rate)
	size := float64(d.size)
	fmt.Fprintln(w)
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
