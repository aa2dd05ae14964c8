package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// The environment of a live port (testvectors/LIVE.md).
const (
	LiveAddress    = "CHUNKWIRE_ADDRESS"     // host:port
	LiveProtocolID = "CHUNKWIRE_PROTOCOL_ID" // decimal
	LiveMode       = "CHUNKWIRE_MODE"        // LiveSend or LiveRecv
	LiveSend       = "send"
	LiveRecv       = "recv"
)

const (
	// LiveQuiet is how long a live port that received goes on answering.
	LiveQuiet = time.Second
	// DefaultLiveTimeout is how long one transfer may take, with the port's start.
	DefaultLiveTimeout = 30 * time.Second
	// liveAtOnce is how many transfers run at the same time: a receiving port
	// mostly waits for quiet.
	liveAtOnce = 4
	// liveGrace is how long this end may need to see what the port has seen.
	liveGrace = time.Second

	liveLoopback = "127.0.0.1:0"
)

// liveSizes are a byte, a full slice, one more, and a full chunk.
var liveSizes = []int{1, codec.SliceSize, codec.SliceSize + 1, codec.MaxChunkSize}

// LiveConfig says how to run live transfers.
type LiveConfig struct {
	Command []string
	LossPPM int           // in the second half of the transfers; 0 leaves them out
	Timeout time.Duration // 0 is DefaultLiveTimeout
}

// LiveResult is what came of a transfer.
type LiveResult struct {
	Mode    string  `json:"mode"` // what the port does
	Size    int     `json:"size"`
	LossPPM int     `json:"loss_ppm"`
	OK      bool    `json:"ok"`
	Message string  `json:"message,omitempty"`
	Seconds float64 `json:"seconds"`
}

// LiveReport is what came of all transfers.
type LiveReport struct {
	Command []string      `json:"command"`
	OK      bool          `json:"ok"`
	Error   string        `json:"error,omitempty"`
	Results []*LiveResult `json:"results"`
}

// Live lets a port send and receive chunks with the reference implementation at
// the other end, through a relay. The error matches ErrPort or the context's.
func Live(ctx context.Context, cfg LiveConfig) (*LiveReport, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultLiveTimeout
	}
	report := &LiveReport{Command: cfg.Command, OK: true}
	losses := []int{0, cfg.LossPPM}
	if cfg.LossPPM == 0 {
		losses = losses[:1]
	}
	for _, loss := range losses {
		for _, mode := range []string{LiveSend, LiveRecv} {
			for _, size := range liveSizes {
				report.Results = append(report.Results, &LiveResult{Mode: mode, Size: size, LossPPM: loss})
			}
		}
	}
	err := runLive(ctx, cfg, report.Results)
	for _, r := range report.Results {
		report.OK = report.OK && r.OK
	}
	if err != nil {
		report.OK, report.Error = false, err.Error()
	}
	return report, err
}

// runLive runs all transfers, some at once, and returns the first error that
// leaves no sense in going on.
func runLive(ctx context.Context, cfg LiveConfig, results []*LiveResult) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	places := make(chan struct{}, liveAtOnce)
	var all sync.WaitGroup
	for i, r := range results {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if ctx.Err() != nil {
				r.Message = "not run"
				return
			}
			began := time.Now()
			err := newTransfer(cfg, r, i).run(ctx)
			r.Seconds = time.Since(began).Seconds()
			if r.OK = err == nil; err != nil {
				r.Message = err.Error()
			}
			if errors.Is(err, ErrPort) {
				stop(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// transfer is one chunk from or to the port.
type transfer struct {
	*LiveResult
	command    []string
	timeout    time.Duration
	chunk      []byte
	protocolID uint32
	seed       uint64

	address  string              // for the port
	endpoint *transport.Endpoint // of this end
	conn     *transport.Conn     // when the port receives
	relay    *netsim.Relay
	out, err bytes.Buffer
}

func newTransfer(cfg LiveConfig, r *LiveResult, i int) *transfer {
	t := &transfer{
		LiveResult: r, command: cfg.Command, timeout: cfg.Timeout, seed: uint64(i) + 1,
		// Above 2^31, and another one for each connection (CON-5).
		protocolID: 0xc0ffee00 + uint32(i),
		chunk:      make([]byte, r.Size),
	}
	bytes := rand.NewChaCha8([32]byte{byte(i)})
	_, _ = bytes.Read(t.chunk)
	return t
}

func (t *transfer) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.timeout, fmt.Errorf("not done within %v", t.timeout))
	defer cancel()
	defer t.close()
	if err := t.connect(ctx); err != nil {
		return err
	}
	cmd, err := t.start(ctx)
	if err != nil {
		return fmt.Errorf("%w: cannot start: %w", ErrPort, err)
	}
	moving, stop := context.WithCancel(ctx)
	defer stop()
	moved := make(chan error, 1)
	go func() { moved <- t.move(moving) }()

	exit := cmd.Wait()
	if exit == nil {
		// The port says that all is well; then it soon must be so here.
		late := time.AfterFunc(liveGrace, stop)
		err = <-moved
		late.Stop()
		if err != nil {
			return fmt.Errorf("the port exits with 0, but at this end: %w%s", err, t.lastWords())
		}
		return t.check()
	}
	stop()
	err = <-moved
	switch {
	case ctx.Err() != nil && err == nil:
		return fmt.Errorf("the chunk got through, but the port does not exit: %w%s", context.Cause(ctx), t.lastWords())
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w%s", context.Cause(ctx), err, t.lastWords())
	}
	return fmt.Errorf("the port ended with %w%s", exit, t.lastWords())
}

// connect puts up this end and the relay before it, or before the port.
func (t *transfer) connect(ctx context.Context) error {
	cfg := transport.Config{ProtocolID: t.protocolID, GiveUp: t.timeout, MaxPeers: 1}
	var err error
	if t.Mode == LiveSend {
		if t.endpoint, err = transport.Listen("udp", liveLoopback, cfg); err == nil {
			t.address, err = t.relayTo(t.endpoint.Addr())
		}
		return err
	}
	// The port needs an address that is free; nobody takes it in between, as a
	// rule.
	place, err := net.ListenPacket("udp", liveLoopback)
	if err != nil {
		return err
	}
	to := place.LocalAddr()
	t.address = to.String()
	_ = place.Close()
	front, err := t.relayTo(to)
	if err == nil {
		t.conn, err = transport.Dial(ctx, "udp", front, cfg)
	}
	if err == nil {
		t.endpoint = t.conn.Endpoint()
	}
	return err
}

// relayTo starts the relay before an address, and returns the relay's.
func (t *transfer) relayTo(server net.Addr) (string, error) {
	front, err := net.ListenPacket("udp", liveLoopback)
	if err != nil {
		return "", err
	}
	path := netsim.Path{}
	if t.LossPPM > 0 {
		const tenth = 100_000
		path = netsim.Path{
			Delay: time.Millisecond, LossPPM: t.LossPPM, DuplicatePPM: tenth,
			ReorderPPM: tenth, ReorderDelay: 5 * time.Millisecond,
		}
	}
	t.relay, err = netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: server, Up: path, Down: path, Seed: t.seed,
		Dial: func() (net.PacketConn, error) { return net.ListenPacket("udp", liveLoopback) },
	})
	if err != nil {
		return "", errors.Join(err, front.Close())
	}
	return front.LocalAddr().String(), nil
}

