package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// entrance takes what all peers send at once, until one has begun a file: one that
// sends something else, or nothing more, delays and ends nothing.
type entrance struct {
	flags    *recvFlags
	endpoint *plain.Endpoint
	note     note
	arrivals chan arrival

	mu     sync.Mutex
	chosen bool
	active map[*plain.Conn]bool // with --raw: those whose chunk is not complete
	others int                  // peers that sent something else
}

// arrival is what came from a peer: the header of a file, or with --raw its chunk,
// or why there is none.
type arrival struct {
	conn  *plain.Conn
	info  file.Info
	chunk []byte
	err   error
	at    time.Time
}

func newEntrance(flags *recvFlags, endpoint *plain.Endpoint, n note) *entrance {
	return &entrance{flags: flags, endpoint: endpoint, note: n, arrivals: make(chan arrival), active: map[*plain.Conn]bool{}}
}

const (
	listedPeers     = 3                      // of those that send no file
	lookInterval    = 50 * time.Millisecond  // at what begins to arrive
	undecodableTime = time.Second            // until it is reported that nothing decodes
	noticeInterval  = 200 * time.Millisecond // of looks at that
)

// wait returns the peer whose file has begun, or with --raw the first peer. All
// others are taken care of as long as the endpoint lasts.
func (e *entrance) wait(ctx context.Context) (arrival, error) {
	awaited := "no sender of a file"
	if e.flags.raw {
		awaited = "no sender"
	}
	waiting, cancel := withTimeout(ctx, e.flags.wait, fmt.Sprintf("%s within %v; allow more with --wait", awaited, e.flags.wait))
	defer cancel()
	first := make(chan arrival, 1)
	go e.accept(ctx, first)
	if !e.flags.raw {
		first = e.arrivals
	}
	tick := time.NewTicker(noticeInterval)
	defer tick.Stop()
	var since time.Time // when the first datagram that does not decode was seen
	for noted := false; ; {
		select {
		case a := <-first:
			return a, a.err
		case <-waiting.Done():
			return arrival{}, ended(waiting)
		case now := <-tick.C:
			if since, noted = e.noticeUndecodable(now, since, noted); noted {
				tick.Stop()
			}
		}
	}
}

// noticeUndecodable says once that datagrams come that do not decode.
func (e *entrance) noticeUndecodable(now, since time.Time, noted bool) (time.Time, bool) {
	st := e.endpoint.Stats()
	switch {
	case st.Undecodable == 0:
	case since.IsZero():
		since = now
	case now.Sub(since) >= undecodableTime-noticeInterval:
		e.note.printf("%s from %v do not decode: another --protocol-id or --lanes?", countOf(st.Undecodable, "datagram"), st.UndecodableFrom)
		noted = true
	}
	return since, noted
}

// accept gives each peer a goroutine. The first one is sent to first.
func (e *entrance) accept(ctx context.Context, first chan<- arrival) {
	for n := 0; ; n++ {
		conn, err := e.endpoint.Accept(ctx)
		if err != nil {
			if ctx.Err() == nil && e.endpoint.Err() != nil {
				e.arrive(ctx, arrival{err: err})
			}
			return
		}
		if !e.flags.raw {
			go e.takeHeader(ctx, conn)
			continue
		}
		e.setActive(conn, true)
		if n == 0 {
			first <- arrival{conn: conn, at: time.Now()}
		}
		go e.takeChunk(ctx, conn)
	}
}

func (e *entrance) arrive(ctx context.Context, a arrival) {
	a.at = time.Now()
	select {
	case e.arrivals <- a:
	case <-ctx.Done():
	case <-e.endpoint.Done():
	}
}

// takeHeader waits for the header of a file. The first peer that sends one is
// chosen; later ones get the receipt that their file is not stored.
func (e *entrance) takeHeader(ctx context.Context, conn *plain.Conn) {
	info, err := e.header(ctx, conn)
	switch {
	case err == nil && e.choose():
		e.arrive(ctx, arrival{conn: conn, info: info})
		return
	case err == nil:
		e.note.printf("%v wants to send a file, too, and is refused", conn.RemoteAddr())
		file.Refuse(ctx, conn)
		_ = conn.Linger(ctx, file.Linger)
	case !errors.Is(err, plain.ErrCanceled) && !errors.Is(err, plain.ErrClosed):
		e.noteOther(conn)
	}
	_ = conn.Close()
}

// header returns the header, or an error as soon as it is clear that what arrives
// is none: a header has one slice.
func (e *entrance) header(ctx context.Context, conn *plain.Conn) (file.Info, error) {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-conn.RecvReady():
			return file.ReceiveHeader(ctx, conn)
		case <-tick.C:
			if conn.Stats().Receiving.NumSlices > 1 {
				return file.Info{}, file.ErrConvention
			}
		case <-ctx.Done():
			return file.Info{}, plain.ErrCanceled
		}
	}
}

func (e *entrance) choose() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := !e.chosen
	e.chosen = true
	return first
}

// noteOther says that a peer sends no file, for the first few of them.
func (e *entrance) noteOther(conn *plain.Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch e.others++; {
	case e.chosen || e.others > listedPeers+1:
	case e.others == listedPeers+1:
		e.note.printf("more peers send no file; they are not listed")
	default:
		e.note.printf("what %v sends is no file; waiting for another sender; for a send --raw or another implementation recv needs --raw", conn.RemoteAddr())
	}
}

// takeChunk waits for the one chunk of --raw.
func (e *entrance) takeChunk(ctx context.Context, conn *plain.Conn) {
	chunk, err := conn.Recv(ctx)
	e.arrive(ctx, arrival{conn: conn, chunk: chunk, err: err})
}

func (e *entrance) setActive(conn *plain.Conn, active bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if active {
		e.active[conn] = true
	} else {
		delete(e.active, conn)
	}
}

// slices returns how many slices there are of the chunk of which most has arrived.
func (e *entrance) slices() (have, all int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for conn := range e.active {
		st := conn.Stats()
		if n := int(st.Receiver.SlicesStored); n > have {
			have, all = n, st.Receiving.NumSlices
		}
	}
	return have, all
}

// nextChunk returns the first chunk of --raw that is complete. A peer that fails
// is the end only if there is no other.
func (e *entrance) nextChunk(ctx context.Context) (arrival, error) {
	for {
		select {
		case a := <-e.arrivals:
			if a.err == nil {
				return a, nil
			}
			e.mu.Lock()
			last := a.conn == nil || len(e.active) == 1
			e.mu.Unlock()
			if last {
				return a, a.err
			}
			e.setActive(a.conn, false)
		case <-ctx.Done():
			return arrival{}, ended(ctx)
		}
	}
}
