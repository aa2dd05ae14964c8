package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/file"
)

// entrance takes what all remotes send at once, until a file is stored: one that sends
// something else, or nothing more, delays and ends nothing.
type entrance struct {
	flags    *recvFlags
	gate     gate
	note     note
	arrivals chan arrival

	decided chan struct{} // closed when no more files are wanted
	over    chan struct{} // closed when nobody takes arrivals any more

	mu      sync.Mutex
	chosen  bool            // a file has begun
	active  map[remote]bool // with --raw: those whose chunk has begun and is not complete
	others  int             // remotes that sent something else
	refused int             // remotes whose file came too late, or is too large
}

// arrival is the result of a remote: the header of a file, or with --raw its chunk,
// or why there is none.
type arrival struct {
	from  remote
	info  file.Info
	chunk []byte
	err   error
	at    time.Time
}

func newEntrance(flags *recvFlags, g gate, n note) *entrance {
	return &entrance{flags: flags, gate: g, note: n, arrivals: make(chan arrival), decided: make(chan struct{}), over: make(chan struct{}), active: map[remote]bool{}}
}

const (
	listedPeers    = 3                      // of those that send no file, or too late
	lookInterval   = 50 * time.Millisecond  // at what begins to arrive
	misfitTime     = time.Second            // until it is reported that some try in vain
	noticeInterval = 200 * time.Millisecond // of looks at that
)

// wait returns the remote whose file has begun, or with --raw the first whose chunk has.
// All others are taken care of as long as the gate lasts.
func (e *entrance) wait(ctx context.Context) (arrival, error) {
	awaited := "no sender of a file"
	if e.flags.raw {
		awaited = "no sender"
	}
	waiting, cancel := withTimeout(ctx, e.flags.wait, fmt.Sprintf("%s within %v; allow more with --wait", awaited, e.flags.wait))
	defer cancel()
	first, failed := make(chan arrival, 1), make(chan error, 1)
	go func() { failed <- e.accept(ctx, first) }()
	if !e.flags.raw {
		first = e.arrivals
	}
	tick := time.NewTicker(noticeInterval)
	defer tick.Stop()
	var since time.Time // when the first misfit was seen
	for noted := false; ; {
		select {
		case a := <-first:
			return a, nil
		case err := <-failed:
			if err != nil {
				return arrival{}, err
			}
		case <-waiting.Done():
			return arrival{}, ended(waiting)
		case now := <-tick.C:
			if since, noted = e.noticeMisfits(now, since, noted); noted {
				tick.Stop()
			}
		}
	}
}

// noticeMisfits says once that ends try in vain.
func (e *entrance) noticeMisfits(now, since time.Time, noted bool) (time.Time, bool) {
	switch misfits := e.gate.misfits(); {
	case misfits == "":
	case since.IsZero():
		since = now
	case now.Sub(since) >= misfitTime-noticeInterval:
		e.note.printf("%s", misfits)
		noted = true
	}
	return since, noted
}