func (t *transfer) start(ctx context.Context) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, t.command[0], t.command[1:]...)
	cmd.Env = append(os.Environ(),
		LiveAddress+"="+t.address, LiveMode+"="+t.Mode,
		LiveProtocolID+"="+strconv.FormatUint(uint64(t.protocolID), 10))
	if t.Mode == LiveSend {
		cmd.Stdin = bytes.NewReader(t.chunk)
	}
	cmd.Stdout, cmd.Stderr = &limited{&t.out, codec.MaxChunkSize + 1}, &limited{&t.err, maxStderr}
	killWithChildren(cmd)
	cmd.WaitDelay = graceTime
	return cmd, cmd.Start()
}

// move does this end's part.
func (t *transfer) move(ctx context.Context) error {
	if t.Mode == LiveRecv {
		return t.conn.Send(ctx, t.chunk)
	}
	conn, err := t.endpoint.Accept(ctx)
	if err != nil {
		return fmt.Errorf("no slice came: %w", err)
	}
	// The connection stays open until the port ends: it may need another ack.
	got, err := conn.Recv(ctx)
	if err != nil {
		return fmt.Errorf("no whole chunk came: %w", err)
	}
	return t.same("sent", got)
}

// check looks at what is left when both ends are content.
func (t *transfer) check() error {
	if n := t.endpoint.Stats().Garbage; n > 0 {
		return fmt.Errorf("the port sent %d datagrams that do not decode", n)
	}
	if t.Mode == LiveSend {
		if t.out.Len() > 0 {
			return fmt.Errorf("the port that sends writes on standard output: %s", quoted(t.out.Bytes()))
		}
		return nil
	}
	return t.same("wrote", t.out.Bytes())
}

func (t *transfer) same(verb string, got []byte) error {
	if bytes.Equal(got, t.chunk) {
		return nil
	}
	at := 0
	for at < min(len(got), len(t.chunk)) && got[at] == t.chunk[at] {
		at++
	}
	return fmt.Errorf("the port %s %d bytes, not these %d; they differ from byte %d on", verb, len(got), len(t.chunk), at)
}

func (t *transfer) lastWords() string {
	if text := bytes.TrimSpace(t.err.Bytes()); len(text) > 0 {
		return "; its standard error begins with:\n" + string(bytes.ToValidUTF8(text, []byte("?")))
	}
	return ""
}

func (t *transfer) close() {
	if t.conn != nil {
		_ = t.conn.Close()
	}
	if t.relay != nil {
		_ = t.relay.Close()
	}
	if t.endpoint != nil {
		_ = t.endpoint.Close()
	}
}

// limited keeps the beginning of what is written to it.
type limited struct {
	into *bytes.Buffer
	most int
}

func (l *limited) Write(b []byte) (int, error) {
	l.into.Write(b[:min(len(b), max(0, l.most-l.into.Len()))])
	return len(b), nil
}

// Failed returns how many transfers did not get through.
func (r *LiveReport) Failed() (n int) {
	for _, result := range r.Results {
		if !result.OK {
			n++
		}
	}
	return n
}

// Print writes the report for people.
func (r *LiveReport) Print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "the port\tbytes\tloss\t\tseconds")
	for _, result := range r.Results {
		verb, outcome := "sends", "FAILED"
		if result.Mode == LiveRecv {
			verb = "receives"
		}
		if result.OK {
			outcome = "passed"
		}
		fmt.Fprintf(t, "%s\t%d\t%g %%\t%s\t%.2f\n", verb, result.Size, float64(result.LossPPM)/10_000, outcome, result.Seconds)
	}
	_ = t.Flush()
	for _, result := range r.Results {
		if !result.OK {
			fmt.Fprintf(w, "\n%s, %d bytes, %g %% loss:\n  %s\n", result.Mode, result.Size, float64(result.LossPPM)/10_000, result.Message)
		}
	}
}
