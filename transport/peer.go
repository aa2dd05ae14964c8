package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Peer is one end of a connection. All its methods are safe for concurrent use.
type Peer struct {
	// Value is the application's: the library neither uses nor guards it.
	Value any

	link     driver.Link
	chunks   Chunks
	shard    *shard  // of a server; nil at a client
	client   *client // nil at a server
	identity uint64
	home     uint64 // the source that it came from first: a move makes no room
	accepted atomic.Bool
	ends     ends

	// Guarded by the driver.

	conn     *connection.Conn // at a client nil until the handshake is done
	heardAt  core.Micros      // when something valid came last
	sampleAt core.Micros      // when the round trip is to be counted again
	inboxes  []inbox          // of channels that somebody waits for
	progress driver.Signal    // there may be room for messages, or all may be delivered
	shown    shown            // the other end's clock
	over     bool             // the other end needs nothing more: the driver does not know it
	endAdmit func()           // ends the context of Config.Admit; nil: it is not called
}

// ends is what a Peer drives: a connection.Client or a connection.ServerConn.
type ends interface {
	driver.End
	Close(now core.Micros, code uint16, text string) error
}

// newPeer returns a peer that its driver does not know yet.
func newPeer(links *driver.Links, ends ends, to udp.Addr) *Peer {
	p := &Peer{ends: ends}
	p.link = driver.Link{Links: links, Owner: (*owner)(p), End: ends, To: to}
	p.chunks = driver.NewChunkQueue(&p.link)
	return p
}

// begunLocked notes that there is a connection.
func (p *Peer) begunLocked(conn *connection.Conn) { p.conn, p.link.Chunks = conn, conn }

// Chunks returns the service for blocks of up to 256 KiB.
func (p *Peer) Chunks() *Chunks { return &p.chunks }

// Channel returns a channel. If Config.Channels does not have it, its methods fail
// with ErrNoChannel.
func (p *Peer) Channel(id uint8) Channel { return Channel{p, id} }

// Unreliable returns the first unreliable channel of Config.Channels. If there is
// none, its methods fail with ErrNoChannel.
func (p *Peer) Unreliable() Channel { return Channel{p, p.config().unreliable} }

func (p *Peer) config() *settings {
	if p.client != nil {
		return &p.client.settings
	}
	return &p.shard.server.settings
}

// Identity returns the client's identity; 0 if it is anonymous.
func (p *Peer) Identity() uint64 { return p.identity }

// LocalAddr returns the address of the socket.
func (p *Peer) LocalAddr() net.Addr { return p.link.LocalAddr() }

// RemoteAddr returns the address of the other end, which changes when a client moves.
func (p *Peer) RemoteAddr() net.Addr { return p.link.RemoteAddr() }

// Err returns why the connection has ended, or nil while it is active.
func (p *Peer) Err() error { return p.link.Err() }

// Done returns a channel that is closed when the connection has ended. What came
// before can still be received.
func (p *Peer) Done() <-chan struct{} { return p.link.Done() }

// SendNow ends a tick of the game: the messages that were given so far are sent at once, and do not wait for
// Config.Tick, as far as Config.MessageRate allows. On a path that is congested, or of which not much is known
// yet, as in the first seconds, it does nothing. Call it after the last Send of a tick.
func (p *Peer) SendNow() {
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	p.sendNowLocked(p.link.Driver.Now())
}

func (p *Peer) sendNowLocked(now core.Micros) {
	if p.conn == nil || p.over {
		return
	}
	p.conn.SendNow(now)
	p.link.ScheduleLocked(max(now, p.ends.Deadline()))
}

// Flush waits until the peer has every chunk and every message of a reliable channel
// that was given before, and the unreliable ones were sent. It fails with
// ErrCanceled, with ErrFailed if a channel has failed, or with the error that ended the
// connection.
func (p *Peer) Flush(ctx context.Context) error {
	return p.await(ctx, func() (done bool, err error) {
		if failed := p.conn.Failed(); failed != 0 {
			return false, Channel{p, uint8(bits.TrailingZeros64(failed))}.errLocked()
		}
		return p.conn.Delivered(), nil
	})
}

