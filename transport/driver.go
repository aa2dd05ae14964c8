package transport

import (
	"context"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/statemachine"
)

// drive sends what is due until the endpoint ends. It is the only one that
// writes to the socket, and closes it.
func (e *Endpoint) drive() {
	defer close(e.driven)
	defer e.closeSocket()
	b := newBatch(e.framers)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var failed int64
	for {
		expected := e.clock.now()
		next, live := e.collect(b, failed)
		failed = 0
		if len(b.messages) > 0 {
			failed = e.socket.write(b.messages)
		} else if !live {
			return
		} else {
			expected = max(expected, next)
			e.sleep(timer, next)
		}
		e.recoverFromStall(expected)
	}
}

// collect gathers what is due now, a batch at the most. If there is nothing, it
// notes until when the driver is going to sleep, under the same lock, so that no
// change goes unseen.
func (e *Endpoint) collect(b *batch, failed int64) (next statemachine.Micros, live bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.WriteErrors += failed
	b.reset(e.goodbyes)
	e.goodbyes = nil
	now := e.clock.now()
	e.reportFlushed(now)
	for e.agenda.next() <= now && !b.full() {
		e.agenda.first().poll(now, b)
	}
	for i := range b.messages {
		e.stats.outRun(&b.messages[i])
	}
	next, live = e.agenda.next(), e.err == nil
	e.sleepUntil = awake
	if live && len(b.messages) == 0 {
		e.sleepUntil = next
	}
	return next, live
}

// wakeDriver ends the driver's sleep if there is a reason. It needs e.mu.
func (e *Endpoint) wakeDriver() {
	if e.sleepUntil > e.agenda.next() || e.sleepUntil != awake && (e.err != nil || len(e.goodbyes) > 0) {
		e.sleepUntil = awake
		select {
		case e.wake <- struct{}{}:
		default: // one is left from when the timer came first
		}
	}
}

// sleep waits for a time, or for a wake. It wakes a nanosecond late: where time
// is virtual, packets of the same moment are then handled before the timers
// (SND-4, RCV-2).
func (e *Endpoint) sleep(timer *time.Timer, until statemachine.Micros) {
	if until == statemachine.Never {
		<-e.wake
		return
	}
	timer.Reset(e.clock.until(until) + 1)
	select {
	case <-e.wake:
		timer.Stop()
	case <-timer.C:
	}
}

// flush is somebody who waits until the acks that are due have been sent.
type flush struct {
	conn *Conn
	done chan struct{}
}

// flush waits until the socket was given the acks that are due now, or until
// there is no more to wait for.
func (c *Conn) flush(ctx context.Context) {
	e := c.endpoint
	f := flush{c, make(chan struct{})}
	e.mu.Lock()
	e.flushes = append(e.flushes, f)
	if e.sleepUntil != awake { // so nothing is on its way to the socket
		e.reportFlushed(e.clock.now())
	}
	e.mu.Unlock()
	select {
	case <-f.done:
	case <-c.Done():
	case <-ctx.Done():
	}
}

// reportFlushed tells those who wait and have nothing due any more. It needs
// e.mu, and that the driver has written all that it collected.
func (e *Endpoint) reportFlushed(now statemachine.Micros) {
	e.flushes = slices.DeleteFunc(e.flushes, func(f flush) bool {
		if f.conn.err == nil && f.conn.ackDeadline() <= now {
			return false
		}
		close(f.done)
		return true
	})
}

// A process that was stopped finds its timers expired and the packets that would
// have prevented it still in the socket.
const (
	stallIsLong  = 100 * statemachine.Millisecond
	stallRecover = 10 * time.Millisecond
)

// recoverFromStall lets the reader go first if the driver comes much later than
// expected.
func (e *Endpoint) recoverFromStall(expected statemachine.Micros) {
	if e.clock.now()-expected >= stallIsLong {
		time.Sleep(stallRecover)
	}
}
