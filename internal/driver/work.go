package driver

import (
	"github.com/chunkwire/chunkwire/core"
)

// stepOperations is how much of a rebuild is done while all else waits: some 0.1 ms (statemachine.Receiver.Work).
const stepOperations = 4096

// madeLocked reports whether nothing is left to do to read the next chunk. Otherwise the link waits in line: the driver
// does the rest in steps, one link after the other, so that no more than one rebuild needs memory.
func (l *Link) madeLocked() bool {
	d := l.Driver
	switch {
	case d.err != nil: // nothing comes after
		return true
	case l.works:
		return false
	case l.Chunks.Work(0) || len(d.working) == 0 && l.Chunks.Work(stepOperations):
		return true
	}
	l.works = true
	d.working = append(d.working, l)
	d.wakeLocked()
	return false
}

// workLocked does a step for the first link that waits.
func (d *Driver) workLocked(now core.Micros) {
	if len(d.working) == 0 {
		return
	}
	l := d.working[0]
	if !l.Chunks.Work(stepOperations) {
		return
	}
	d.working[0] = nil
	d.working = d.working[1:]
	l.doneLocked(now)
}

// doneLocked goes on with what waited for a step.
func (l *Link) doneLocked(now core.Micros) {
	l.works = false
	if l.err == nil {
		l.Owner.UpdateLocked(now, now)
		return
	}
	l.takeAllLocked(now)
}
