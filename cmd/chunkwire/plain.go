package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// plainProtocol is the plain chunk protocol.
type plainProtocol struct {
	flags *connectionFlags
	cfg   plain.Config
}

func (p plainProtocol) dial(ctx context.Context, address string) (remote, error) {
	conn, err := plain.Dial(ctx, "udp", address, p.cfg)
	if err != nil {
		return nil, err
	}
	return plainRemote{conn}, nil
}

func (p plainProtocol) listen(address string) (gate, error) {
	endpoint, err := plain.Listen("udp", address, p.cfg)
	if err != nil {
		return nil, err
	}
	return plainGate{endpoint}, nil
}

func (p plainProtocol) explain(err error, peer net.Addr, far course, st socketStats) error {
	waited := ""
	switch {
	case errors.Is(err, plain.ErrRefused) && !far.begun:
		return timeoutError(fmt.Sprintf("nobody listens at %v (connection refused); start the receiver first, and check host and port", peer))
	case errors.Is(err, plain.ErrRefused):
		return timeoutError(fmt.Sprintf("%v has gone after %s (connection refused)", peer, far))
	case errors.Is(err, plain.ErrIdle):
		waited = fmt.Sprintf("(waited %v, 3 times --give-up)", idleGiveUps*p.flags.giveUp)
	case errors.Is(err, plain.ErrGaveUp):
		waited = fmt.Sprintf("(waited %v, --give-up)", p.flags.giveUp)
	default:
		return err
	}
	return timeoutError(p.silence(peer, far, st) + " " + waited)
}

// silence returns what a silence after so much of a transfer can mean.
func (p plainProtocol) silence(peer net.Addr, far course, st socketStats) string {
	c, local := p.flags, st.local()
	switch {
	case !far.begun && st.nothingSent():
		return fmt.Sprintf("cannot send to %v: %v", peer, st.lastWriteError)
	case !far.begun:
		return fmt.Sprintf("no answer from %v; is it running, reachable, and a recv --plain with the same --protocol-id, --lanes and --repair?%s", peer, local)
	case c.sends && far.done == far.total:
		return fmt.Sprintf("%v has all %s, but has not said whether it stored them; it can still be writing, or be another implementation, which needs --raw here%s", peer, formatBytes(float64(far.done)), local)
	case c.sends && far.done == 0 && !c.raw:
		return fmt.Sprintf("%v took the first chunk and nothing after it; is it a recv --raw, or another implementation? They need --raw here%s", peer, local)
	}
	return fmt.Sprintf("%v stopped answering after %s%s", peer, far, local)
}

type plainRemote struct{ *plain.Conn }

func (r plainRemote) repaired() bool { return r.Endpoint().Config().Repair }

func (r plainRemote) socket() socketStats { return plainGate{r.Endpoint()}.socket() }

func (r plainRemote) linger(ctx context.Context, quiet time.Duration) { _ = r.Linger(ctx, quiet) }

// part lets the other end know that its answer came, which helps it to leave sooner.
func (r plainRemote) part(ctx context.Context, why farewell) {
	if r.ReceiverStats().Chunks > 0 && (why == farewellDone || why == farewellBusy) {
		r.linger(ctx, file.Linger)
	}
	_ = r.Close()
}

type plainGate struct{ *plain.Endpoint }

func (g plainGate) accept(ctx context.Context) (remote, error) {
	conn, err := g.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return plainRemote{conn}, nil
}

func (g plainGate) socket() socketStats {
	st := g.Stats()
	return socketStats{
		datagramsOut: st.DatagramsOut, undecodable: st.Undecodable, writeErrors: st.WriteErrors, lastWriteError: st.LastWriteError,
		readBuffer: st.ReadBuffer, writeBuffer: st.WriteBuffer, bufferWanted: st.BufferWanted,
	}
}

func (g plainGate) misfits() string {
	st := g.Stats()
	if st.Undecodable == 0 {
		return ""
	}
	return fmt.Sprintf("%s from %v do not decode: another --protocol-id, --lanes or --repair, or a send without --plain?", countOf(st.Undecodable, "datagram"), st.UndecodableFrom)
}
