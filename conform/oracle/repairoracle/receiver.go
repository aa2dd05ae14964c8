package repairoracle

import "bytes"

// The constants of when acks go out, in microseconds (section 8.5 of PROTOCOL.md).
const (
	AckInterval = 2000
	AckEvery    = 16
)

// never is later than every time.
const never = 1<<63 - 1

// The states of both machines.
const (
	StateIdle      = "IDLE"
	StateSending   = "SENDING"
	StateWaiting   = "WAITING"
	StateReceiving = "RECEIVING"
	StateReady     = "READY"
	StateFailed    = "FAILED"
)

// Receiver is table U.
type Receiver struct {
	giveUp, now int64
	state       string

	chunkID, numSlices, lastBytes int64
	decoder                       *Decoder // what is held
	top                           int64
	progressAt                    int64
	previousSlices, previousTop   int64
	current, previous, hold       bool // acks that are due
	heldSlices                    int64

	spare        *Packet // the first dependent repair slice
	whole        []byte  // of the chunk completed last
	wholeHas     *Decoder
	compared     bool // a slice of the chunk that waits to be read was
	inconsistent int64

	ackAt, lastAckAt int64
	unreported       int64
	lastNew          int64
	afterGap         bool
}

// NewReceiver returns a receiver.
func NewReceiver(firstID, giveUp int64) *Receiver {
	return &Receiver{giveUp: giveUp, state: StateWaiting, chunkID: firstID, ackAt: never, lastAckAt: -never}
}

// State, ChunkID, Have, Top and Inconsistent are what a trace shows.
func (r *Receiver) State() string       { return r.state }
func (r *Receiver) ChunkID() int64      { return r.chunkID }
func (r *Receiver) Top() int64          { return r.top }
func (r *Receiver) Inconsistent() int64 { return r.inconsistent }
func (r *Receiver) Have() int64 {
	if r.state != StateReceiving {
		return 0
	}
	return r.decoder.Rank()
}

// in returns the row of the present state.
func (r *Receiver) in(waiting, receiving, ready, failed string) string {
	return map[string]string{StateWaiting: waiting, StateReceiving: receiving, StateReady: ready, StateFailed: failed}[r.state]
}

func (r *Receiver) begin(now int64) { r.now = max(r.now, now) }

// Slice is the event slice.
func (r *Receiver) Slice(now int64, s Packet) (row string) {
	r.begin(now)
	switch {
	case r.state == StateFailed:
		return "U27"
	case r.previousSlices > 0 && s.ChunkID == (r.chunkID+65535)%65536 && s.NumSlices == r.previousSlices:
		row = r.in("U3", "U12", "U15", "")
		r.compare(s)
		r.previous = true
		r.soon()
		return row
	case s.ChunkID != r.chunkID:
		return r.in("U4", "U13", "U16", "")
	case r.state == StateReady:
		r.heldSlices, r.hold = s.NumSlices, true
		r.soon()
		return "U14"
	case r.state == StateWaiting:
		r.start(s)
		return r.store(s, "U2", "U1")
	case s.NumSlices != r.numSlices || s.LastBytes != r.lastBytes:
		if r.now-r.progressAt < r.giveUp/2 {
			return "U9"
		}
		r.start(s)
		return r.store(s, "U10", "U11")
	case r.decoder.Has(s.SliceID):
		return r.answer(s, "U7")
	case r.decoder.Depends(s.SliceID):
		if r.spare == nil && s.SliceID >= r.numSlices {
			r.spare = &s
		}
		return r.answer(s, "U8")
	}
	return r.store(s, "U5", "U6")
}

// compare compares a slice of the chunk that waits to be read with it.
func (r *Receiver) compare(s Packet) {
	if r.state != StateReady || r.compared || s.SliceID < s.NumSlices || r.wholeHas.Has(s.SliceID) || s.LastBytes != LastBytes(len(r.whole)) {
		return
	}
	r.compared = true
	r.check(s)
}

// check counts a repair slice that is not that of the chunk which was rebuilt.
func (r *Receiver) check(s Packet) {
	if !bytes.Equal(s.Data, Slice(r.whole, s.SliceID)) {
		r.inconsistent++
	}
}

