package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/code"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// RepairSenderModel is the sender of REPAIR.md, sentence by sentence. It has the methods of
// a statemachine.Sender, and shares nothing with it but types of plain values. When the next
// slice goes its scheduler says: a follower of the one that the sender has.
type RepairSenderModel struct {
	sched       statemachine.Scheduler
	giveUp, now core.Micros
	state       statemachine.SenderState
	row         core.Row

	chunkID   uint16
	chunk     []byte
	numSlices int
	sent      int
	have, top int
	heardAt   core.Micros

	startedAt core.Micros
	stats     statemachine.SenderStats
}

// NewRepairSenderModel returns the model of a sender with a valid configuration, of which
// it does not use Log.
func NewRepairSenderModel(cfg statemachine.SenderConfig) *RepairSenderModel {
	return &RepairSenderModel{chunkID: cfg.FirstChunkID, giveUp: GiveUpOf(cfg.GiveUp), sched: cfg.Scheduler}
}

func (m *RepairSenderModel) advance(now core.Micros) { m.now = max(m.now, now) }

// Submit is the event submit. It keeps a copy of the chunk.
func (m *RepairSenderModel) Submit(now core.Micros, chunk []byte) error {
	m.advance(now)
	switch size := len(chunk); {
	case m.state == statemachine.SenderFailed:
		m.row = "T4"
		return statemachine.ErrGaveUp
	case m.state == statemachine.SenderSending:
		m.row = "T3"
		return statemachine.ErrBusy
	case size < 1 || size > 262_144: // LIM-1
		m.row = "T2"
		return statemachine.ErrChunkSize
	}
	m.row, m.state = "T1", statemachine.SenderSending
	m.start(bytes.Clone(chunk))
	return nil
}

// start is START.
func (m *RepairSenderModel) start(chunk []byte) {
	m.chunk, m.numSlices = chunk, (len(chunk)+1023)/1024 // LIM-2
	m.sent, m.have, m.top = 0, 0, 0
	m.heardAt, m.startedAt = m.now, m.now
	m.sched.Begin(statemachine.Flight{
		Now: m.now, ChunkID: m.chunkID, NumSlices: m.numSlices,
		Bytes: m.datagramSize(0), LastBytes: m.datagramSize(m.numSlices - 1),
	})
}

// slice returns the slice with an id.
func (m *RepairSenderModel) slice(id int) codec.Slice {
	return codec.Slice{
		ChunkID: m.chunkID, SliceID: id, NumSlices: m.numSlices,
		LastBytes: len(m.chunk) - 1024*(m.numSlices-1), Data: code.Slice(m.chunk, id),
	}
}

// datagramSize returns the size of the datagram of a slice: 14 bytes and its data.
func (m *RepairSenderModel) datagramSize(id int) int {
	if id == m.numSlices-1 || m.numSlices == 1 {
		return 14 + len(m.chunk) - 1024*(m.numSlices-1)
	}
	return 14 + 1024
}

// HandleAck is the event ack.
func (m *RepairSenderModel) HandleAck(now core.Micros, a codec.Ack) (ours bool) {
	m.advance(now)
	m.stats.AcksReceived++
	switch m.state {
	case statemachine.SenderIdle:
		m.row = "T5"
		m.stats.AcksIgnored++
		return m.stats.Chunks > 0 && a.ChunkID == m.chunkID-1
	case statemachine.SenderFailed:
		m.row = "T11"
		m.stats.AcksIgnored++
		return m.number(a) >= 0
	}
	top := m.number(a)
	if top < 0 {
		m.row = "T6"
		m.stats.AcksIgnored++
		return false
	}
	m.genuine(a.Have, top)
	return true
}

// number returns the number of an ack's top; -1 if the ack is foreign.
func (m *RepairSenderModel) number(a codec.Ack) int {
	if a.ChunkID != m.chunkID || a.NumSlices != m.numSlices || !repairAckIsValid(a) {
		return -1
	}
	if top := code.Top(a.Top, m.numSlices, m.sent); a.Have <= top {
		return top
	}
	return -1
}

// genuine takes an ack that is not foreign.
func (m *RepairSenderModel) genuine(have, top int) {
	switch {
	case have == m.numSlices:
		m.row, m.state = "T10", statemachine.SenderIdle
		m.note(have, top)
		m.complete()
	case have > m.have || top > m.top:
		m.row = "T9"
		m.note(have, top)
	case have == 0 && top == 0 && m.have == 0 && m.top == 0:
		m.row = "T8"
		m.heardAt = m.now
		m.sched.Held(m.now)
	default:
		m.row = "T7"
		m.stats.AcksIgnored++
	}
}

// note is NOTE with HEAR.
func (m *RepairSenderModel) note(have, top int) {
	m.heardAt = m.now
	m.stats.SlicesAcked += int64(max(have-m.have, 0))
	m.have, m.top = max(m.have, have), max(m.top, top)
	m.sched.Acked(m.now, statemachine.Progress{Have: m.have, Top: m.top})
}

// complete is COMPLETE.
func (m *RepairSenderModel) complete() {
	m.stats.Chunks++
	m.stats.ChunkBytes += int64(len(m.chunk))
	m.stats.LastChunkTime = m.now - m.startedAt
	m.chunkID = uint16((int(m.chunkID) + 1) % 65536)
	m.numSlices = 0
	m.forget()
}

// forget leaves nothing of the chunk in flight.
func (m *RepairSenderModel) forget() { m.chunk, m.sent, m.have, m.top = nil, 0, 0, 0 }

// Poll is the event poll.
func (m *RepairSenderModel) Poll(now core.Micros) (codec.Slice, bool) {
	m.advance(now)
	switch {
	case m.state == statemachine.SenderIdle:
		m.row = "T12"
	case m.state == statemachine.SenderFailed:
		m.row = "T16"
	case m.now-m.heardAt >= m.giveUp:
		m.row, m.state = "T15", statemachine.SenderFailed
		m.forget()
	default:
		if _, due := m.sched.Next(m.now); due {
			m.row = "T13"
			return m.send(), true
		}
		m.row = "T14"
	}
	return codec.Slice{}, false
}

// send is SEND.
func (m *RepairSenderModel) send() codec.Slice {
	id := code.ID(m.sent, m.numSlices)
	m.sent++
	m.stats.SlicesSent++
	if id >= m.numSlices {
		m.stats.SlicesRepair++
	}
	m.stats.BytesSent += int64(m.datagramSize(id))
	return m.slice(id)
}

// Deadline is SND-16.
func (m *RepairSenderModel) Deadline() core.Micros {
	if m.state != statemachine.SenderSending {
		return core.Never
	}
	return min(m.sched.Deadline(), m.heardAt+m.giveUp)
}

// Err is SND-15.
func (m *RepairSenderModel) Err() error {
	if m.state == statemachine.SenderFailed {
		return statemachine.ErrGaveUp
	}
	return nil
}

// Vars returns the variables.
func (m *RepairSenderModel) Vars() statemachine.SenderVars {
	return statemachine.SenderVars{
		State: m.state, Row: m.row, ChunkID: m.chunkID, NumSlices: m.numSlices,
		Transmissions: m.sent, Have: m.have, Top: m.top, HeardAt: m.heardAt,
	}
}

// Stats returns the counters.
func (m *RepairSenderModel) Stats() statemachine.SenderStats {
	st := m.stats
	st.Schedule = m.sched.Stats()
	return st
}
