package plain

import (
	"github.com/chunkwire/chunkwire/core"
)

// quietConns are the connections that were begun by their peers and have nothing
// in flight or queued either way: those that may be evicted. Each list is ordered
// by how long its connections have been silent, so that the one to evict is found
// in one step.
type quietConns struct {
	lists       [2]quietList // those that are not validated, and those that are
	unvalidated int          // connections begun by their peers that are not, quiet or not
	looks       int          // connections looked at, for a test
}

// quietList is a doubly linked list, the longest silent connection first.
type quietList struct{ first, last *Conn }

// longest returns the connection to evict first, or nil. One that is validated
// goes only if every connection that a peer began is: whoever forges source
// addresses must not end connections of peers that have shown that they are there
// (SEC-8).
func (q *quietConns) longest() *Conn {
	q.looks++
	if q.unvalidated > 0 {
		return q.lists[0].first
	}
	return q.lists[1].first
}

func (q *quietConns) listOf(c *Conn) *quietList {
	if c.validated {
		return &q.lists[1]
	}
	return &q.lists[0]
}

// add puts a connection behind all others: only a packet from its peer makes a
// busy connection quiet.
func (q *quietConns) add(c *Conn) {
	if c.quiet {
		return
	}
	l := q.listOf(c)
	c.quiet, c.before, c.behind = true, l.last, nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.behind = c
	}
	l.last = c
}

// remove takes a connection out, if it is there.
func (q *quietConns) remove(c *Conn) {
	if !c.quiet {
		return
	}
	l := q.listOf(c)
	if c.before == nil {
		l.first = c.behind
	} else {
		c.before.behind = c.behind
	}
	if c.behind == nil {
		l.last = c.before
	} else {
		c.behind.before = c.before
	}
	c.quiet, c.before, c.behind = false, nil, nil
}

// trackQuietLocked notes whether the connection may be evicted now.
func (c *Conn) trackQuietLocked() {
	switch {
	case !c.begun || c.err != nil:
	case c.busyLocked():
		c.endpoint.quiet.remove(c)
	default:
		c.endpoint.quiet.add(c)
	}
}

// busyLocked reports whether something is in flight or queued, either way.
func (c *Conn) busyLocked() bool {
	return c.lanes.Receiving() || c.lanes.Sending()
}

// validateLocked notes that the peer has acked a slice.
func (c *Conn) validateLocked(now core.Micros) {
	if c.validated {
		return
	}
	q := &c.endpoint.quiet
	q.remove(c)
	c.validated = true
	if c.begun {
		q.unvalidated--
	}
	if c.trialWait > 0 {
		// What was learned while slices went one at a time is not the rate of the path, and
		// the time in which none could go is none to make up for.
		c.lanes.Hold(0)
		c.lanes.ForgetPath(now)
	}
}