// start is START.
func (r *Receiver) start(s Packet) {
	r.numSlices, r.lastBytes, r.top, r.spare = s.NumSlices, s.LastBytes, 0, nil
	r.decoder = NewDecoder(s.NumSlices, s.LastBytes)
	r.heldSlices, r.hold = 0, false
	r.unreported, r.lastNew, r.afterGap = 0, -1, false
}

// noteTop is NOTE TOP.
func (r *Receiver) noteTop(id int64) {
	r.top = max(r.top, Arrived(r.numSlices, r.top, id)+1)
}

// answer is NOTE TOP and ACK CURRENT.
func (r *Receiver) answer(s Packet, row string) string {
	r.noteTop(s.SliceID)
	r.current = true
	r.soon()
	return row
}

// store is NOTE TOP and STORE, and COMPLETE if the slice completes the chunk.
func (r *Receiver) store(s Packet, adds, completes string) string {
	r.noteTop(s.SliceID)
	r.decoder.Add(s.SliceID, s.Data)
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
	if r.decoder.Rank() < r.numSlices {
		r.state = StateReceiving
		return adds
	}
	r.complete()
	return completes
}

// complete is COMPLETE.
func (r *Receiver) complete() {
	clean := false
	if r.whole, clean = r.decoder.Rebuild(); !clean {
		r.inconsistent++
	}
	r.wholeHas, r.compared = r.decoder, false
	if r.spare != nil {
		r.check(*r.spare)
	}
	r.previousSlices, r.previousTop = r.numSlices, r.top
	r.numSlices, r.lastBytes, r.top, r.decoder, r.spare = 0, 0, 0, nil, nil
	r.chunkID = (r.chunkID + 1) % 65536
	r.current, r.previous = false, true
	r.ackAt = min(r.ackAt, r.now)
	r.state = StateReady
}

// soon is AKT-2.
func (r *Receiver) soon() { r.ackAt = min(r.ackAt, max(r.now, r.lastAckAt+AckInterval)) }

// Read is the event read. The chunk is nil if there is nothing to read.
func (r *Receiver) Read(now int64) (row string, chunk []byte) {
	r.begin(now)
	if r.state != StateReady {
		return r.in("U18", "U19", "", "U28"), nil
	}
	r.state = StateWaiting
	return "U17", r.whole
}

// Poll is one event poll: the ack that goes out, if there is one.
func (r *Receiver) Poll(now int64) (row string, ack *Packet) {
	r.begin(now)
	switch {
	case r.state == StateReceiving && r.now-r.progressAt >= r.giveUp:
		r.state, r.numSlices, r.lastBytes, r.top, r.decoder, r.spare = StateFailed, 0, 0, 0, nil, nil
		r.current, r.previous, r.hold, r.ackAt = false, false, false, never
		return "U24", nil
	case r.state == StateFailed || r.now < r.ackAt:
		return r.in("U21", "U23", "U26", "U29"), nil
	}
	row = r.in("U20", "U22", "U25", "")
	ack = r.send()
	if !r.current && !r.previous && !r.hold {
		r.ackAt, r.lastAckAt, r.unreported = never, r.now, 0
	}
	return row, ack
}

// send is SEND ACK.
func (r *Receiver) send() *Packet {
	a := &Packet{Type: TypeAck, ChunkID: r.chunkID}
	switch {
	case r.previous:
		r.previous = false
		a.ChunkID, a.NumSlices, a.Have = (r.chunkID+65535)%65536, r.previousSlices, r.previousSlices
		a.Top = ID(r.previousSlices, r.previousTop)
	case r.current:
		r.current = false
		a.NumSlices, a.Have, a.Top = r.numSlices, r.decoder.Rank(), ID(r.numSlices, r.top)
	default:
		r.hold = false
		a.NumSlices = r.heldSlices
	}
	return a
}

// Deadline returns when the receiver must be polled, or never.
func (r *Receiver) Deadline() (at int64, ok bool) {
	at = r.ackAt
	if r.state == StateReceiving {
		at = min(at, r.progressAt+r.giveUp)
	}
	return at, at != never
}
