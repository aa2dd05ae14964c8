package session

import "github.com/chunkwire/chunkwire/machine"

// Entry is what a server knows of an identity, or of an anonymous client (section 6): its
// connection, or that it ended. Its variables are those of CXS-4.
type Entry struct {
	// Owner is for the layer above. It belongs to the connection, and is forgotten with it.
	Owner any

	server *Server
	state  EntryState
	row    machine.Row

	identity    uint64
	address     Address
	home        Prefix // of the address at which it was made
	first       Nonce  // of the PROOF that made the connection
	nonce       Nonce  // of the last PROOF that was taken
	newest      uint64 // its stamp; of an ended one the last that was issued
	agreed      Agreed
	serverNonce Nonce
	link        *Link // nil once ended
	resume      Key
	reason      Reason // why it ended
	since       machine.Micros
	counted     count // what it counts as

	list       *entryList // that it is in
	prev, next *Entry
}

// State returns the state.
func (e *Entry) State() EntryState { return e.state }

// Row returns the row that was taken last.
func (e *Entry) Row() machine.Row { return e.row }

// ID returns the number by which datagrams name the link.
func (e *Entry) ID() uint32 { return e.agreed.Link }

// Link returns the envelope of the connection; nil once it has ended.
func (e *Entry) Link() *Link { return e.link }

// Identity returns the identity; 0 is anonymous.
func (e *Entry) Identity() uint64 { return e.identity }

// Address returns where the client is.
func (e *Entry) Address() Address { return e.address }

// Reason returns why the connection ended.
func (e *Entry) Reason() Reason { return e.reason }

func (e *Entry) living() bool { return e.state == Unconfirmed || e.state == Confirmed }

// entryList is a list of entries, the one that waits longest first.
type entryList struct {
	first, last *Entry
	wait        machine.Micros // from since to when its entries are due
}

// due returns when the first entry is due.
func (l *entryList) due() machine.Micros {
	if l.first == nil {
		return machine.Never
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
