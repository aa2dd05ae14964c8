package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/netsim"
)

// relay is what the flags of relay say.
type relay struct {
	knobFlags
	listen, to string
	seed       uint64
	duration   time.Duration
	maxClients int
	idle       time.Duration
	json       bool
}

const (
	relayBuffer = 4 << 20 // of the relay's sockets: it must not lose anything itself
	defaultIdle = time.Minute
	mostRelayed = 10_000
	ipv6Header  = 20 // more than one of IPv4
	statusEvery = time.Second
)

func newRelay() *cobra.Command {
	var flags relay
	cmd := &cobra.Command{
		Use:   "relay --listen HOST:PORT --to HOST:PORT",
		Short: "Pass datagrams of any UDP program on through a bad network",
		Long: `relay forwards datagrams between clients and a server of any program that uses UDP. It
loses, delays, duplicates, reorders and corrupts them as set by its flags. The program needs no
change: give its clients the address of the relay instead of the server's.

Each network flag applies to both directions; --up-NAME and --down-NAME set one. Up is from the
clients to the server. --loss 5 --up-loss 20 --down-rate 1M loses 20 % up and 5 % down. Each
client has its own links. A rate counts all bytes of a datagram, including IP and UDP headers.

While it runs it reads lines on standard input, which change both directions or one:
  loss 20
  down rate 1M
  outage 2s
and stats, show, help, quit. An invalid line gets an error message and has no other effect.

The server sees one address for each client. If there are --max-clients, a new client takes the
place of one that was idle for --idle. If nothing listens at the server's port, relay reports it;
the clients get no ICMP error.

With the same seed, the same datagrams of the first client are lost, by their number, in each
direction. Real time is never completely repeatable.
` + exitHelp,
		Example: `  chunkwire relay --listen :9001 --to 127.0.0.1:9000 --loss 5 --rtt 80ms
  chunkwire relay --listen :9001 --to game.example:7777 --gemodel 1,25,80 --jitter 10ms
  chunkwire relay --listen :9001 --to 127.0.0.1:9000 --down-rate 1M --down-queue 64K --json --for 1m
  chunkwire relay --listen [::1]:9001 --to [::1]:9000 --corrupt 1 --outage 2s/30s`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			overhead, err := flags.check()
			if err != nil {
				return usageError(cmd, err)
			}
			w, err := flags.ways(overhead)
			if err != nil {
				return usageError(cmd, err)
			}
			return flags.run(cmd, w)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "", "address for the clients, `HOST:PORT`")
	f.StringVar(&flags.to, "to", "", "address of the server, `HOST:PORT`")
	flags.knobFlags.add(f)
	f.Uint64Var(&flags.seed, "seed", 1, "seed of all chance")
	f.DurationVar(&flags.duration, "for", 0, "how long to run; 0 is until it is interrupted")
	f.IntVar(&flags.maxClients, "max-clients", 64, "how many clients have a place at once")
	f.DurationVar(&flags.idle, "idle", defaultIdle, "how long a client must be idle to give its place to a new one")
	f.BoolVar(&flags.json, "json", false, "print the statistics at the end as one JSON object")
	return cmd
}

// check returns how many bytes a datagram takes beside its payload.
func (flags *relay) check() (overhead int, err error) {
	if err := checkAddress("--listen", flags.listen, 0); err != nil {
		return 0, err
	}
	if err := checkAddress("--to", flags.to, 1); err != nil {
		return 0, err
	}
	switch {
	case sameSocket(flags.listen, flags.to):
		return 0, fmt.Errorf("--to %s is the relay itself, as --listen says", flags.to)
	case flags.duration < 0:
		return 0, errors.New("--for must not be negative")
	case flags.maxClients < 1 || flags.maxClients > mostRelayed:
		return 0, fmt.Errorf("--max-clients must be 1 to %d", mostRelayed)
	case flags.idle <= 0:
		return 0, errors.New("--idle must be more than 0")
	}
	overhead = codec.HeaderBytes
	if to, err := net.ResolveUDPAddr("udp", flags.to); err == nil && to.IP.To4() == nil {
		overhead += ipv6Header
	}
	return overhead, nil
}

// sameSocket reports whether what is sent to an address arrives at a socket that listens at another one of this
// machine.
func sameSocket(listen, to string) bool {
	a, err := net.ResolveUDPAddr("udp", listen)
	b, err2 := net.ResolveUDPAddr("udp", to)
	if err != nil || err2 != nil || a.Port != b.Port {
		return false
	}
	if a.IP == nil || a.IP.IsUnspecified() {
		return b.IP == nil || b.IP.IsUnspecified() || b.IP.IsLoopback()
	}
	return a.IP.Equal(b.IP)
}