// await calls a function under the lock until it is done or fails, each time that
// there is progress.
func (p *Peer) await(ctx context.Context, try func() (done bool, err error)) error {
	for {
		if ctx.Err() != nil {
			return driver.Canceled(ctx)
		}
		progress, err := p.tryLocked(try)
		if progress == nil {
			return err
		}
		select {
		case <-progress:
		case <-ctx.Done():
		}
	}
}

// tryLocked calls the function once, and returns what to wait for if it is not done.
func (p *Peer) tryLocked(try func() (done bool, err error)) (progress <-chan struct{}, err error) {
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	if p.link.ErrLocked() != nil {
		return nil, p.link.ErrLocked()
	}
	if done, err := try(); done || err != nil {
		return nil, err
	}
	return p.progress.Wait(), nil
}

// polled is a peer as its driver sees it.
type polled Peer

func (p *polled) PollLocked(now core.Micros, b *driver.Batch) {
	if p.link.PollLocked(now, b); !b.Full() && (*Peer)(p).closedLocked() {
		(*Peer)(p).leaveLocked()
	}
}

// owner is a peer as its link sees it.
type owner Peer

func (o *owner) UpdateLocked(now, earliest core.Micros) { (*Peer)(o).updateLocked(now, earliest) }

func (o *owner) AbandonLocked(cause error) { _ = (*Peer)(o).closeLocked(0, "canceled", cause) }

// closedLocked reports whether the other end needs nothing more of this one.
func (p *Peer) closedLocked() bool {
	if p.client != nil {
		return p.client.machine.State() == session.Closed
	}
	return p.conn.State() == connection.Closed
}

// leaveLocked forgets a connection that has ended.
func (p *Peer) leaveLocked() {
	if p.over {
		return
	}
	p.over = true
	p.link.RemoveLocked()
	if p.client != nil {
		p.link.Driver.EndLocked(p.link.ErrLocked())
		return
	}
	p.shard.forgetLocked(p)
}

// updateLocked ends an event: it gives the application what there is for it, and the
// connection its next time, not before earliest.
func (p *Peer) updateLocked(now, earliest core.Micros) {
	if p.over {
		return
	}
	if p.client != nil {
		p.client.watchRouteLocked(now)
	}
	if p.conn != nil {
		p.link.DeliverLocked(now)
		p.deliverMessagesLocked(now)
		p.progress.Give()
	}
	due := p.ends.Deadline()
	if p.closedLocked() {
		due = earliest // to leave
	}
	if p.link.ErrLocked() == nil {
		if err := p.causeLocked(); err != nil {
			p.endLocked(explain(err, p.link.To, p.link.Driver.StatsLocked().WriteError))
		}
	}
	p.link.ScheduleLocked(max(earliest, due))
}

// causeLocked returns why the connection has ended, or nil.
func (p *Peer) causeLocked() error {
	if p.client != nil {
		return p.client.machine.Err()
	}
	return p.conn.Err()
}

// noteEndLocked counts how the connection ended, and logs it: a client has none before its handshake is done.
func (p *Peer) noteEndLocked(end End) {
	if p.shard != nil {
		p.shard.stats.ended[end]++
	}
	if p.conn != nil {
		p.link.Driver.Log.Ended(p.link.To, string(end), end.wanted(), p.link.ErrLocked())
	}
}

// logEndLocked writes to the event log that the connection has ended since its socket has.
func (p *Peer) logEndLocked(log eventlog.Log, end eventlog.End) {
	if log == nil {
		return
	}
	err := p.link.ErrLocked()
	e := eventlog.Event{
		Kind: eventlog.ConnectionEnded, At: p.link.Driver.Now(), End: end, Why: string(endOf(err)), Text: err.Error(),
	}
	if errors.Is(err, ErrUnreachable) {
		e.Why = "unreachable"
	}
	if p.conn != nil {
		e.Group = int(p.conn.Link().ID())
	}
	log(e)
}

