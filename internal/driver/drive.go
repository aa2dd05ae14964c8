package driver

import (
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// drive sends what is due until the driver ends. It is the only one that writes to
// the socket, and closes it.
func (d *Driver) drive() {
	defer close(d.driven)
	defer d.closeSocket()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		expected := d.Now()
		socket, next, active := d.collect(d.batch)
		if len(d.batch.runs) > 0 {
			d.write(socket, d.batch.runs)
		} else if !active {
			return
		} else {
			expected = max(expected, next)
			d.sleep(timer, next)
		}
		d.recoverFromStall(expected)
	}
}

// collect gathers what is due now, a batch at the most. If there is nothing, it
// notes until when the driver is going to sleep, under the same lock, so that no
// change goes unseen.
func (d *Driver) collect(b *Batch) (socket udp.Socket, next core.Micros, active bool) {
	d.Lock()
	defer d.Unlock()
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
	d.sleepUntil = awake
	if len(b.runs) > 0 {
		d.watchdog.beginLocked()
	} else {
		b.rest()
		if active {
			d.sleepUntil = next
		}
	}
	return d.socket, next, active
}

// write gives runs to the socket.
func (d *Driver) write(socket udp.Socket, runs []udp.Run) {
	failed, err := socket.Write(runs)
	refusal := udp.OffloadRefusal(socket)
	d.Lock()
	defer d.Unlock()
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

// wakeLocked ends the driver's sleep if there is a reason.
func (d *Driver) wakeLocked() {
	work := d.err != nil || len(d.last) > 0 || d.answers.count > 0 || len(d.working) > 0
	if d.sleepUntil > d.agenda.next() || d.sleepUntil != awake && work {
		d.sleepUntil = awake
		select {
		case d.wake <- struct{}{}:
		default: // one is left from when the timer came first
		}
	}
}

// sleep waits for a time, or for a wake. It wakes a nanosecond late: where time
// is virtual, packets of the same moment are then handled before the timers
// (SND-4, RCV-2).
func (d *Driver) sleep(timer *time.Timer, until core.Micros) {
	if until == core.Never {
		<-d.wake
		return
	}
	timer.Reset(d.Until(until) + 1)
	select {
	case <-d.wake:
		timer.Stop()
	case <-timer.C:
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
	d.collect(d.batch)
	return d.batch.runs
}
