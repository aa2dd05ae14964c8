package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

// modeNames are the values of --mode, the strongest first.
var modeNames = []string{"aead", "mac", "unprotected"}

func modeOf(name string) (session.Mode, error) {
	switch name {
	case "aead":
		return session.AEAD, nil
	case "mac":
		return session.MAC, nil
	case "unprotected":
		return session.CRC, nil
	}
	return 0, fmt.Errorf("no mode %q; there are: %s", name, strings.Join(modeNames, ", "))
}

// peerProtocol is the protocol of connections.
type peerProtocol struct {
	flags *connectionFlags
	cfg   transport.Config
}

func (p peerProtocol) dial(ctx context.Context, address string) (remote, error) {
	peer, err := transport.Dial(ctx, "udp", address, p.cfg)
	if err != nil {
		return nil, p.unreached(err, address)
	}
	return peerRemote{peer.Chunks(), peer}, nil
}

func (p peerProtocol) listen(address string) (gate, error) {
	server, err := transport.Listen("udp", address, p.cfg)
	if err != nil {
		return nil, err
	}
	return peerGate{server}, nil
}

// unreached returns why there is no connection with a receiver.
func (p peerProtocol) unreached(err error, address string) error {
	var refused *session.RefusedError
	var local syscall.Errno
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%s refuses: %s", address, p.refusal(refused))
	case errors.Is(err, transport.ErrUnreachable):
		return timeoutError(fmt.Sprintf("nobody listens at %s (connection refused); start the receiver first, and check host and port", address))
	case errors.Is(err, transport.ErrTimeout) && errors.As(err, &local):
		return timeoutError(fmt.Sprintf("cannot send to %s: %v (waited %v, --give-up)", address, local, p.flags.giveUp))
	case errors.Is(err, transport.ErrTimeout):
		return timeoutError(fmt.Sprintf("no answer from %s; is it running and reachable? A recv --plain, and other implementations, need --plain here (waited %v, --give-up)", address, p.flags.giveUp))
	}
	return err
}

// refusal returns what a receiver's reason means here, and what to do.
func (p peerProtocol) refusal(r *session.RefusedError) string {
	c := p.flags
	switch r.Reason {
	case session.Full:
		return "it has as many connections as it takes; try again later"
	case session.UnknownIdentity:
		if c.key == "" {
			return "it takes only senders that it knows; give --key FILE with an identity that is in its key file"
		}
		return fmt.Sprintf("it does not know the identity %s, or has another key for it; recv must have --key with a file that has the line of %s", identityName(p.cfg.Identity), c.key)
	case session.OtherVersion:
		return fmt.Sprintf("it has version %d of the protocol, and this is version %d; use the same chunkwire at both ends", r.Version, session.Version)
	case session.OtherProtocol:
		return "it has another --protocol-id; give the same at both ends"
	case session.OtherMode:
		return fmt.Sprintf("it has another --mode than %s; give the same at both ends (the default is aead)", nameOf(p.cfg.Mode))
	case session.OtherFormat, session.NoCommonVariant:
		return "it is no chunkwire recv, or one of another version"
	}
	return fmt.Sprintf("the connection is not there any more (%v); start again", r.Reason)
}

func nameOf(mode session.Mode) string {
	for _, name := range modeNames {
		if m, _ := modeOf(name); m == mode {
			return name
		}
	}
	return fmt.Sprint(mode)
}

func (p peerProtocol) explain(err error, peer net.Addr, far course, st socketStats) error {
	var closed *transport.ClosedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &closed) && closed.Remote:
		return timeoutError(fmt.Sprintf("%v has ended the transfer after %s: %s", peer, far, closing(closed)))
	case errors.Is(err, transport.ErrReplaced):
		return timeoutError(fmt.Sprintf("another sender with the same identity took the place of %v after %s; give each sender a key of its own", peer, far))
	case errors.Is(err, transport.ErrTimeout):
		return timeoutError(fmt.Sprintf("%v stopped answering after %s%s (waited %v, --give-up)", peer, far, st.local(), p.flags.giveUp))
	case errors.Is(err, transport.ErrFailed):
		return timeoutError(fmt.Sprintf("%v answers, but takes nothing more after %s%s", peer, far, st.local()))
	}
	return err
}

