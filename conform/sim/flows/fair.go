package flows

import (
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// quantum is how many bytes each flow may send in its turn, and as many are left in peace by CoDel.
const quantum = 1514

// fairQueue is FQ-CoDel (RFC 8290): a queue for each end that sends, each with CoDel, which have their turns;
// those that were empty come first.
type fairQueue struct {
	path       *netsim.Path
	flows      map[int]*fairFlow // by end
	fresh, old []*fairFlow       // with something to send, in the order of their turns
	bytes      int
}

type fairFlow struct {
	waits         []waiting
	bytes, credit int
	listed        bool
	codel         netsim.CoDel
}

// waiting is a datagram of an end.
type waiting struct {
	from, size int
	came       time.Duration
	d          Datagram
}

// push takes a datagram. What finds no room makes the longest queue drop its first.
func (q *fairQueue) push(in waiting) (dropped []waiting) {
	f := q.flows[in.from]
	if f == nil {
		f = &fairFlow{}
		q.flows[in.from] = f
	}
	f.waits = append(f.waits, in)
	q.count(f, in.size)
	if !f.listed {
		f.listed, f.credit = true, quantum
		q.fresh = append(q.fresh, f)
	}
	for q.path.Queue > 0 && q.bytes > q.path.Queue {
		longest := f
		for _, other := range q.flows {
			if other.bytes > longest.bytes {
				longest = other
			}
		}
		dropped = append(dropped, q.first(longest))
	}
	return dropped
}

func (q *fairQueue) count(f *fairFlow, bytes int) {
	f.bytes += bytes
	q.bytes += bytes
}

func (q *fairQueue) first(f *fairFlow) (out waiting) {
	out, f.waits = f.waits[0], f.waits[1:]
	q.count(f, -out.size)
	return out
}

// pop returns what is sent next, and what CoDel drops before it.
func (q *fairQueue) pop(now time.Duration) (next waiting, dropped []waiting, ok bool) {
	for {
		list := &q.fresh
		if len(q.fresh) == 0 {
			list = &q.old
		}
		if len(*list) == 0 {
			return next, dropped, false
		}
		f := (*list)[0]
		if f.credit > 0 {
			more, found := []waiting(nil), false
			next, more, found = q.leave(f, now)
			dropped = append(dropped, more...)
			if found {
				f.credit -= next.size
				return next, dropped, true
			}
		}
		empty, fresh := len(f.waits) == 0, list == &q.fresh
		*list = (*list)[1:]
		if f.credit <= 0 {
			f.credit += quantum
			empty = false
		}
		if f.listed = !empty || fresh; f.listed {
			q.old = append(q.old, f)
		}
	}
}

// leave returns the first of a queue that its CoDel does not drop.
func (q *fairQueue) leave(f *fairFlow, now time.Duration) (next waiting, dropped []waiting, ok bool) {
	for len(f.waits) > 0 {
		next = q.first(f)
		late := now-next.came >= netsim.UseCoDel.Target(q.path.Rate) && f.bytes > quantum
		switch {
		case !f.codel.Drops(now, late):
			return next, dropped, true
		case q.path.AQMMarks && next.d.ECT:
			next.d.Marked = true
			return next, dropped, true
		}
		dropped = append(dropped, next)
	}
	f.codel.Drops(now, false)
	return next, dropped, false
}