func (flags *relay) run(cmd *cobra.Command, w ways) error {
	to, err := net.ResolveUDPAddr("udp", flags.to)
	if err != nil {
		return err
	}
	front, err := net.ListenPacket("udp", flags.listen)
	if err != nil {
		return err
	}
	udp.SizeBuffers(front, relayBuffer)
	r := &relaying{flags: flags, ways: w, began: time.Now(), listen: front.LocalAddr(), to: to, stdout: cmd.OutOrStdout(), screen: newScreen(cmd.ErrOrStderr())}
	r.relay, err = netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: to, Dial: func() (net.PacketConn, error) { return dialServer(to) },
		Up: w[up].path, Down: w[down].path, Seed: flags.seed, MaxClients: flags.maxClients, Idle: flags.idle,
	})
	if err != nil {
		return errors.Join(err, front.Close())
	}
	defer r.relay.Close()
	fmt.Fprintf(r.screen.w, "listening on %v\n", r.listen)
	r.screen.print(fmt.Sprintf("to %v; %s", to, r.flags.lifetime()))
	r.print(r.show())
	err = r.loop(cmd.Context(), cmd.InOrStdin())
	return errors.Join(err, r.end())
}

// lifetime says how long the relay runs.
func (flags *relay) lifetime() string {
	if flags.duration > 0 {
		return fmt.Sprintf("for %v", flags.duration)
	}
	return "until it is interrupted"
}

// serverSocket is a socket to the server, for one client: connected, so that nobody else is heard.
type serverSocket struct{ *net.UDPConn }

func dialServer(to *net.UDPAddr) (net.PacketConn, error) {
	conn, err := net.DialUDP("udp", nil, to)
	if err != nil {
		return nil, err
	}
	udp.SizeBuffers(conn, relayBuffer)
	return serverSocket{conn}, nil
}

// WriteTo sends to the server.
func (s serverSocket) WriteTo(b []byte, _ net.Addr) (int, error) { return s.Write(b) }

// relaying is a relay that runs.
type relaying struct {
	flags      *relay
	relay      *netsim.Relay
	ways       ways
	now        [2]outage // those that a line began
	began      time.Time
	listen, to net.Addr
	stdout     io.Writer
	screen     screen // standard error
	live       bool   // the last line on the screen is the status
	warned     bool   // that nobody listens
}

// apply gives the relay its paths as they are now.
func (r *relaying) apply() error {
	var paths [2]netsim.Path
	for i := range r.ways {
		paths[i] = r.ways[i].path
		scheduled, _ := r.ways[i].out(r.elapsed())
		begun, _ := r.now[i].on(r.elapsed())
		paths[i].Outage = scheduled || begun
	}
	return r.relay.SetPaths(paths[up], paths[down])
}

// nextChange returns when an outage begins or ends.
func (r *relaying) nextChange() time.Duration {
	change := forever
	for i := range r.ways {
		_, scheduled := r.ways[i].out(r.elapsed())
		_, begun := r.now[i].on(r.elapsed())
		change = min(change, scheduled, begun)
	}
	return change
}

// loop runs the relay until its time is over, a line ends it, or it is interrupted.
func (r *relaying) loop(ctx context.Context, stdin io.Reader) error {
	end := (<-chan time.Time)(nil)
	if r.flags.duration > 0 {
		end = time.After(r.flags.duration)
	}
	done := make(chan struct{})
	defer close(done)
	lines := readLines(stdin, done)
	status := time.NewTicker(statusEvery)
	defer status.Stop()
	change := time.NewTimer(0)
	defer change.Stop()
	for {
		select {
		case <-change.C:
			_ = r.apply() // the paths were checked
		case line, ok := <-lines:
			if !ok {
				lines = nil
				continue
			}
			if r.answer(line) {
				return nil
			}
		case <-status.C:
			r.status()
		case <-end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		change.Reset(min(r.nextChange()-r.elapsed(), time.Hour))
	}
}

// answer obeys a line, and reports whether that ends the relay.
func (r *relaying) answer(line string) (quit bool) {
	r.live = false // the line is between the status and the next text
	answer, err := r.obey(line)
	switch {
	case errors.Is(err, errQuit):
		return true
	case err != nil:
		r.print("chunkwire: " + err.Error())
	case answer != "":
		r.print(answer)
	}
	return false
}
