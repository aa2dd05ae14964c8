package plain

import (
	"context"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/machine"
)

// drive sends what is due until the endpoint ends. It is the only one that
// writes to the socket, and closes it.
func (e *Endpoint) drive() {
	defer close(e.driven)
	defer e.closeSocket()
	b := newBatch(e.framers)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		expected := e.clock.now()
		next, active := e.collect(b)
		if len(b.runs) > 0 {
			e.write(b.runs)
		} else if !active {
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
func (e *Endpoint) collect(b *batch) (next machine.Micros, active bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b.reset(e.lastAcks)
	e.lastAcks = nil
	now := e.clock.now()
	e.reportFlushedLocked(now)
	for e.agenda.next() <= now && !b.full() {
		e.agenda.first().pollLocked(now, b)
	}
	for i := range b.runs {
		e.stats.outRun(&b.runs[i])
	}
	next, active = e.agenda.next(), e.err == nil
	e.sleepUntil = awake
	if len(b.runs) > 0 {
		e.watchdog.beginLocked()
	} else if active {
		e.sleepUntil = next
	}
	return next, active
}

// write gives runs to the socket.
func (e *Endpoint) write(runs []udp.Run) {
	failed, err := e.socket.Write(runs)
	e.mu.Lock()
	e.watchdog.endLocked()
	if failed > 0 {
		e.stats.WriteErrors += failed
		e.stats.LastWriteError = err
	}
	e.mu.Unlock()
	if udp.PortUnreachable(err) {
		e.portUnreachable(err)
	}
}

// wakeDriverLocked ends the driver's sleep if there is a reason.
func (e *Endpoint) wakeDriverLocked() {
	if e.sleepUntil > e.agenda.next() || e.sleepUntil != awake && (e.err != nil || len(e.lastAcks) > 0) {
		e.sleepUntil = awake
		select {
		case e.wake <- struct{}{}:
		default: // one is left from when the timer came first
		}
	}
}

// sendLastAcksLocked sends the acks that are due at a connection's end: without
// them a peer whose chunk is complete would not know.
func (e *Endpoint) sendLastAcksLocked(c *Conn) {
	if len(e.lastAcks) >= maxLastAcks {
		return
	}
	now := e.clock.now()
	for k := range c.lanes {
		for {
			a, ok := c.lanes[k].receiver.Poll(now)
			if !ok {
				break
			}
			if data, err := e.framers[k].AppendAck(nil, a); err == nil {
				e.lastAcks = append(e.lastAcks, udp.Run{Data: data, Size: len(data), To: c.peer})
				c.traffic.out(len(data))
			}
		}
	}
	e.wakeDriverLocked()
}

// sleep waits for a time, or for a wake. It wakes a nanosecond late: where time
// is virtual, packets of the same moment are then handled before the timers
// (SND-4, RCV-2).
func (e *Endpoint) sleep(timer *time.Timer, until machine.Micros) {
	if until == machine.Never {
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

// flush is a caller that waits until the acks that are due have been sent.
type flush struct {
	conn *Conn
	done chan struct{}
}

// Flush waits until the socket was given the acks that are due now. What was
// received last is then acked once; if that ack may be lost there is Linger. Flush
// fails with ErrCanceled, or with the error that ended the connection.
func (c *Conn) Flush(ctx context.Context) error {
	e := c.endpoint
	f := flush{c, make(chan struct{})}
	e.mu.Lock()
	e.flushes = append(e.flushes, f)
	if e.sleepUntil != awake { // so nothing is on its way to the socket
		e.reportFlushedLocked(e.clock.now())
	}
	e.mu.Unlock()
	select {
	case <-f.done:
		return c.Err()
	case <-c.Done():
		return c.Err()
	case <-ctx.Done():
		return canceled(ctx)
	}
}

// reportFlushedLocked wakes those who wait and have nothing due any more. The
// driver must have written all that it collected.
func (e *Endpoint) reportFlushedLocked(now machine.Micros) {
	e.flushes = slices.DeleteFunc(e.flushes, func(f flush) bool {
		if f.conn.err == nil && f.conn.ackDeadlineLocked() <= now {
			return false
		}
		close(f.done)
		return true
	})
}

// A process that was stopped finds its timers expired and the packets that would
// have prevented it still in the socket.
const (
	stallIsLong  = 100 * machine.Millisecond
	stallRecover = 10 * time.Millisecond
)

// recoverFromStall lets the reader go first if the driver comes much later than
// expected.
func (e *Endpoint) recoverFromStall(expected machine.Micros) {
	if e.clock.now()-expected >= stallIsLong {
		time.Sleep(stallRecover)
	}
}
