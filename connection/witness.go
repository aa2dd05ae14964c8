package connection

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// The constants of section 8.3 (CXP-5).
const (
	// FirstCredit is how many slices are believed to have arrived of whose packets nothing is
	// known, before one is proven.
	FirstCredit = 64
	// MostCredit is the most of them.
	MostCredit = 256
	// InitialWindow is how many slices are sent on a path before one of them is proven to have
	// arrived.
	InitialWindow = 32
	// TrialWait is how long the next one waits then. It doubles twice.
	TrialWait = core.Second

	ackedNumbers = 32 // of which a header says whether they arrived
)

// witnesses is what the packet layer says of slices: an ack of a chunk is believed as far as it
// does not contradict it (section 8.3).
type witnesses struct {
	lanes  []witness // up to the last by which a slice was sent
	repair bool
	credit int // slices that can still be believed of whose packets nothing is known
	rests  bool

	// The path (CXM-23).
	from   core.Number // the first packet on it
	tried  int         // slices that were sent on it
	proven bool        // one of them arrived
}

// witness is the packets of the chunk in flight on a lane.
type witness struct {
	chunks    int64 // that have begun
	numSlices int
	sent      []carriage // in order; nil once the chunk has arrived and nothing is in flight
	believed  core.Set   // named slices
	open      int        // repair slices that were believed of whose packets nothing was known
}

// carriage is a packet with a slice.
type carriage struct {
	number core.Number
	slice  int16
	proven bool // the packet was acked
}

// evidence is what is known of a carriage when an ack of a chunk comes.
type evidence uint8

const (
	isAbsent evidence = iota // it had not arrived
	isOpen                   // it can have arrived
	isHere
)

// send notes that a packet has a slice. It returns how long the next slice waits: not at all
// unless none of those on this path is proven, and there were InitialWindow of them (CXM-23).
func (w *witnesses) send(records Format, lane int, s *codec.Slice, number core.Number) (wait core.Micros) {
	if w.lanes == nil {
		w.repair, w.credit = records.Repair, FirstCredit
	}
	for len(w.lanes) <= lane {
		w.lanes = append(w.lanes, witness{})
	}
	l := &w.lanes[lane]
	if l.chunks == 0 || l.chunkID() != s.ChunkID {
		l.begin(s.NumSlices)
	}
	w.rests = false
	l.sent = append(l.sent, carriage{number: number, slice: int16(s.SliceID)})
	if w.proven {
		return 0
	}
	if w.tried++; w.tried < InitialWindow {
		return 0
	}
	return TrialWait << min(w.tried-InitialWindow, 2)
}

// begin begins a chunk.
func (l *witness) begin(numSlices int) {
	sent := l.sent[:0]
	if most := numSlices + numSlices/4; cap(sent) < most {
		sent = make([]carriage, 0, most)
	}
	*l = witness{chunks: l.chunks + 1, numSlices: numSlices, sent: sent}
}

// chunkID returns the id of the chunk that began last.
func (l *witness) chunkID() uint16 { return uint16(l.chunks - 1) }

// acked notes a packet that was acked (CXM-22, CXM-23).
func (w *witnesses) acked(number core.Number) {
	if w == nil {
		return
	}
	for k := range w.lanes {
		c := w.lanes[k].find(number)
		if c == nil {
			continue
		}
		if !c.proven {
			c.proven = true
			w.credit = min(w.credit+1, MostCredit)
			w.proven = w.proven || number >= w.from
		}
		return // a packet has one slice
	}
}

