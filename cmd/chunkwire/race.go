package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport/file"
)

// Who sends a little now and then would hold a recv that takes one sender alone. So several
// are taken, the first file that is complete and right is stored, and one that is slow loses its
// place to another that comes.
const (
	mostSenders = 3
	leastRate   = 8 << 10         // bytes a second, since it was taken
	slowAfter   = 5 * time.Second // when a sender can be slow
	refuseTime  = 3 * time.Second // for which recv waits until all others know
)

var errOtherStored = errors.New("another sender's file is stored")

// race is the transfers of a recv.
type race struct {
	rc      *receiving
	running map[*transfer]bool
	ended   chan *transfer
	out     output // of the first

	mu  sync.Mutex
	won bool
}

// transfer is the transfer of one sender.
type transfer struct {
	sender arrival
	out    output
	far    course
	cancel context.CancelCauseFunc
	err    error
}

// race receives from the first sender and from others that come, until one file is stored or no
// sender is left. It returns the transfer that ended it.
func (rc *receiving) race(ctx context.Context, show func(done, total int64)) *transfer {
	c := &race{rc: rc, running: map[*transfer]bool{}, ended: make(chan *transfer), out: rc.out}
	defer close(rc.entrance.decided)
	c.begin(ctx, rc.sender, rc.out, show)
	for {
		select {
		case a := <-rc.entrance.arrivals:
			c.admit(ctx, a)
		case t := <-c.ended:
			delete(c.running, t)
			if t.err == nil {
				c.stop()
			} else if len(c.running) > 0 {
				c.dismiss(ctx, t)
				continue
			}
			if t.err != nil {
				t.out.discard()
			}
			return t
		}
	}
}

// begin begins a transfer.
func (c *race) begin(ctx context.Context, sender arrival, out output, show func(done, total int64)) {
	t := &transfer{sender: sender, out: out}
	ctx, t.cancel = context.WithCancelCause(ctx)
	c.running[t] = true
	go func() {
		t.err = c.receive(ctx, t, show)
		c.ended <- t
	}()
}

// admit takes another sender, if there is a place for it.
func (c *race) admit(ctx context.Context, sender arrival) {
	out := c.out.another()
	if c.rc.flags.plain { // which cannot tell a sender why it was left
		out = nil
	}
	if out != nil && len(c.running) >= mostSenders {
		if slow := c.slowest(); slow != nil {
			slow.cancel(errOtherStored)
			c.await(ctx, slow)
		}
	}
	if out == nil || len(c.running) >= mostSenders {
		go c.rc.entrance.refuseLate(ctx, sender.from)
		return
	}
	c.rc.note.printf("%v sends a file, too; the first that is complete is stored", sender.from.RemoteAddr())
	c.begin(ctx, sender, out, func(int64, int64) {})
}

// await waits for the end of a transfer that was canceled, unless another one ends first.
func (c *race) await(ctx context.Context, slow *transfer) {
	t := <-c.ended
	if t != slow {
		go func() { c.ended <- t }()
		return
	}
	delete(c.running, t)
	c.dismiss(ctx, t)
}

// slowest returns the slowest transfer, if it is slow.
func (c *race) slowest() (slow *transfer) {
	least := int64(leastRate)
	for t := range c.running {
		took := time.Since(t.sender.at)
		if rate := t.sender.from.ReceiverStats().SlicesStored * codec.SliceSize * int64(time.Second) / int64(took+1); took >= slowAfter && rate < least {
			least, slow = rate, t
		}
	}
	return slow
}

// dismiss lets a sender go while others send on.
func (c *race) dismiss(ctx context.Context, t *transfer) {
	t.cancel(nil)
	t.out.discard()
	if errors.Is(t.err, errOtherStored) {
		go c.rc.entrance.refuseLate(ctx, t.sender.from)
		return
	}
	if ctx.Err() == nil {
		c.rc.note.printf("%v; other senders go on", t.err)
	}
	go t.sender.from.part(ctx, farewellOf(ctx, t.err))
}

// stop ends all other transfers.
func (c *race) stop() {
	for t := range c.running {
		t.cancel(errOtherStored)
	}
	var told sync.WaitGroup
	for range c.running {
		t := <-c.ended
		t.out.discard()
		told.Go(func() { c.rc.entrance.refuseLate(context.Background(), t.sender.from) })
	}
	all := make(chan struct{})
	go func() {
		told.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-time.After(refuseTime): // they hear it when the socket is closed
	}
}

// receive stores what a sender sends.
func (c *race) receive(ctx context.Context, t *transfer, show func(done, total int64)) error {
	w, err := t.out.open(ctx)
	if err != nil {
		file.Refuse(ctx, t.sender.from)
		return err
	}
	from := t.sender.from
	if !c.rc.flags.plain { // which ends by itself
		from = patient{from, idleGiveUps * c.rc.flags.giveUp}
	}
	commit := func() error { return c.commit(w) }
	t.sender.info, err = file.ReceiveContent(ctx, from, t.sender.info, w, &file.ReceiveOptions{Commit: commit, Progress: t.far.follow(show)})
	return err
}

// commit gives the first file that is complete its name, and no other.
func (c *race) commit(w sink) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.won {
		return errOtherStored
	}
	err := w.Commit()
	c.won = err == nil
	return err
}
