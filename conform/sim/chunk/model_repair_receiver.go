package chunk

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/code"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// RepairReceiverModel is the receiver of REPAIR.md, sentence by sentence. It has the methods
// of a statemachine.Receiver, and shares nothing with it but types of plain values: its rank
// is that of plain elimination.
type RepairReceiverModel struct {
	giveUp, now core.Micros
	state       statemachine.ReceiverState
	row         core.Row

	chunkID        uint16
	numSlices      int
	lastBytes      int
	held           []int
	span           *code.Span
	top            int
	spare          *codec.Slice // the first dependent repair slice
	progressAt     core.Micros
	previousSlices int
	previousTop    int
	due            statemachine.PendingAcks
	heldSlices     int
	whole          []byte // in READY: the chunk to be read
	wholeHeld      []int  // of which ids it was made
	compared       bool   // a slice of the previous chunk was compared with it

	acks AckModel

	startedAt core.Micros
	stats     statemachine.ReceiverStats
}

// NewRepairReceiverModel returns the model of a receiver with a valid configuration.
func NewRepairReceiverModel(cfg statemachine.ReceiverConfig) *RepairReceiverModel {
	return &RepairReceiverModel{chunkID: cfg.FirstChunkID, giveUp: GiveUpOf(cfg.GiveUp), acks: NewAckModel()}
}

func (m *RepairReceiverModel) advance(now core.Micros) { m.now = max(m.now, now) }

// stay notes a transition that leaves the state as it is: the row of that state.
func (m *RepairReceiverModel) stay(waiting, receiving, ready, failed core.Row) {
	m.row = [...]core.Row{waiting, receiving, ready, failed}[m.state]
}

// HandleSlice is the event slice. It keeps s.Data.
func (m *RepairReceiverModel) HandleSlice(now core.Micros, s codec.Slice) (ours bool) {
	m.advance(now)
	m.stats.SlicesReceived++
	previous := repairSliceIsValid(s) && s.ChunkID == m.chunkID-1 && s.NumSlices == m.previousSlices
	foreign := !previous && (!repairSliceIsValid(s) || s.ChunkID != m.chunkID)
	switch {
	case m.state == statemachine.ReceiverFailed:
		m.row = "U27"
		m.stats.Ignored++
	case previous:
		m.previous(s)
	case foreign:
		m.stats.Ignored++
		m.stay("U4", "U13", "U16", "")
	case m.state == statemachine.ReceiverReady:
		m.hold(s)
	case m.state == statemachine.ReceiverWaiting:
		m.start(s)
		m.store(s, "U2", "U1")
	case s.NumSlices != m.numSlices || s.LastBytes != m.lastBytes:
		m.conflict(s)
	default:
		m.take(s)
	}
	return !foreign
}

// take is a slice of the current chunk that does not conflict.
func (m *RepairReceiverModel) take(s codec.Slice) {
	switch {
	case slices.Contains(m.held, s.SliceID):
		m.noteTop(s)
		m.ackCurrent("U7")
		m.stats.Duplicates++
	case m.span.Has(code.Row(s.SliceID, s.NumSlices)):
		m.noteTop(s)
		m.ackCurrent("U8")
		m.stats.Dependent++
		if m.spare == nil && s.SliceID >= s.NumSlices {
			m.spare = &s
		}
	default:
		m.store(s, "U5", "U6")
	}
}

// conflict is RCV-7, with last_bytes.
func (m *RepairReceiverModel) conflict(s codec.Slice) {
	if m.now-m.progressAt < m.giveUp/2 {
		m.stats.Conflicts++
		m.row = "U9"
		return
	}
	m.stats.Replaced++
	m.start(s)
	m.store(s, "U10", "U11")
}

// start is START.
func (m *RepairReceiverModel) start(s codec.Slice) {
	m.numSlices, m.lastBytes = s.NumSlices, s.LastBytes
	m.held, m.span, m.top, m.spare = nil, code.NewSpan(s.NumSlices), 0, nil
	m.heldSlices, m.due.Hold = 0, false
	m.startedAt = m.now
	m.acks.Start()
}

// noteTop is NOTE TOP.
func (m *RepairReceiverModel) noteTop(s codec.Slice) {
	m.top = max(m.top, code.Number(s.SliceID, s.NumSlices, m.top)+1)
}

// store is NOTE TOP and STORE, and COMPLETE once the rank is num_slices: the row is
// adds or completes.
func (m *RepairReceiverModel) store(s codec.Slice, adds, completes core.Row) {
	m.noteTop(s)
	m.span.Add(code.Row(s.SliceID, s.NumSlices), code.Filled(s.Data))
	m.held = append(m.held, s.SliceID)
	m.progressAt = m.now
	m.due.Current = true
	m.acks.New(m.now, s.SliceID)
	m.stats.SlicesStored++
	if m.span.Rank() < m.numSlices {
		m.row, m.state = adds, statemachine.ReceiverReceiving
		return
	}
	m.complete()
	m.row, m.state = completes, statemachine.ReceiverReady
}

