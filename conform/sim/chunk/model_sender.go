package chunk

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderModel is section 7 of the specification, sentence by sentence. It has the
// methods of a statemachine.Sender, and shares nothing with it but types of plain
// values (SND-19, SND-21, SND-22). Which slice goes next its scheduler says: a BaseModel, or a follower of the
// one that the sender has.
type SenderModel struct {
	sched       statemachine.Scheduler
	giveUp, now core.Micros
	state       statemachine.SenderState
	row         core.Row

	chunkID   uint16
	chunk     []byte
	numSlices int
	sent      core.Set
	acked     core.Set
	heardAt   core.Micros

	startedAt core.Micros
	stats     statemachine.SenderStats
}

// NewSenderModel returns the model of a sender with a valid configuration, of which
// it does not use Log.
func NewSenderModel(cfg statemachine.SenderConfig) *SenderModel {
	return &SenderModel{chunkID: cfg.FirstChunkID, giveUp: GiveUpOf(cfg.GiveUp), sched: cfg.Scheduler}
}

// advance is TIM-1.
func (m *SenderModel) advance(now core.Micros) {
	if now > m.now {
		m.now = now
	}
}

// Submit is the event submit. It keeps a copy of the chunk.
func (m *SenderModel) Submit(now core.Micros, chunk []byte) error {
	m.advance(now)
	switch {
	case m.state == statemachine.SenderFailed:
		m.row = "S4"
		return statemachine.ErrGaveUp
	case m.state == statemachine.SenderSending:
		m.row = "S3"
		return statemachine.ErrBusy
	case len(chunk) < 1 || len(chunk) > 262_144: // LIM-1
		m.row = "S2"
		return statemachine.ErrChunkSize
	}
	m.row, m.state = "S1", statemachine.SenderSending
	m.start(bytes.Clone(chunk))
	return nil
}

// start is START (SND-10).
func (m *SenderModel) start(chunk []byte) {
	m.chunk, m.numSlices = chunk, (len(chunk)+1023)/1024 // LIM-2
	m.sent, m.acked = core.Set{}, core.Set{}
	m.heardAt, m.startedAt = m.now, m.now
	m.sched.Begin(statemachine.Flight{
		Now: m.now, ChunkID: m.chunkID, NumSlices: m.numSlices,
		Bytes: m.datagramSize(0), LastBytes: m.datagramSize(m.numSlices - 1),
	})
}

// slice returns slice k (LIM-2, LIM-3, SLC-4).
func (m *SenderModel) slice(k int) codec.Slice {
	data := m.chunk[1024*k:]
	if k < m.numSlices-1 {
		data = data[:1024]
	}
	return codec.Slice{ChunkID: m.chunkID, SliceID: k, NumSlices: m.numSlices, Data: data}
}

// datagramSize returns the size of slice k's datagram, by the table of section 5.
func (m *SenderModel) datagramSize(k int) int {
	if k < m.numSlices-1 {
		return 1037
	}
	return 14 + len(m.chunk) - 1024*k
}

// HandleAck is the event ack.
func (m *SenderModel) HandleAck(now core.Micros, a codec.Ack) (ours bool) {
	m.advance(now)
	m.stats.AcksReceived++
	foreign := a.ChunkID != m.chunkID || a.NumSlices != m.numSlices || !ackIsValid(a) // SND-5
	switch m.state {
	case statemachine.SenderIdle:
		m.row = "S5"
		m.stats.AcksIgnored++
		return m.stats.Chunks > 0 && a.ChunkID == m.chunkID-1
	case statemachine.SenderFailed:
		m.row = "S11"
		m.stats.AcksIgnored++
		return !foreign
	}
	if foreign {
		m.row = "S6"
		m.stats.AcksIgnored++
		return false
	}
	m.genuine(a)
	return true
}

// genuine is SND-6 to SND-8, for an ack that is not foreign.
func (m *SenderModel) genuine(a codec.Ack) {
	var news core.Set
	missing, ackedBefore := 0, 0
	for k := range m.numSlices {
		switch {
		case m.acked.Has(k):
			ackedBefore++
		case a.Acked.Has(k) && m.sent.Has(k):
			news.Add(k)
		default:
			missing++
		}
	}
	switch {
	case missing == 0:
		m.row, m.state = "S10", statemachine.SenderIdle
		m.note(news)
		m.complete()
	case !news.Empty():
		m.row = "S9"
		m.note(news)
	case ackedBefore == 0 && a.Acked.Empty():
		m.row = "S8"
		m.heardAt = m.now
		m.sched.Held(m.now)
	default:
		m.row = "S7"
		m.stats.AcksIgnored++
	}
}

// note is NOTE (SND-12) with HEAR (SND-11).
func (m *SenderModel) note(news core.Set) {
	m.heardAt = m.now
	for k := range news.All() {
		m.acked.Add(k)
		m.stats.SlicesAcked++
	}
	m.sched.Acked(m.now, statemachine.Progress{News: news, Have: m.acked.Count()})
}

// complete is COMPLETE (SND-13).
func (m *SenderModel) complete() {
	m.stats.Chunks++
	m.stats.ChunkBytes += int64(len(m.chunk))
	m.stats.LastChunkTime = m.now - m.startedAt
	m.chunkID = uint16((int(m.chunkID) + 1) % 65536)
	m.numSlices, m.chunk = 0, nil
}

// Poll is the event poll (SND-9).
func (m *SenderModel) Poll(now core.Micros) (codec.Slice, bool) {
	m.advance(now)
	switch {
	case m.state == statemachine.SenderIdle:
		m.row = "S12"
	case m.state == statemachine.SenderFailed:
		m.row = "S16"
	case m.now-m.heardAt >= m.giveUp:
		m.row, m.state = "S15", statemachine.SenderFailed
		m.chunk = nil
	default:
		if k, due := m.sched.Next(m.now); due {
			m.row = "S13"
			return m.send(k), true
		}
		m.row = "S14"
	}
	return codec.Slice{}, false
}

// send is SEND (SND-14).
func (m *SenderModel) send(k int) codec.Slice {
	m.stats.SlicesSent++
	if m.sent.Has(k) {
		m.stats.SlicesResent++
	}
	m.stats.BytesSent += int64(m.datagramSize(k))
	m.sent.Add(k)
	return m.slice(k)
}

// Deadline is SND-16.
func (m *SenderModel) Deadline() core.Micros {
	if m.state != statemachine.SenderSending {
		return core.Never
	}
	return min(m.sched.Deadline(), m.heardAt+m.giveUp)
}

// Err is SND-15.
func (m *SenderModel) Err() error {
	if m.state == statemachine.SenderFailed {
		return statemachine.ErrGaveUp
	}
	return nil
}

// Vars returns the variables of section 7.2.
func (m *SenderModel) Vars() statemachine.SenderVars {
	return statemachine.SenderVars{
		State: m.state, Row: m.row, ChunkID: m.chunkID, NumSlices: m.numSlices,
		Sent: m.sent, Acked: m.acked, Transmissions: m.sent.Count(), Have: m.acked.Count(), HeardAt: m.heardAt,
	}
}

// Stats returns the counters.
func (m *SenderModel) Stats() statemachine.SenderStats {
	st := m.stats
	st.Schedule = m.sched.Stats()
	return st
}
