package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// ReceiverModel is section 8 of the specification, sentence by sentence. It has the
// methods of a statemachine.Receiver, and shares nothing with it but types of plain
// values (RCV-19 to RCV-21, AKT-6).
type ReceiverModel struct {
	giveUp, now core.Micros
	state       statemachine.ReceiverState
	row         core.Row

	chunkID        uint16
	numSlices      int
	received       core.Set
	data           [codec.MaxSlices][]byte
	progressAt     core.Micros
	previousSlices int
	due            statemachine.PendingAcks
	heldSlices     int
	whole          []byte // in READY: the chunk to be read

	acks AckModel

	startedAt core.Micros
	stats     statemachine.ReceiverStats
}

// NewReceiverModel returns the model of a receiver with a valid configuration.
func NewReceiverModel(cfg statemachine.ReceiverConfig) *ReceiverModel {
	return &ReceiverModel{chunkID: cfg.FirstChunkID, giveUp: GiveUpOf(cfg.GiveUp), acks: NewAckModel()}
}

// advance is TIM-1.
func (m *ReceiverModel) advance(now core.Micros) {
	if now > m.now {
		m.now = now
	}
}

// take notes a transition.
func (m *ReceiverModel) take(row core.Row, next statemachine.ReceiverState) {
	m.row, m.state = row, next
}

// stay notes a transition that leaves the state as it is: the row of that state.
func (m *ReceiverModel) stay(waiting, receiving, ready, failed core.Row) {
	m.row = [...]core.Row{waiting, receiving, ready, failed}[m.state]
}

// HandleSlice is the event slice. It keeps s.Data.
func (m *ReceiverModel) HandleSlice(now core.Micros, s codec.Slice) (ours bool) {
	m.advance(now)
	m.stats.SlicesReceived++
	previous := sliceIsValid(s) && s.ChunkID == m.chunkID-1 && s.NumSlices == m.previousSlices // RCV-3, RCV-6
	foreign := !previous && (!sliceIsValid(s) || s.ChunkID != m.chunkID)                       // RCV-4
	switch {
	case m.state == statemachine.ReceiverFailed:
		m.row = "R26"
		m.stats.Ignored++
	case previous:
		m.ackPrevious()
		m.stay("R3", "R11", "R14", "")
	case foreign:
		m.stats.Ignored++
		m.stay("R4", "R12", "R15", "")
	case m.state == statemachine.ReceiverReady: // RCV-5
		m.hold(s)
		m.row = "R13"
	case m.state == statemachine.ReceiverWaiting:
		m.start(s)
		m.store(s, "R2", "R1")
	case s.NumSlices != m.numSlices:
		m.conflict(s)
	case m.received.Has(s.SliceID): // RCV-8
		m.ackCurrent()
		m.row = "R7"
	default:
		m.store(s, "R5", "R6")
	}
	return !foreign
}

// conflict is RCV-7.
func (m *ReceiverModel) conflict(s codec.Slice) {
	if m.now-m.progressAt < m.giveUp/2 {
		m.stats.Conflicts++
		m.row = "R8"
		return
	}
	m.stats.Replaced++
	m.start(s)
	m.store(s, "R9", "R10")
}

// start is START: RCV-10 and AKT-1.
func (m *ReceiverModel) start(s codec.Slice) {
	m.numSlices = s.NumSlices
	m.received = core.Set{}
	m.heldSlices, m.due.Hold = 0, false
	m.acks.Start()
	m.startedAt = m.now
}

// store is STORE (RCV-11, AKT-3, AKT-4), and COMPLETE if that was the only slice
// missing (RCV-8): the row is adds or completes.
func (m *ReceiverModel) store(s codec.Slice, adds, completes core.Row) {
	m.data[s.SliceID] = s.Data
	m.received.Add(s.SliceID)
	m.progressAt = m.now
	m.due.Current = true
	m.acks.New(m.now, s.SliceID)
	m.stats.SlicesStored++
	for k := range m.numSlices {
		if !m.received.Has(k) {
			m.take(adds, statemachine.ReceiverReceiving)
			return
		}
	}
	m.complete()
	m.take(completes, statemachine.ReceiverReady)
}

