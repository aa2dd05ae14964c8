package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	// grace is how long an end may need after the other one has seen all: one that closes a connection
	// repeats that for a second, if the answer is lost.
	grace = 2 * time.Second

	loopback = "127.0.0.1:0"
)

// transfer is one chunk from a sending end to a receiving one.
type transfer struct {
	*Result
	timeout    time.Duration
	chunk      []byte
	protocolID uint32
	variant    string
	seed       uint64

	sender   end
	receiver end
	relay    *netsim.Relay
	down, up tally // what came from the sender, and from the receiver
}

func newTransfer(cfg Config, r *Result, i int) *transfer {
	t := &transfer{
		Result: r, timeout: cfg.Timeout, variant: cfg.Variant, seed: uint64(i) + 1,
		// Above 2^31, and another one for each connection (CON-5).
		protocolID: 0xc0ffee00 + uint32(i),
		chunk:      make([]byte, r.Size),
	}
	bytes := rand.NewChaCha8([32]byte{byte(i)})
	_, _ = bytes.Read(t.chunk)
	decode := decoder(t.protocolID, cfg.Variant)
	t.down, t.up = newTally("the sender", decode), newTally("the receiver", decode)
	port := &portEnd{name: "the port", command: cfg.Command, transfer: t}
	var other end = &reference{transfer: t}
	switch {
	case cfg.With != nil:
		other = &portEnd{name: "the other port", command: cfg.With, transfer: t}
	case cfg.Variant == Connection:
		other = &connected{transfer: t}
	}
	if t.sender, t.receiver = port, other; r.Mode == Recv {
		t.sender, t.receiver = other, port
	}
	return t
}

// end is one of the two that a chunk goes between.
type end interface {
	// address returns where a receiving end can be reached; it is called first.
	address() (net.Addr, error)
	// receive returns the chunk that came, and send sends one to an address.
	receive(ctx context.Context) ([]byte, error)
	send(ctx context.Context, to string) error
	// isPort reports whether the end stops answering when it is done.
	isPort() bool
	close()
}

func (t *transfer) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.timeout, fmt.Errorf("not done within %v", t.timeout))
	defer cancel()
	defer t.close()
	to, err := t.receiver.address()
	if err != nil {
		return err
	}
	front, err := t.relayTo(to)
	if err != nil {
		return err
	}
	got, err := t.move(ctx, front)
	if t.Bytes = t.down.times(t.Size); err == nil {
		err = t.check(got)
	}
	if err != nil {
		return errors.Join(err, t.down.complaint(), t.up.complaint())
	}
	return nil
}

// move runs both ends and returns what the receiving one got.
func (t *transfer) move(ctx context.Context, front string) (got []byte, err error) {
	moving, stop := context.WithCancel(ctx)
	defer stop()
	sent, received := make(chan error, 1), make(chan error, 1)
	go func() {
		var err error
		got, err = t.receiver.receive(moving)
		received <- err
	}()
	go func() { sent <- t.sender.send(moving, front) }()

	var sendErr, recvErr error
	select {
	case sendErr = <-sent:
		if sendErr != nil {
			stop()
		} else if t.sender.isPort() && !t.receiver.isPort() {
			defer time.AfterFunc(grace, stop).Stop() // all is acked, so it must be here
		}
		recvErr = <-received
	case recvErr = <-received:
		if recvErr != nil {
			stop()
		} else if t.receiver.isPort() {
			defer time.AfterFunc(grace, stop).Stop() // nobody answers any more
		}
		sendErr = <-sent
	}
	return got, t.failure(ctx, sendErr, recvErr)
}

// failure joins what went wrong. An end that was stopped because of the other one
// is no news.
func (t *transfer) failure(ctx context.Context, sendErr, recvErr error) error {
	stopped := func(err error) bool { return errors.Is(err, context.Canceled) && ctx.Err() == nil }
	switch {
	case sendErr == nil && recvErr == nil:
		return nil
	case ctx.Err() != nil:
		return errors.Join(context.Cause(ctx), sendErr, recvErr)
	case stopped(recvErr) && sendErr != nil:
		return sendErr
	case stopped(sendErr) && recvErr != nil:
		return recvErr
	case stopped(recvErr):
		return fmt.Errorf("the sender exits with 0, but at the other end: %w", recvErr)
	case stopped(sendErr):
		return fmt.Errorf("the receiver exits with 0, but at the other end: %w", sendErr)
	}
	return errors.Join(sendErr, recvErr)
}

// relayTo starts the relay before an address, and returns the relay's.
func (t *transfer) relayTo(server net.Addr) (string, error) {
	front, err := net.ListenPacket("udp", loopback)
	if err != nil {
		return "", err
	}
	path := netsim.Path{}
	switch {
	case t.Slow:
		path = netsim.Path{Delay: slowDelay, Loss: t.Loss, Rate: slowRate, Queue: slowQueue, Overhead: codec.HeaderBytes}
	case t.Loss > 0:
		path = netsim.Path{Delay: time.Millisecond, Loss: t.Loss, Duplicate: 10, Reorder: 10, ReorderDelay: 5 * time.Millisecond}
	}
	t.relay, err = netsim.NewRelay(netsim.RelayConfig{
		Listen: watched{front, &t.down}, Server: server, Up: path, Down: path, Seed: t.seed,
		Dial: func() (net.PacketConn, error) {
			back, err := net.ListenPacket("udp", loopback)
			return watched{back, &t.up}, err
		},
	})
	if err != nil {
		return "", errors.Join(err, front.Close())
	}
	return front.LocalAddr().String(), nil
}

// check compares the bytes, and fails if an end sent what does not decode.
func (t *transfer) check(got []byte) error {
	if !bytes.Equal(got, t.chunk) {
		at := 0
		for at < min(len(got), len(t.chunk)) && got[at] == t.chunk[at] {
			at++
		}
		return fmt.Errorf("%d bytes were received, not the %d that were sent; they differ from byte %d on", len(got), len(t.chunk), at)
	}
	switch {
	case t.down.refused()+t.up.refused() > 0:
		return errors.New("the chunk got through, but not every datagram decodes")
	case t.Slow && t.Bytes > mostBytes:
		return fmt.Errorf("the chunk got through, but with %.2f times its bytes, more than %.2f", t.Bytes, mostBytes)
	}
	return nil
}

func (t *transfer) close() {
	if t.relay != nil {
		_ = t.relay.Close()
	}
	t.sender.close()
	t.receiver.close()
}