// find returns the carriage by a packet, or nil.
func (l *witness) find(number core.Number) *carriage {
	low, high := 0, len(l.sent)
	if high == 0 || number < l.sent[0].number || number > l.sent[high-1].number { // so for most lanes
		return nil
	}
	for low < high {
		if middle := (low + high) / 2; l.sent[middle].number < number {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(l.sent) && l.sent[low].number == number {
		return &l.sent[low]
	}
	return nil
}

// held reports whether slices wait for the first that is proven.
func (w *witnesses) held() bool { return w != nil && !w.proven && w.tried >= InitialWindow }

// rest forgets the packets sent, when no chunk is in flight.
func (w *witnesses) rest() {
	if w == nil || w.rests {
		return
	}
	w.rests = true
	for k := range w.lanes {
		w.lanes[k].sent = nil
	}
}

// forgetPath makes the path one on which nothing has arrived.
func (w *witnesses) forgetPath(next core.Number) {
	if w != nil {
		w.from, w.tried, w.proven = next, 0, false
	}
}

// lies reports whether an ack of a chunk says what cannot be (CXM-20, CXM-21).
func (w *witnesses) lies(d *packet.Delivery, r *Record) bool {
	if w == nil || r.Lane >= len(w.lanes) {
		return true
	}
	l, a := &w.lanes[r.Lane], &r.Ack
	behind := l.chunkID() - a.ChunkID
	switch {
	case l.chunks == 0 || int64(behind) >= l.chunks || behind >= 1<<15:
		return true
	case behind > 0 || l.isOver():
		return false
	case a.NumSlices != l.numSlices:
		return true
	case w.repair:
		return l.liesInCount(d, a)
	}
	here, open := l.named(d, a)
	return !a.Acked.Minus(l.believed).Minus(here).Minus(open).Empty()
}

// isOver reports whether an ack of the lane's chunk says nothing new. That is so as well when a
// field of an ack does not say any more which transmission it means.
func (l *witness) isOver() bool { return len(l.sent) == 0 || len(l.sent) >= erasure.MaxIDs }

func (l *witness) liesInCount(d *packet.Delivery, a *codec.Ack) bool {
	if a.Top > len(l.sent) || a.Top > 0 && l.sent[a.Top-1].of(d) == isAbsent {
		return true
	}
	here, open := l.counted(d, a)
	return a.Have > here+open
}

// believe takes out of an ack that does not lie what is not believed yet (CXM-22).
func (w *witnesses) believe(d *packet.Delivery, r *Record) {
	l, a := &w.lanes[r.Lane], &r.Ack
	switch {
	case l.chunkID() != a.ChunkID || l.isOver():
	case w.repair:
		here, _ := l.counted(d, a)
		more := max(0, min(a.Have-here-l.open, w.credit))
		w.credit, l.open = w.credit-more, l.open+more
		a.Have = min(a.Have, here+l.open)
	default:
		here, open := l.named(d, a)
		for id := range open.Minus(here).All() {
			if w.credit > 0 {
				w.credit--
				here.Add(id)
			}
		}
		l.believed = l.believed.Union(here)
		a.Acked = a.Acked.Intersect(l.believed)
	}
}

// of returns what a header, and those before it, say of a carriage.
func (c *carriage) of(d *packet.Delivery) evidence {
	behind := d.Ack - c.number
	switch {
	case c.proven:
		return isHere
	case behind >= ackedNumbers:
		return isOpen
	case behind >= 0 && d.AckBits>>behind&1 == 1:
		return isHere
	}
	return isAbsent
}

// named returns what is known of the slices of an ack that were not believed before.
func (l *witness) named(d *packet.Delivery, a *codec.Ack) (here, open core.Set) {
	news := a.Acked.Minus(l.believed)
	for i := range l.sent {
		c := &l.sent[i]
		if !news.Has(int(c.slice)) {
			continue
		}
		switch c.of(d) {
		case isHere:
			here.Add(int(c.slice))
		case isOpen:
			open.Add(int(c.slice))
		}
	}
	return here, open
}

// counted returns what is known of the transmissions up to the top of an ack.
func (l *witness) counted(d *packet.Delivery, a *codec.Ack) (here, open int) {
	for i := range l.sent[:a.Top] {
		switch l.sent[i].of(d) {
		case isHere:
			here++
		case isOpen:
			open++
		}
	}
	return here, open
}