// complete is COMPLETE: RCV-12 and ACQ-3.
func (m *ReceiverModel) complete() {
	m.whole = bytes.Join(m.data[:m.numSlices], nil)
	m.previousSlices, m.numSlices = m.numSlices, 0
	m.received = core.Set{}
	m.chunkID = uint16((int(m.chunkID) + 1) % 65536)
	m.due.Current, m.due.Previous = false, true
	m.acks.By(m.now)
	m.stats.Chunks++
	m.stats.ChunkBytes += int64(len(m.whole))
	m.stats.LastChunkTime = m.now - m.startedAt
}

// ackCurrent and ackPrevious are RCV-13, hold is RCV-14.
func (m *ReceiverModel) ackCurrent() {
	m.due.Current = true
	m.acks.Soon(m.now)
	m.stats.Duplicates++
}

func (m *ReceiverModel) ackPrevious() {
	m.due.Previous = true
	m.acks.Soon(m.now)
	m.stats.Duplicates++
}

func (m *ReceiverModel) hold(s codec.Slice) {
	m.heldSlices, m.due.Hold = s.NumSlices, true
	m.acks.Soon(m.now)
	m.stats.Held++
}

// Read is the event read.
func (m *ReceiverModel) Read(now core.Micros, dst []byte) ([]byte, error) {
	m.advance(now)
	if m.state != statemachine.ReceiverReady {
		m.stay("R17", "R18", "", "R27")
		return dst, statemachine.ErrNothingToRead
	}
	dst = append(dst, m.whole...)
	m.whole = nil
	m.take("R16", statemachine.ReceiverWaiting)
	return dst, nil
}

// Poll is the event poll (RCV-9).
func (m *ReceiverModel) Poll(now core.Micros) (a codec.Ack, some bool) {
	m.advance(now)
	switch {
	case m.state == statemachine.ReceiverReceiving && m.now-m.progressAt >= m.giveUp:
		m.numSlices, m.received, m.due, m.acks = 0, core.Set{}, statemachine.PendingAcks{}, NewAckModel()
		m.take("R23", statemachine.ReceiverFailed)
		return a, false
	case m.state == statemachine.ReceiverFailed || m.now < m.acks.At: // AKT-5
		m.stay("R20", "R22", "R25", "R28")
		return a, false
	}
	m.stay("R19", "R21", "R24", "")
	m.stats.AcksSent++
	a = m.sendAck()
	if m.due == (statemachine.PendingAcks{}) {
		m.acks.Sent(m.now)
	}
	return a, true
}

// sendAck is RCV-16.
func (m *ReceiverModel) sendAck() codec.Ack {
	switch {
	case m.due.Previous:
		m.due.Previous = false
		all := core.Set{}
		for id := range m.previousSlices {
			all.Add(id)
		}
		return codec.Ack{ChunkID: m.chunkID - 1, NumSlices: m.previousSlices, Acked: all}
	case m.due.Current:
		m.due.Current = false
		return codec.Ack{ChunkID: m.chunkID, NumSlices: m.numSlices, Acked: m.received}
	}
	m.due.Hold = false
	return codec.Ack{ChunkID: m.chunkID, NumSlices: m.heldSlices}
}

// Deadline is RCV-17.
func (m *ReceiverModel) Deadline() core.Micros {
	if m.state == statemachine.ReceiverReceiving && m.progressAt+m.giveUp < m.acks.At {
		return m.progressAt + m.giveUp
	}
	return m.acks.At // NEVER in FAILED, by R23
}

// Err is RCV-15.
func (m *ReceiverModel) Err() error {
	if m.state == statemachine.ReceiverFailed {
		return statemachine.ErrGaveUp
	}
	return nil
}

// Vars returns the variables of section 8.2.
func (m *ReceiverModel) Vars() statemachine.ReceiverVars {
	return statemachine.ReceiverVars{
		State: m.state, Row: m.row, ChunkID: m.chunkID, NumSlices: m.numSlices, Received: m.received, Have: m.received.Count(),
		ProgressAt: m.progressAt, PreviousSlices: m.previousSlices, Due: m.due, HeldSlices: m.heldSlices, ReadSize: len(m.whole),
	}
}

// Stats returns the counters.
func (m *ReceiverModel) Stats() statemachine.ReceiverStats { return m.stats }

// IDs returns which slices are here.
func (m *ReceiverModel) IDs() (ids []int) {
	for id := range m.received.All() {
		ids = append(ids, id)
	}
	return ids
}
