package driver

import (
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// drive sends what is due until the driver ends. It closes the socket then.
func (d *Driver) drive() {
	defer close(d.driven)
	defer d.closeSocket()
	for {
		expected := d.Now()
		d.writer <- struct{}{}
		d.Lock()
		next, again, active := d.turnLocked()
		d.Unlock()
		if !again && !active {
			return
		} else if !again {
			expected = max(expected, next)
			d.sleep()
		}
		d.recoverFromStall(expected)
	}
}

// turnLocked collects a batch and writes it, for who has filled writer, which it empties. It unlocks while it writes.
func (d *Driver) turnLocked() (next core.Micros, again, active bool) {
	b := d.batch
	next, again, active = d.collectLocked(b)
	if len(b.runs) > 0 {
		socket := d.socket
		d.Unlock()
		failed, err := socket.Write(b.runs)
		refusal := udp.OffloadRefusal(socket)
		d.Lock()
		d.noteWriteLocked(failed, err, refusal)
	}
	b.reset(nil)
	b.rest()
	<-d.writer
	return next, again, active
}

// collectLocked gathers what is due now, a batch at the most, and reports when the next is, and whether to go on at
// once: on a fast path more comes due while a batch is written, and who sleeps waits for a processor. Otherwise it sets
// when the driver's sleep ends: under the same lock, so that no change goes unseen, and before the batch is written, so
// that a datagram that becomes due meanwhile waits for its pause.
func (d *Driver) collectLocked(b *Batch) (next core.Micros, again, active bool) {
	d.sleepUntil = awake
	b.reset(d.last)
	d.last = nil
	now := d.Now()
	d.reportFlushedLocked(now)
	for d.agenda.next() <= now && !b.Full() {
		d.agenda.first().conn.PollLocked(now, b)
	}
	d.workLocked(now)
	d.answers.moveTo(b)
	for i := range b.runs {
		d.stats.outRun(&b.runs[i])
	}
	if next, active = d.agenda.next(), d.err == nil; len(d.working) > 0 {
		next = now
	}
	if len(b.runs) > 0 {
		d.watchdog.beginLocked()
		again = d.pause == 0 || b.encoded > 1 || d.urgentLocked() // a sleep costs more than a small batch, and less than a single one
	}
	switch {
	case again || !active:
	case next <= now: // the others have their turn between two steps, and behind the last one
		d.sleepUntil = next
		d.timer.Reset(1)
	default:
		d.sleepLocked(next)
	}
	return next, again, active
}

// sleepLocked sets when the driver's sleep ends, not before its pause is over. It ends a nanosecond late: where time is
// virtual, packets of the same moment are then handled before the timers (SND-4, RCV-2).
func (d *Driver) sleepLocked(until core.Micros) {
	if until == core.Never {
		d.sleepUntil = until
		d.timer.Stop()
		return
	}
	d.sleepUntil = max(until, d.Now()+d.pause)
	d.timer.Reset(d.Until(d.sleepUntil) + 1)
}

// noteWriteLocked notes what became of a write: how many datagrams failed, the latest error, and why the socket does
// not cut runs.
func (d *Driver) noteWriteLocked(failed int64, err, refusal error) {
	d.watchdog.endLocked()
	d.stats.WriteError = err
	if refusal != nil && d.stats.OffloadRefusal == nil {
		d.Log.logOffload(refusal)
	}
	d.stats.OffloadRefusal = refusal
	if failed > 0 {
		d.stats.WriteErrors += failed
		d.stats.LastWriteError = err
	}
	if udp.PortUnreachable(err) {
		d.protocol.PortUnreachableLocked(err)
	}
}

// wakeLocked ends the driver's sleep if there is a reason, or sets it to end earlier; unless a reader is going to look.
func (d *Driver) wakeLocked() {
	switch next := d.agenda.next(); {
	case d.taking > 0 || d.sleepUntil == awake:
	case d.urgentLocked() || next < d.sleepUntil && next <= d.Now():
		d.rouseLocked()
	case next < d.sleepUntil-d.pause:
		d.sleepLocked(next)
	}
}

// urgentLocked reports whether there is something to do that is not in the agenda.
func (d *Driver) urgentLocked() bool {
	return d.err != nil || len(d.last) > 0 || d.answers.count > 0 || len(d.working) > 0 || len(d.flushes) > 0
}

// rouseLocked ends the driver's sleep.
func (d *Driver) rouseLocked() {
	d.sleepUntil = awake
	select {
	case d.wake <- struct{}{}:
	default: // one is left from when the timer came first
	}
}

// sleep waits for the timer, or for a wake.
func (d *Driver) sleep() {
	select {
	case <-d.wake:
	case <-d.timer.C:
	}
}

// sendNow ends what a reader has taken: while the driver sleeps it sends what is due, a batch at the most, since to wake
// another goroutine costs more. The rest is the driver's, and all while writes wait for room: nobody would read
// meanwhile.
func (d *Driver) sendNow() {
	d.Lock()
	defer d.Unlock()
	d.taking--
	began := d.Now()
	late := began - d.agenda.next()
	sends := d.sleepUntil != awake && d.err == nil && 0 <= late && late < stallIsLong && (!d.waited || udp.HasRoom(d.socket))
	if !sends || !d.tryWriter() {
		d.wakeLocked()
		return
	}
	next, again, _ := d.turnLocked()
	d.waited = d.Now()-began >= core.Millisecond
	if again || next <= d.Now() {
		d.rouseLocked()
	}
}

// tryWriter fills writer, if nobody writes.
func (d *Driver) tryWriter() bool {
	select {
	case d.writer <- struct{}{}:
		return true
	default:
		return false
	}
}

// A process that was stopped finds its timers expired and the packets that would
// have prevented it still in the socket.
const (
	stallIsLong  = 100 * core.Millisecond
	stallRecover = 10 * time.Millisecond
)

// recoverFromStall lets the reader go first if the driver comes much later than
// expected.
func (d *Driver) recoverFromStall(expected core.Micros) {
	if d.Now()-expected >= stallIsLong {
		time.Sleep(stallRecover)
	}
}

// CollectForTest collects what is due, as the driver does, without its goroutine. It
// is for tests of a Driver that was not started; what it returns lasts until the next
// call.
func (d *Driver) CollectForTest() []udp.Run {
	d.Lock()
	defer d.Unlock()
	d.collectLocked(d.batch)
	return d.batch.runs
}