// accept gives each remote a goroutine, until the context ends or the gate fails. With --raw the first whose chunk begins
// is sent to first.
func (e *entrance) accept(ctx context.Context, first chan<- arrival) error {
	for {
		from, err := e.gate.accept(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if e.flags.raw {
			go e.takeChunk(ctx, from, first)
		} else {
			go e.takeHeader(ctx, from)
		}
	}
}

func (e *entrance) arrive(ctx context.Context, a arrival) {
	a.at = time.Now()
	select {
	case e.arrivals <- a:
	case <-e.decided:
		e.refuseLate(ctx, a.from)
	case <-ctx.Done():
	case <-e.over:
	}
}

// refuseLate informs a remote that others were before it.
func (e *entrance) refuseLate(ctx context.Context, from remote) {
	e.refuse(ctx, from, farewellBusy, "wants to send a file, too")
}

// takeHeader waits for the beginning of a file. Those whose file is too large get the
// receipt that it is not stored.
func (e *entrance) takeHeader(ctx context.Context, from remote) {
	info, err := e.begin(ctx, from)
	switch {
	case err == nil:
		e.choose()
		e.arrive(ctx, arrival{from: from, info: info})
	case errors.Is(err, file.ErrTooLarge):
		e.refuse(ctx, from, farewellTooLarge, fmt.Sprintf("sends %s, more than --max-size %s (0 allows any size)", exactBytes(info.Size), exactBytes(e.flags.maxSize)))
	case ctx.Err() != nil, errors.Is(err, transport.ErrClosed):
		from.part(ctx, farewellInterrupted)
	default:
		e.noteOther(from)
		from.part(ctx, farewellNoFile)
	}
}

// begin returns the header of a file once some of its content is here: who announces a
// file and does not send it keeps nobody else out.
func (e *entrance) begin(ctx context.Context, from remote) (info file.Info, err error) {
	if info, err = e.header(ctx, from); err != nil {
		return info, err
	}
	switch most := e.flags.maxSize; {
	case most > 0 && info.Size > most:
		return info, file.ErrTooLarge
	case info.Size == 0:
		return info, nil
	}
	return info, e.await(ctx, from, 1, func() bool { return from.Receiving().NumSlices > 0 })
}

// refuse informs a remote that its file is not stored.
func (e *entrance) refuse(ctx context.Context, from remote, why farewell, says string) {
	e.noteRefused(from, says)
	file.Refuse(ctx, from)
	from.part(ctx, why)
}

// header returns the header, or an error as soon as it is clear that what arrives
// is none: a header has one slice.
func (e *entrance) header(ctx context.Context, from remote) (file.Info, error) {
	err := e.await(ctx, from, 0, func() bool { return from.Receiving().NumSlices > 1 })
	if err != nil {
		return file.Info{}, err
	}
	select {
	case <-from.RecvReady():
		return file.ReceiveHeader(ctx, from)
	default:
		return file.Info{}, file.ErrConvention
	}
}

// await waits until there is another chunk to receive than those that were taken, or something else is so. A remote that
// is silent for --give-up leaves its place to another. A chunk that is here counts, although its sender has left, or
// the time is over.
func (e *entrance) await(ctx context.Context, from remote, taken int64, is func() bool) error {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	silent := time.NewTimer(e.flags.giveUp)
	defer silent.Stop()
	for !is() {
		select {
		case <-from.RecvReady():
			return e.unlessHere(from, taken, from.Err())
		case <-tick.C:
		case <-silent.C:
			return e.unlessHere(from, taken, file.ErrConvention)
		case <-ctx.Done():
			return ended(ctx)
		}
	}
	return nil
}

// unlessHere returns an error unless more chunks are here than were taken.
func (e *entrance) unlessHere(from remote, taken int64, err error) error {
	if from.ReceiverStats().Chunks > taken {
		return nil
	}
	return err
}

func (e *entrance) choose() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.chosen = true
}

// noteOther says that a remote sends no file, for the first few of them.
func (e *entrance) noteOther(from remote) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch e.others++; {
	case e.chosen || e.others > listedPeers+1:
	case e.others == listedPeers+1:
		e.note.printf("more peers send no file; they are not listed")
	default:
		e.note.printf("what %v sends is no file; waiting for another sender; for a send --raw or another implementation recv needs --raw", from.RemoteAddr())
	}
}

// noteRefused says why a remote's file is refused, for the first few of them.
func (e *entrance) noteRefused(from remote, says string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch e.refused++; {
	case e.refused <= listedPeers:
		e.note.printf("%v %s, and is refused", from.RemoteAddr(), says)
	case e.refused == listedPeers+1:
		e.note.printf("more files are refused; they are not listed")
	}
}

// takeChunk waits for the one chunk of --raw. A remote of which no slice has come is
// not waited for.
func (e *entrance) takeChunk(ctx context.Context, from remote, first chan<- arrival) {
	if !e.awaitSlice(ctx, from) {
		return
	}
	e.setActive(from, true)
	select {
	case first <- arrival{from: from, at: time.Now()}:
	default: // another was first
	}
	chunk, err := from.Recv(ctx)
	e.arrive(ctx, arrival{from: from, chunk: chunk, err: err})
}

// awaitSlice waits until something of a chunk is here. A sender leaves as soon as all of its chunk is acked, which can be
// before the next look: the chunk is here then.
func (e *entrance) awaitSlice(ctx context.Context, from remote) bool {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for from.ReceiverStats().SlicesReceived == 0 {
		select {
		case <-tick.C:
		case <-from.Done():
			return from.ReceiverStats().SlicesReceived > 0
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (e *entrance) setActive(from remote, active bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if active {
		e.active[from] = true
	} else {
		delete(e.active, from)
	}
}

// slices returns how many slices there are of the chunk of which most has arrived.
func (e *entrance) slices() (have, all int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for from := range e.active {
		if n := int(from.ReceiverStats().SlicesStored); n > have {
			have, all = n, from.Receiving().NumSlices
		}
	}
	return have, all
}

// nextChunk returns the first chunk of --raw that is complete. A remote that fails
// is the end only if there is no other.
func (e *entrance) nextChunk(ctx context.Context) (arrival, error) {
	for {
		select {
		case a := <-e.arrivals:
			if a.err == nil {
				return a, nil
			}
			e.mu.Lock()
			last := len(e.active) == 1
			e.mu.Unlock()
			if last {
				return a, a.err
			}
			e.setActive(a.from, false)
		case <-ctx.Done():
			return arrival{}, ended(ctx)
		}
	}
}
