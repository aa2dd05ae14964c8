package control

import "github.com/chunkwire/chunkwire/core"

// Figures of section 3 (REC-10).
const (
	life       = 10 * core.Second // how long what a path has shown is taken to hold (EST-6, EST-9, BRK-4)
	drainFirst = life / part      // EST-7
	drainMiss  = 3                // EST-10
	drainSlots = 4                // ROOM-1: slices in flight while the queue drains
)

// base is the round trip of the path without its queue: the smallest sample. A sender that
// began while there was a queue has it too long, and its queue would stay; so all slow down
// now and then, and at the same time: who sees a sample below its base joins the drain of
// others (EST-6 to EST-10).
type base struct {
	value core.Micros // 0: none
	at    core.Micros // the latest sample

	drainAt core.Micros // when the next drain begins
	misses  int         // drains in a row without a sample near

	until  core.Micros // when the drain ends; 0: there is none
	fullAt core.Micros // from then on samples are of the drain
	found  core.Micros // the smallest sample of the drain
	fell   bool        // the base fell in it, or just before
}

// drain begins a drain, for two round trips (EST-7).
func (b *base) drain(now, trip, r core.Micros) {
	b.until, b.fullAt, b.found = now+2*trip, now+r, r
}

// add takes a sample, at least 1; a drain takes two of trip, and may join those of others. It reports whether a
// drain has ended, and with a sample near the base (EST-6 to EST-10).
func (b *base) add(now, r, trip, target core.Micros, contested bool) (ended, near bool) {
	silent := b.value == 0 || now-b.at >= life
	b.at = now
	if silent {
		b.value, b.until, b.drainAt, b.misses = r, 0, now+drainFirst, 0 // EST-6
		return false, false
	}
	if r < b.value {
		if b.value-r >= target/part {
			b.fell = true
			if b.until == 0 && !contested {
				b.drain(now, trip, r) // EST-8
			}
		}
		b.value = r
	}
	if b.until != 0 {
		b.found = min(b.found, r)
		near = b.found <= b.value+target/2
		if now >= b.until || near && !b.fell && now >= b.fullAt {
			b.end(now)
			b.judge(near)
			ended = true
		}
	}
	if b.until == 0 && b.isDue(now, contested) {
		b.drain(now, trip, r)
	}
	return ended, near
}

// isDue reports whether a drain begins: late beside others (EST-7).
func (b *base) isDue(now core.Micros, contested bool) bool {
	return now >= b.drainAt && (!contested || now-b.drainAt >= life)
}

// expire ends a drain whose time is over, if no sample did: it says nothing of the path,
// since only slices that were sent once give samples (EST-9, step 4).
func (b *base) expire(now core.Micros) (ended bool) {
	if b.until == 0 || now < b.until {
		return false
	}
	b.end(now)
	return true
}

// end ends a drain (EST-9).
func (b *base) end(now core.Micros) {
	b.until, b.drainAt = 0, now+life
	if b.fell {
		b.drainAt = now + drainFirst
	}
	b.fell = false
}

// judge takes the base anew after three drains without a sample near it (EST-10).
func (b *base) judge(near bool) {
	if near {
		b.misses = 0
	} else if b.misses++; b.misses == drainMiss {
		b.value, b.misses = b.found, 0
	}
}

// drains reports whether few slices may be in flight, so that the queue empties.
func (b *base) drains() bool { return b.until != 0 }
