package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

type micros = statemachine.Micros

const never = statemachine.Never

// modelReceiver is section 8 of the specification, word for word and slow, with
// sets as arrays of bools. Its methods return the id of the row taken.
type modelReceiver struct {
	state  statemachine.ReceiverState
	now    micros
	giveUp micros

	chunkID        uint16
	numSlices      int
	received       [codec.MaxSlices]bool
	data           [codec.MaxSlices][]byte
	progressAt     micros
	previousSlices int
	due            struct{ current, previous, hold bool }
	heldSlices     int
	whole          []byte // in READY: the chunk to be read

	ackAt, lastAckAt micros
	everAcked        bool
	unreported       int
	lastNew          int
	afterGap         bool
}

func newModelReceiver(cfg statemachine.ReceiverConfig) *modelReceiver {
	m := &modelReceiver{chunkID: cfg.FirstChunkID, giveUp: giveUpOf(cfg.GiveUp), ackAt: never}
	return m
}

// giveUpOf is GIVE_UP for what was configured (7.2).
func giveUpOf(configured micros) micros {
	if configured == 0 {
		return 10_000_000
	}
	return configured
}

// advance is TIM-1.
func (m *modelReceiver) advance(now micros) { m.now = max(m.now, now) }

// row picks the row of a guard by the state; FAILED has its own.
func (m *modelReceiver) row(waiting, receiving, ready string) string {
	return [...]string{waiting, receiving, ready}[m.state]
}

// slice takes a slice (RCV-3 to RCV-8). The model keeps its data.
func (m *modelReceiver) slice(now micros, s codec.Slice) string {
	m.advance(now)
	previous := m.chunkID - 1
	switch {
	case m.state == statemachine.ReceiverFailed:
		return "R26"
	case !sliceIsValid(s):
		return m.row("R4", "R12", "R15")
	case s.ChunkID == previous && s.NumSlices == m.previousSlices:
		m.due.previous = true
		m.soon()
		return m.row("R3", "R11", "R14")
	case s.ChunkID != m.chunkID:
		return m.row("R4", "R12", "R15")
	case m.state == statemachine.ReceiverReady:
		m.heldSlices, m.due.hold = s.NumSlices, true
		m.soon()
		return "R13"
	case m.state == statemachine.ReceiverWaiting:
		m.start(s)
		return m.stored(s, "R2", "R1")
	case s.NumSlices != m.numSlices:
		if m.now-m.progressAt < m.giveUp/2 {
			return "R8"
		}
		m.start(s)
		return m.stored(s, "R9", "R10")
	case m.received[s.SliceID]:
		m.due.current = true
		m.soon()
		return "R7"
	}
	return m.stored(s, "R5", "R6")
}

// stored does STORE, and COMPLETE if that was the last slice missing.
func (m *modelReceiver) stored(s codec.Slice, adds, completes string) string {
	m.store(s)
	for id := range m.numSlices {
		if !m.received[id] {
			m.state = statemachine.ReceiverReceiving
			return adds
		}
	}
	m.complete()
	m.state = statemachine.ReceiverReady
	return completes
}

// start is RCV-10 and AKT-1.
func (m *modelReceiver) start(s codec.Slice) {
	m.numSlices = s.NumSlices
	clear(m.received[:])
	m.heldSlices, m.due.hold = 0, false
	m.unreported, m.lastNew, m.afterGap = 0, -1, false
}

// store is RCV-11, AKT-3 and AKT-4.
func (m *modelReceiver) store(s codec.Slice) {
	m.data[s.SliceID] = s.Data
	m.received[s.SliceID] = true
	m.progressAt = m.now
	m.due.current = true
	m.unreported++
	gap := s.SliceID != m.lastNew+1
	if gap || m.afterGap || m.unreported >= 16 {
		m.ackAt = min(m.ackAt, m.now)
	} else {
		m.soon()
	}
	m.lastNew, m.afterGap = s.SliceID, gap
}

// complete is RCV-12.
func (m *modelReceiver) complete() {
	m.whole = nil
	for _, part := range m.data[:m.numSlices] {
		m.whole = append(m.whole, part...)
	}
	m.previousSlices, m.numSlices = m.numSlices, 0
	clear(m.received[:])
	m.chunkID++
	m.due.current, m.due.previous = false, true
	m.ackAt = min(m.ackAt, m.now)
}

// soon is AKT-2.
func (m *modelReceiver) soon() {
	at := m.now
	if m.everAcked {
		at = max(at, m.lastAckAt+2000)
	}
	m.ackAt = min(m.ackAt, at)
}

func (m *modelReceiver) read(now micros) (row string, chunk []byte) {
	m.advance(now)
	switch m.state {
	case statemachine.ReceiverFailed:
		return "R27", nil
	case statemachine.ReceiverReady:
		m.state = statemachine.ReceiverWaiting
		return "R16", m.whole
	}
	return m.row("R17", "R18", ""), nil
}

// poll returns an ack if there is one (RCV-9, RCV-16, AKT-5).
func (m *modelReceiver) poll(now micros) (row string, a codec.Ack, some bool) {
	m.advance(now)
	switch {
	case m.state == statemachine.ReceiverFailed:
		return "R28", a, false
	case m.state == statemachine.ReceiverReceiving && m.now-m.progressAt >= m.giveUp:
		m.state = statemachine.ReceiverFailed
		m.numSlices, m.ackAt = 0, never
		clear(m.received[:])
		m.due.current, m.due.previous, m.due.hold = false, false, false
		return "R23", a, false
	case m.now < m.ackAt:
		return m.row("R20", "R22", "R25"), a, false
	}
	a = m.nextAck()
	if m.due.current || m.due.previous || m.due.hold {
		return m.row("R19", "R21", "R24"), a, true
	}
	m.ackAt, m.lastAckAt, m.everAcked, m.unreported = never, m.now, true, 0
	return m.row("R19", "R21", "R24"), a, true
}

func (m *modelReceiver) nextAck() codec.Ack {
	switch {
	case m.due.previous:
		m.due.previous = false
		a := codec.Ack{ChunkID: m.chunkID - 1, NumSlices: m.previousSlices}
		for id := range m.previousSlices {
			a.Acked.Set(id)
		}
		return a
	case m.due.current:
		m.due.current = false
		return codec.Ack{ChunkID: m.chunkID, NumSlices: m.numSlices, Acked: m.bits()}
	}
	m.due.hold = false
	return codec.Ack{ChunkID: m.chunkID, NumSlices: m.heldSlices}
}

func (m *modelReceiver) bits() (b codec.Bitset) {
	for id, here := range m.received {
		if here {
			b.Set(id)
		}
	}
	return b
}

// deadline is RCV-17.
func (m *modelReceiver) deadline() micros {
	switch m.state {
	case statemachine.ReceiverFailed:
		return never
	case statemachine.ReceiverReceiving:
		return min(m.ackAt, m.progressAt+m.giveUp)
	}
	return m.ackAt
}
