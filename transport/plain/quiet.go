package plain

// quietConns are the connections that were begun by their peers and have nothing
// in flight or queued either way: those that can be evicted. Each list is ordered
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
// goes only if every connection that a peer began is: a forger of source
// addresses must not end connections of peers that have shown that they are there
// (SEC-8).
func (q *quietConns) longest() *Conn {
	q.looks++
	if q.unvalidated > 0 {
		return q.lists[0].first
	}
	return q.lists[1].first
}

// add puts a connection behind all others: only a packet from its peer makes a
// busy connection quiet.
func (q *quietConns) add(c *Conn) {
	if c.list != nil {
		return
	}
	l := &q.lists[0]
	if c.validated {
		l = &q.lists[1]
	}
	c.list, c.before, c.after = l, l.last, nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.after = c
	}
	l.last = c
}

// remove takes a connection out, if it is there.
func (q *quietConns) remove(c *Conn) {
	l := c.list
	if l == nil {
		return
	}
	if c.before == nil {
		l.first = c.after
	} else {
		c.before.after = c.after
	}
	if c.after == nil {
		l.last = c.before
	} else {
		c.after.before = c.before
	}
	c.list, c.before, c.after = nil, nil, nil
}

// toBack puts a connection behind all others, if it is there: its peer was heard.
func (q *quietConns) toBack(c *Conn) {
	if c.list != nil {
		q.remove(c)
		q.add(c)
	}
}

// validate notes that the peer of a connection has acked a slice.
func (q *quietConns) validate(c *Conn) {
	q.remove(c)
	c.validated = true
	if c.begun {
		q.unvalidated--
	}
}

// trackQuietLocked notes whether the connection can be evicted now.
func (c *Conn) trackQuietLocked() {
	switch {
	case !c.begun:
	case c.end.Busy():
		c.endpoint.quiet.remove(c)
	default:
		c.endpoint.quiet.add(c)
	}
}

// validateLocked notes it if the peer has acked a slice.
func (c *Conn) validateLocked() {
	if c.end.Validated() && !c.validated {
		c.endpoint.quiet.validate(c)
	}
}
