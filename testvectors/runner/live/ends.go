package live

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors/runner"
	"github.com/chunkwire/chunkwire/testvectors/runner/internal/process"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// reference is this implementation as an end.
type reference struct {
	*transfer
	endpoint *plain.Endpoint
}

func (*reference) isPort() bool { return false }

func (r *reference) config() plain.Config {
	return plain.Config{ProtocolID: r.protocolID, Repair: r.variant == Repair, GiveUp: r.timeout, MaxPeers: 1}
}

func (r *reference) address() (net.Addr, error) {
	endpoint, err := plain.Listen("udp", loopback, r.config())
	if err != nil {
		return nil, err
	}
	r.endpoint = endpoint
	return endpoint.Addr(), nil
}

// receive leaves the connection open: the sender may need another ack.
func (r *reference) receive(ctx context.Context) ([]byte, error) {
	conn, err := r.endpoint.Accept(ctx)
	if err != nil {
		return nil, fmt.Errorf("no slice came: %w", err)
	}
	got, err := conn.Recv(ctx)
	if err != nil {
		return nil, fmt.Errorf("no whole chunk came: %w", err)
	}
	return got, nil
}

func (r *reference) send(ctx context.Context, to string) error {
	conn, err := plain.Dial(ctx, "udp", to, r.config())
	if err != nil {
		return err
	}
	r.endpoint = conn.Endpoint()
	if err := conn.Send(ctx, r.chunk); err != nil {
		return fmt.Errorf("not acked: %w", err)
	}
	return nil
}

func (r *reference) close() {
	if r.endpoint != nil {
		_ = r.endpoint.Close()
	}
}

// portEnd is a command as an end.
type portEnd struct {
	*transfer
	name     string
	command  []string
	listen   string
	out, err bytes.Buffer
}

func (*portEnd) isPort() bool { return true }
func (*portEnd) close()       {}

// candidates counts the UDP ports that this process has tried.
var candidates atomic.Uint32

// address returns one that is free, for the port to listen on. It lies below those that
// systems give to sockets without a number, and each process begins at another one, so
// that nobody takes it before the port does.
func (p *portEnd) address() (net.Addr, error) {
	const first, many, tries = 20_000, 10_000, 1_000
	for range tries {
		n := candidates.Add(1)
		place, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: first + (os.Getpid()*64+int(n))%many})
		if err == nil {
			p.listen = place.LocalAddr().String()
			return place.LocalAddr(), place.Close()
		}
	}
	return nil, fmt.Errorf("no UDP port from %d to %d is free on this machine", first, first+many-1)
}

func (p *portEnd) receive(ctx context.Context) ([]byte, error) {
	err := p.run(ctx, Recv, p.listen, nil)
	return p.out.Bytes(), err
}

func (p *portEnd) send(ctx context.Context, to string) error {
	err := p.run(ctx, Send, to, p.chunk)
	if err == nil && p.out.Len() > 0 {
		err = fmt.Errorf("%s sends and writes on standard output: %s", p.name, process.Quoted(p.out.Bytes()))
	}
	return err
}

// run runs the command to its end.
func (p *portEnd) run(ctx context.Context, mode, address string, input []byte) error {
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	cmd.Env = append(os.Environ(),
		EnvAddress+"="+address, EnvMode+"="+mode, EnvVariant+"="+p.variant,
		EnvProtocolID+"="+strconv.FormatUint(uint64(p.protocolID), 10))
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stdout, cmd.Stderr = &limited{&p.out, codec.MaxChunkSize + 1}, &limited{&p.err, process.MaxStderr}
	process.KillWithChildren(cmd)
	cmd.WaitDelay = process.GraceTime
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: cannot start: %w", runner.ErrPort, err)
	}
	err := cmd.Wait()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s does not exit: %w%s", p.name, ctx.Err(), p.lastWords())
	}
	return fmt.Errorf("%s ended with %w%s", p.name, err, p.lastWords())
}

func (p *portEnd) lastWords() string {
	if text := bytes.TrimSpace(p.err.Bytes()); len(text) > 0 {
		return "; its standard error begins with:\n" + string(bytes.ToValidUTF8(text, []byte("?")))
	}
	return ""
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