// closing returns the reason that the other end gave. Its text is only shown as it would
// be written in a program: it is not ours.
func closing(e *transport.ClosedError) string {
	for _, why := range []farewell{farewellInterrupted, farewellFailed, farewellBusy, farewellNoFile, farewellTooLarge} {
		if e.Code == why.code {
			return why.text
		}
	}
	switch {
	case e.Code == farewellDone.code && e.Text == canceledText:
		return farewellInterrupted.text
	case e.Code == farewellDone.code:
		return "it left before the end"
	}
	return fmt.Sprintf("code %d, %s", e.Code, strconv.Quote(e.Text))
}

// canceledText is what the transport says when a chunk in flight is canceled.
const canceledText = "canceled"

type peerRemote struct {
	*transport.Chunks
	peer *transport.Peer
}

func (r peerRemote) repaired() bool {
	return r.peer.Stats().Agreed.Variant == session.VariantRepair
}

func (r peerRemote) socket() socketStats {
	st := r.peer.Stats()
	return socketStats{
		datagramsOut: st.DatagramsOut, undecodable: st.Refused,
		writeErrors: st.WriteErrors, lastWriteError: st.LastWriteError,
	}
}

// linger waits until the other end has left: it then knows that this one is done.
func (r peerRemote) linger(ctx context.Context, quiet time.Duration) {
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	select {
	case <-r.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (r peerRemote) part(_ context.Context, why farewell) {
	_ = r.peer.Close(why.code, why.text)
}

// isFull reports whether a server has refused a connection for want of room.
func isFull(err error) bool {
	var refused *session.RefusedError
	return errors.As(err, &refused) && refused.Reason == session.Full
}

// closeWait is how long a sender that failed waits for the close, which comes behind the receipt.
const closeWait = 5 * time.Second

// leftBusy reports whether the other end has closed the connection because it receives from others.
func leftBusy(ctx context.Context, r remote) bool {
	if _, ok := r.(peerRemote); !ok { // other protocols have no close
		return false
	}
	select {
	case <-r.Done():
	case <-time.After(closeWait):
	case <-ctx.Done():
	}
	var closed *transport.ClosedError
	return errors.As(r.Err(), &closed) && closed.Remote && closed.Code == farewellBusy.code
}

// leftWell reports whether the other end has closed the connection because it was done.
func leftWell(r remote) bool {
	var closed *transport.ClosedError
	return errors.As(r.Err(), &closed) && closed.Remote && closed.Code == farewellDone.code && closed.Text == farewellDone.text
}

type peerGate struct{ *transport.Server }

func (g peerGate) accept(ctx context.Context) (remote, error) {
	peer, err := g.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return peerRemote{peer.Chunks(), peer}, nil
}

func (g peerGate) socket() socketStats {
	st := g.Stats()
	s := socketStats{
		datagramsOut: st.DatagramsOut, writeErrors: st.WriteErrors, lastWriteError: st.LastWriteError,
		readBuffer: st.ReadBuffer, writeBuffer: st.WriteBuffer, bufferWanted: st.BufferWanted,
	}
	for code, n := range st.Undecodable {
		if code != session.CodeEndedLink {
			s.undecodable += n
		}
	}
	return s
}

// misfitHints are what a receiver can say of those that it refuses.
var misfitHints = []struct {
	reason session.Reason
	says   string
}{
	{session.UnknownIdentity, "has no identity and key that are known here; they must be in the file of --key"},
	{session.OtherMode, "has another --mode"},
	{session.OtherProtocol, "has another --protocol-id"},
	{session.OtherVersion, "has another version"},
	{session.OtherFormat, "is no chunkwire send, or one of another version"},
	{session.Full, "finds no place: there are too many connections"},
}

func (g peerGate) misfits() string {
	st := g.Stats()
	for _, hint := range misfitHints {
		if st.Refused[hint.reason] > 0 {
			return fmt.Sprintf("%v is refused: it %s", st.RefusedFrom[hint.reason], hint.says)
		}
	}
	if n := st.Undecodable[session.CodeUnknownKind]; n > 0 {
		return fmt.Sprintf("%s from %v are of no connection; a send --plain, and other implementations, need --plain here", countOf(n, "datagram"), st.UndecodableFrom[session.CodeUnknownKind])
	}
	return ""
}

// keysOf returns the keys of the identities that a receiver takes.
func keysOf(all []credential) func(context.Context, uint64) (session.Key, error) {
	keys := map[uint64]session.Key{}
	for _, c := range all {
		keys[c.identity] = c.key
	}
	return func(_ context.Context, identity uint64) (session.Key, error) { return keys[identity], nil }
}
