package chunkoracle

import (
	"bytes"

	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// The times at which acks are sent, in microseconds (section 8.6 of PROTOCOL.md).
const (
	AckInterval = 2000
	AckEvery    = 16
)

// holding are the slices that are here of a chunk.
type holding interface {
	Has(id int64) bool
	Depends(id int64) bool // it follows from others
	Add(id int64, data []byte) bool
	Rank() int64
	Rebuild() (chunk []byte, clean bool)
	IDs() []int64
}

// Receiver is tables R and U.
type Receiver struct {
	machine

	lastBytes                   int64
	held                        holding
	top                         int64
	progressAt                  int64
	previousSlices, previousTop int64
	current, previous, hold     bool // acks that are due
	heldSlices                  int64

	spare     *Slice // the first dependent repair slice
	whole     []byte // of the chunk completed last
	wholeHeld holding
	compared  bool // a slice of the chunk that waits to be read was

	ackAt, lastAckAt int64
	unreported       int64
	lastNew          int64
	afterGap         bool
	Counted          Received
}

// Received is what a receiver counts.
type Received struct {
	Chunks, ChunkBytes, Slices, Stored, Duplicates, Dependent, Held, Conflicts, Replaced, Inconsistent, Ignored, Acks, LastChunkTime int64
}

// NewReceiver returns a receiver.
func NewReceiver(kind Kind, firstID, giveUp int64) *Receiver {
	return &Receiver{machine: machine{kind: kind, giveUp: giveUp, state: StateWaiting, chunkID: firstID}, ackAt: never, lastAckAt: -never}
}

// ProgressAt is when the latest slice came that added to the chunk.
func (r *Receiver) ProgressAt() int64 { return r.progressAt }

// LastBytes, Top, PreviousSlices and PreviousTop are of repair slices, and what is known of the
// chunk before.
func (r *Receiver) LastBytes() int64      { return r.lastBytes }
func (r *Receiver) Top() int64            { return r.top }
func (r *Receiver) PreviousSlices() int64 { return r.previousSlices }
func (r *Receiver) PreviousTop() int64    { return r.previousTop }

// Whole is the chunk that waits to be read.
func (r *Receiver) Whole() []byte {
	if r.state != StateReady {
		return nil
	}
	return r.whole
}

// Have is how many slices are here: of repair slices, independent ones.
func (r *Receiver) Have() int64 {
	if r.held == nil {
		return 0
	}
	return r.held.Rank()
}

// IDs are those that are here.
func (r *Receiver) IDs() []int64 {
	if r.held == nil {
		return nil
	}
	return r.held.IDs()
}

// Received says of each named slice of the chunk whether it is here.
func (r *Receiver) Received() []bool {
	set := make([]bool, r.numSlices)
	for k := range set {
		set[k] = r.held.Has(int64(k))
	}
	return set
}

// in returns the row of the present state.
func (r *Receiver) in(waiting, receiving, ready, failed int) string {
	return r.row(map[string]int{StateWaiting: waiting, StateReceiving: receiving, StateReady: ready, StateFailed: failed}[r.state])
}

// dependent is the row that only table U has: what follows it is table R from its row 8 on.
const dependent = 8

// row is a row of table R, or its like of table U.
func (r *Receiver) row(n int) string {
	switch {
	case r.kind == Named:
		return row("R", n)
	case n >= dependent:
		n++
	}
	return row("U", n)
}

// Slice is the event slice.
func (r *Receiver) Slice(now int64, s Slice) (row string) {
	r.begin(now)
	r.Counted.Slices++
	isPrevious := r.previousSlices > 0 && s.ChunkID == r.before() && s.NumSlices == r.previousSlices
	switch r.ours = isPrevious || s.ChunkID == r.chunkID; {
	case r.state == StateFailed:
		r.Counted.Ignored++
		return r.row(26)
	case isPrevious:
		r.Counted.Duplicates++
		r.compare(s)
		r.previous = true
		r.soon()
		return r.in(3, 11, 14, 0)
	case !r.ours:
		r.Counted.Ignored++
		return r.in(4, 12, 15, 0)
	case r.state == StateReady:
		r.Counted.Held++
		r.heldSlices, r.hold = s.NumSlices, true
		r.soon()
		return r.row(13)
	case r.state == StateWaiting:
		r.start(s)
		return r.store(s, 2, 1)
	case s.NumSlices != r.numSlices || s.LastBytes != r.lastBytes:
		return r.conflict(s)
	case r.held.Has(s.SliceID):
		r.Counted.Duplicates++
		r.answer(s)
		return r.row(7)
	case r.held.Depends(s.SliceID):
		r.Counted.Dependent++
		if r.spare == nil && s.SliceID >= r.numSlices {
			r.spare = &s
		}
		r.answer(s)
		return "U8"
	}
	return r.store(s, 5, 6)
}

// conflict is RCV-7.
func (r *Receiver) conflict(s Slice) string {
	if r.now-r.progressAt < r.giveUp/2 {
		r.Counted.Conflicts++
		return r.row(8)
	}
	r.Counted.Replaced++
	r.start(s)
	return r.store(s, 9, 10)
}

// compare compares a slice of the chunk that waits to be read with it.
func (r *Receiver) compare(s Slice) {
	if r.kind == Named || r.state != StateReady || r.compared || s.SliceID < s.NumSlices || r.wholeHeld.Has(s.SliceID) || s.LastBytes != repairoracle.LastBytes(len(r.whole)) {
		return
	}
	r.compared = true
	r.check(s)
}

// check counts a repair slice that does not belong to the chunk which was rebuilt.
func (r *Receiver) check(s Slice) {
	if !bytes.Equal(s.Data, repairoracle.Slice(r.whole, s.SliceID)) {
		r.Counted.Inconsistent++
	}
}

// start is START (RCV-10, AKT-1).
func (r *Receiver) start(s Slice) {
	r.numSlices, r.lastBytes, r.top, r.spare = s.NumSlices, s.LastBytes, 0, nil
	r.held = holding(&named{data: make([][]byte, s.NumSlices)})
	if r.kind == Repair {
		r.held = repairoracle.NewDecoder(s.NumSlices, s.LastBytes)
	}
	r.heldSlices, r.hold = 0, false
	r.unreported, r.lastNew, r.afterGap = 0, -1, false
	r.startedAt = r.now
}

// noteTop is NOTE TOP.
func (r *Receiver) noteTop(id int64) {
	if r.kind == Repair {
		r.top = max(r.top, repairoracle.Arrived(r.numSlices, r.top, id)+1)
	}
}

// answer is NOTE TOP and ACK CURRENT (RCV-13).
func (r *Receiver) answer(s Slice) {
	r.noteTop(s.SliceID)
	r.current = true
	r.soon()
}

// store is NOTE TOP and STORE (RCV-11, AKT-3, AKT-4), and COMPLETE if the slice completes the
// chunk.
func (r *Receiver) store(s Slice, adds, completes int) string {
	r.noteTop(s.SliceID)
	r.held.Add(s.SliceID, s.Data)
	r.Counted.Stored++
	r.progressAt = r.now
	r.current = true
	r.unreported++
	gap := s.SliceID != r.lastNew+1
	if r.unreported >= AckEvery || gap || r.afterGap {
		r.ackAt = min(r.ackAt, r.now)
	} else {
		r.soon()
	}
	r.lastNew, r.afterGap = s.SliceID, gap
	if r.held.Rank() < r.numSlices {
		r.state = StateReceiving
		return r.row(adds)
	}
	r.complete()
	return r.row(completes)
}

// complete is COMPLETE (RCV-12, ACQ-3).
func (r *Receiver) complete() {
	clean := false
	if r.whole, clean = r.held.Rebuild(); !clean {
		r.Counted.Inconsistent++
	}
	r.wholeHeld, r.compared = r.held, false
	if r.spare != nil {
		r.check(*r.spare)
	}
	r.Counted.Chunks++
	r.Counted.ChunkBytes += int64(len(r.whole))
	r.Counted.LastChunkTime = r.now - r.startedAt
	r.previousSlices, r.previousTop = r.numSlices, r.top
	r.forget()
	r.advance()
	r.current, r.previous = false, true
	r.ackAt = min(r.ackAt, r.now)
	r.state = StateReady
}

// forget leaves nothing of the current chunk.
func (r *Receiver) forget() {
	r.numSlices, r.lastBytes, r.top, r.held, r.spare = 0, 0, 0, nil, nil
}

// soon is AKT-2.
func (r *Receiver) soon() { r.ackAt = min(r.ackAt, max(r.now, r.lastAckAt+AckInterval)) }

// Read is the event read. The chunk is nil if there is nothing to read.
func (r *Receiver) Read(now int64) (row string, chunk []byte) {
	r.begin(now)
	if r.state != StateReady {
		return r.in(17, 18, 0, 27), nil
	}
	r.state = StateWaiting
	return r.row(16), r.whole
}

// Poll is one event poll: the ack that is sent, if one is due (RCV-9, AKT-5).
func (r *Receiver) Poll(now int64) (row string, ack *Ack) {
	r.begin(now)
	switch {
	case r.state == StateReceiving && r.now-r.progressAt >= r.giveUp:
		r.state = StateFailed
		r.forget()
		r.current, r.previous, r.hold, r.ackAt = false, false, false, never
		return r.row(23), nil
	case r.state == StateFailed || r.now < r.ackAt:
		return r.in(20, 22, 25, 28), nil
	}
	ack = r.send()
	if !r.current && !r.previous && !r.hold {
		r.ackAt, r.lastAckAt, r.unreported = never, r.now, 0
	}
	return r.in(19, 21, 24, 0), ack
}

// send is SEND ACK (RCV-16).
func (r *Receiver) send() *Ack {
	r.Counted.Acks++
	a := &Ack{ChunkID: r.chunkID}
	switch {
	case r.previous:
		r.previous = false
		a.ChunkID, a.NumSlices, a.Have = r.before(), r.previousSlices, r.previousSlices
		a.Top = repairoracle.ID(r.previousSlices, r.previousTop)
		for range r.previousSlices {
			a.Acked = append(a.Acked, true)
		}
	case r.current:
		r.current = false
		a.NumSlices, a.Have, a.Top, a.Acked = r.numSlices, r.held.Rank(), repairoracle.ID(r.numSlices, r.top), r.Received()
	default:
		r.hold = false
		a.NumSlices, a.Acked = r.heldSlices, make([]bool, r.heldSlices)
	}
	return a
}

// Deadline returns when the receiver must be polled, or never (RCV-17).
func (r *Receiver) Deadline() (at int64, ok bool) {
	at = r.ackAt
	if r.state == StateReceiving {
		at = min(at, r.progressAt+r.giveUp)
	}
	return orNever(at)
}

// named are the named slices that are here.
type named struct{ data [][]byte }

func (n *named) Has(id int64) bool { return n.data[id] != nil }

func (*named) Depends(int64) bool { return false }

func (n *named) Add(id int64, data []byte) bool {
	n.data[id] = data
	return true
}

func (n *named) Rank() int64 { return int64(len(n.IDs())) }

func (n *named) Rebuild() (chunk []byte, clean bool) { return bytes.Join(n.data, nil), true }

// IDs are in their order.
func (n *named) IDs() (list []int64) {
	for k, data := range n.data {
		if data != nil {
			list = append(list, int64(k))
		}
	}
	return list
}
