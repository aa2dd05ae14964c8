package session

import "github.com/chunkwire/chunkwire/core"

// entryList is a list of entries, the one that waits longest first.
type entryList struct {
	first, last *Entry
	wait        core.Micros // from since to when its entries are due
}

// due returns when the first entry is due.
func (l *entryList) due() core.Micros {
	if l.first == nil {
		return core.Never
	}
	return l.first.since + l.wait
}

// append moves an entry to the end of the list, out of the one that it is in.
func (l *entryList) append(e *Entry) {
	e.unlist()
	e.list, e.prev = l, l.last
	if l.last != nil {
		l.last.next = e
	} else {
		l.first = e
	}
	l.last = e
}

// unlist takes an entry out of its list.
func (e *Entry) unlist() {
	l := e.list
	if l == nil {
		return
	}
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		l.last = e.prev
	}
	e.list, e.prev, e.next = nil, nil, nil
}

// wait puts an entry at the end of a list.
func (e *Entry) wait(l *entryList) {
	e.since = e.server.now
	l.append(e)
}
