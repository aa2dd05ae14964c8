package plain

import (
	"time"

	"github.com/chunkwire/chunkwire/machine"
)

// watchdog ends connections in time while the driver waits in a write that
// blocks, as that of a PacketConn with a queue of its own may. Its timer runs only
// while there is something to write.
type watchdog struct {
	endpoint *Endpoint
	timer    *time.Timer
	armed    bool
	writing  bool           // the driver is in a write
	writes   int64          // so far
	seen     int64          // writes when the timer was set
	expected machine.Micros // when the timer runs out
}

// watchInterval is how long a write may take until the watchdog looks.
const watchInterval = 100 * time.Millisecond

// beginLocked notes that the driver goes to write.
func (w *watchdog) beginLocked() {
	w.writing = true
	w.writes++
	if !w.armed && w.endpoint.err == nil {
		w.armLocked(watchInterval)
	}
}

func (w *watchdog) endLocked() { w.writing = false }

func (w *watchdog) armLocked(d time.Duration) {
	w.armed, w.seen = true, w.writes
	w.expected = w.endpoint.clock.now() + machine.FromDuration(d)
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.look)
	} else {
		w.timer.Reset(d)
	}
}

// stopLocked ends it.
func (w *watchdog) stopLocked() {
	w.armed = false
	if w.timer != nil {
		w.timer.Stop()
	}
}

// look is called by the timer.
func (w *watchdog) look() {
	e := w.endpoint
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.now()
	w.armed = false
	switch {
	case !w.writing || e.err != nil:
	case now-w.expected >= stallIsLong: // the process was stopped: the reader goes first
		w.armLocked(stallRecover)
	default:
		if w.writes == w.seen {
			e.expireLocked(now)
		}
		w.armLocked(watchInterval)
	}
}

// expireLocked ends the connections whose time is over. It leaves the driver a
// quarter more than it needs: if it can go on after all, packets that wait in the
// socket come before the timers.
func (e *Endpoint) expireLocked(now machine.Micros) {
	slack := machine.FromDuration(e.cfg.GiveUp / 4)
	for _, c := range e.conns {
		for i := range c.lanes {
			l := &c.lanes[i]
			if now-slack >= l.givesUpAt() {
				l.sender.Poll(now) // which gives up
			}
			if v := l.receiver.Vars(); l.receiving() && now-slack-machine.FromDuration(e.cfg.GiveUp) >= v.ProgressAt {
				l.receiver.Poll(now)
			}
			if l.failure() != nil {
				c.settleLocked(now)
				break
			}
		}
		if idle := c.idleAtLocked(); idle < machine.Never && now-machine.FromDuration(e.cfg.IdleTimeout/4) >= idle {
			c.settleLocked(now)
		}
	}
}