// endLocked ends the connection for the application, unless it has ended.
func (p *Peer) endLocked(cause error) {
	if p.link.ErrLocked() != nil {
		return
	}
	p.link.EndLocked(cause)
	p.noteEndLocked(endOf(cause))
	if p.endAdmit != nil {
		p.endAdmit()
	}
	for i := range p.inboxes {
		p.inboxes[i].arrived.Give()
	}
	p.progress.Give()
	if p.shard != nil && p.link.CompleteLocked() == 0 && p.conn.Readable() == 0 {
		p.shard.server.acceptor.Withdraw(p)
	}
}

// lastPackets is how many packets with what is due go out before a close.
const lastPackets = 4

// Close ends the connection with ErrClosed, and informs the other end: a code of the
// application, 0 or 256 and more, and a text of at most 128 bytes. The other end's
// calls then fail with ErrClosedRemotely. Acks that are due go out before, and what
// has arrived can still be received; what was not delivered fails, unless Flush came
// before.
//
// At a client Close returns when the other end has heard it, or after one second; the
// socket is closed then, and the goroutines have ended. At a server it returns at
// once. It fails if the code or the text is not allowed: the connection ends
// nevertheless, with code 0 or as much of the text as is allowed. At a client it also
// fails with what closing the socket returned. It is idempotent.
func (p *Peer) Close(code uint16, text string) error {
	err := p.beginClose(code, text)
	if p.client == nil {
		return err
	}
	return cmp.Or(err, p.client.awaitEnd())
}

func (p *Peer) beginClose(code uint16, text string) error {
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	return p.closeLocked(code, text, fmt.Errorf("%w: connection with %v", ErrClosed, p.link.To))
}

// closeLocked begins to close the connection.
func (p *Peer) closeLocked(code uint16, text string, cause error) error {
	if p.link.ErrLocked() != nil || p.over {
		return nil
	}
	now := p.link.Driver.Now()
	if p.conn != nil {
		p.link.SendLastLocked(now, lastPackets)
	}
	err := p.ends.Close(now, code, text)
	if err != nil { // it ends all the same, with what is left of them
		err = fmt.Errorf("transport: closed with other words: a code is 0 or 256 and more, a text has at most %d bytes of UTF-8: %w", connection.MaxText, err)
		if code < 256 {
			code = 0
		}
		_ = p.ends.Close(now, code, shortened(text))
	}
	p.endLocked(cause)
	p.updateLocked(now, now)
	return err
}

// shortened returns a text that can be sent.
func shortened(text string) string {
	text = strings.ToValidUTF8(text, "?")
	for len(text) > connection.MaxText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// heardLocked notes that something valid came from the other end.
func (p *Peer) heardLocked(now core.Micros, size int) {
	p.heardAt = max(p.heardAt, now)
	p.link.Traffic.In(size)
	p.sampleLocked(now)
}

// expireLocked ends the connection if its time is over, while a write blocks. It
// leaves the driver a quarter more than it needs: if it can go on after all, what
// waits in the socket comes before the timers.
func (p *Peer) expireLocked(now core.Micros) {
	timeout := session.DefaultTimeout
	if p.conn != nil {
		timeout = p.conn.Link().Agreed().Timeout
	} else if own := p.config().Timeout; own > 0 {
		timeout = core.FromDuration(own)
	}
	if p.over || p.link.ErrLocked() == nil && now-p.heardAt < timeout*5/4 {
		return
	}
	p.ends.Poll(now, nil) // which notices; what it would send is lost
	p.updateLocked(now, now)
	if p.closedLocked() {
		p.leaveLocked()
	}
}
