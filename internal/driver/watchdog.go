package driver

import (
	"time"

	"github.com/chunkwire/chunkwire/core"
)

// watchdog ends connections in time while the driver waits in a write that
// blocks, as the write of a PacketConn with a queue of its own can. Its timer runs only
// while there is something to write.
type watchdog struct {
	driver   *Driver
	timer    *time.Timer
	armed    bool
	writing  bool        // the driver is in a write
	writes   int64       // so far
	seen     int64       // writes when the timer was set
	expected core.Micros // when the timer runs out
}

// watchInterval is how long a write can take until the watchdog looks.
const watchInterval = 100 * time.Millisecond

// beginLocked notes that the driver goes to write.
func (w *watchdog) beginLocked() {
	w.writing = true
	w.writes++
	if !w.armed && w.driver.err == nil {
		w.armLocked(watchInterval)
	}
}

func (w *watchdog) endLocked() { w.writing = false }

func (w *watchdog) armLocked(d time.Duration) {
	w.armed, w.seen = true, w.writes
	w.expected = w.driver.Now() + core.FromDuration(d)
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
	w.driver.Lock()
	defer w.driver.Unlock()
	now := w.driver.Now()
	w.armed = false
	switch {
	case !w.writing || w.driver.err != nil:
	case now-w.expected >= stallIsLong: // the process was stopped: the reader goes first
		w.armLocked(stallRecover)
	default:
		if w.writes == w.seen {
			w.driver.protocol.ExpireLocked(now)
		}
		w.armLocked(watchInterval)
	}
}