// complete is COMPLETE.
func (m *RepairReceiverModel) complete() {
	solved := m.span.Solve()
	size := 1024*(m.numSlices-1) + m.lastBytes
	m.whole, m.wholeHeld, m.compared = solved[:size], m.held, false
	if !bytes.Equal(solved[size:], make([]byte, len(solved)-size)) {
		m.stats.Inconsistent++
	}
	if m.spare != nil && !bytes.Equal(m.spare.Data, code.Slice(m.whole, m.spare.SliceID)) {
		m.stats.Inconsistent++
	}
	m.previousSlices, m.previousTop = m.numSlices, m.top
	m.forget()
	m.chunkID = uint16((int(m.chunkID) + 1) % 65536)
	m.due.Current, m.due.Previous = false, true
	m.acks.By(m.now)
	m.stats.Chunks++
	m.stats.ChunkBytes += int64(size)
	m.stats.LastChunkTime = m.now - m.startedAt
}

// forget leaves nothing of the current chunk.
func (m *RepairReceiverModel) forget() {
	m.numSlices, m.lastBytes, m.held, m.span, m.top, m.spare = 0, 0, nil, nil, 0, nil
}

// previous answers a slice of the chunk before. In READY the first one that follows
// from others is compared with the chunk.
func (m *RepairReceiverModel) previous(s codec.Slice) {
	m.due.Previous = true
	m.acks.Soon(m.now)
	m.stats.Duplicates++
	m.stay("U3", "U12", "U15", "")
	if m.state != statemachine.ReceiverReady || m.compared || s.SliceID < s.NumSlices ||
		1024*(s.NumSlices-1)+s.LastBytes != len(m.whole) || slices.Contains(m.wholeHeld, s.SliceID) {
		return
	}
	m.compared = true
	if !bytes.Equal(s.Data, code.Slice(m.whole, s.SliceID)) {
		m.stats.Inconsistent++
	}
}

func (m *RepairReceiverModel) ackCurrent(row core.Row) {
	m.due.Current = true
	m.acks.Soon(m.now)
	m.row = row
}

func (m *RepairReceiverModel) hold(s codec.Slice) {
	m.heldSlices, m.due.Hold = s.NumSlices, true
	m.acks.Soon(m.now)
	m.stats.Held++
	m.row = "U14"
}

// Read is the event read.
func (m *RepairReceiverModel) Read(now core.Micros, dst []byte) ([]byte, error) {
	m.advance(now)
	if m.state != statemachine.ReceiverReady {
		m.stay("U18", "U19", "", "U28")
		return dst, statemachine.ErrNothingToRead
	}
	dst = append(dst, m.whole...)
	m.whole, m.wholeHeld = nil, nil
	m.row, m.state = "U17", statemachine.ReceiverWaiting
	return dst, nil
}

// Poll is the event poll.
func (m *RepairReceiverModel) Poll(now core.Micros) (a codec.Ack, some bool) {
	m.advance(now)
	switch {
	case m.state == statemachine.ReceiverReceiving && m.now-m.progressAt >= m.giveUp:
		m.forget()
		m.due, m.acks = statemachine.PendingAcks{}, NewAckModel()
		m.row, m.state = "U24", statemachine.ReceiverFailed
		return a, false
	case m.state == statemachine.ReceiverFailed || m.now < m.acks.At:
		m.stay("U21", "U23", "U26", "U29")
		return a, false
	}
	m.stay("U20", "U22", "U25", "")
	m.stats.AcksSent++
	a = m.sendAck()
	if m.due == (statemachine.PendingAcks{}) {
		m.acks.Sent(m.now)
	}
	return a, true
}

// sendAck is SEND ACK.
func (m *RepairReceiverModel) sendAck() codec.Ack {
	switch k := m.previousSlices; {
	case m.due.Previous:
		m.due.Previous = false
		return codec.Ack{ChunkID: m.chunkID - 1, NumSlices: k, Have: k, Top: code.ID(m.previousTop, k)}
	case m.due.Current:
		m.due.Current = false
		return codec.Ack{ChunkID: m.chunkID, NumSlices: m.numSlices, Have: len(m.held), Top: code.ID(m.top, m.numSlices)}
	}
	m.due.Hold = false
	return codec.Ack{ChunkID: m.chunkID, NumSlices: m.heldSlices}
}

// Deadline is RCV-17.
func (m *RepairReceiverModel) Deadline() core.Micros {
	if m.state == statemachine.ReceiverReceiving {
		return min(m.progressAt+m.giveUp, m.acks.At)
	}
	return m.acks.At // NEVER in FAILED
}

// Err is RCV-15.
func (m *RepairReceiverModel) Err() error {
	if m.state == statemachine.ReceiverFailed {
		return statemachine.ErrGaveUp
	}
	return nil
}

// Vars returns the variables.
func (m *RepairReceiverModel) Vars() statemachine.ReceiverVars {
	return statemachine.ReceiverVars{
		State: m.state, Row: m.row, ChunkID: m.chunkID, NumSlices: m.numSlices, LastBytes: m.lastBytes,
		Have: len(m.held), Top: m.top, ProgressAt: m.progressAt,
		PreviousSlices: m.previousSlices, PreviousTop: m.previousTop, Due: m.due, HeldSlices: m.heldSlices, ReadSize: len(m.whole),
	}
}

// Stats returns the counters.
func (m *RepairReceiverModel) Stats() statemachine.ReceiverStats { return m.stats }

// IDs returns which slices are here, in the order in which they came.
func (m *RepairReceiverModel) IDs() []int { return m.held }
