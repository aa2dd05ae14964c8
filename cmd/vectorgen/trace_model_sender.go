package main

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// rowOf is a row of the specification's tables, copied by hand.
type rowOf struct{ from, to, refusal string }

var senderRows = map[string]rowOf{
	"S1": {"IDLE", "SENDING", ""}, "S2": {"IDLE", "IDLE", "chunk_size"},
	"S3": {"SENDING", "SENDING", "busy"}, "S4": {"FAILED", "FAILED", "gave_up"},
	"S5": {"IDLE", "IDLE", ""}, "S6": {"SENDING", "SENDING", ""}, "S7": {"SENDING", "SENDING", ""},
	"S8": {"SENDING", "SENDING", ""}, "S9": {"SENDING", "SENDING", ""}, "S10": {"SENDING", "IDLE", ""},
	"S11": {"FAILED", "FAILED", ""}, "S12": {"IDLE", "IDLE", ""}, "S14": {"SENDING", "SENDING", ""},
	"S15": {"SENDING", "FAILED", ""}, "S16": {"FAILED", "FAILED", ""},
}

// senderModel keeps the books of a sender: given the row of each event, which
// the script states, it says what the rest of the step must be.
type senderModel struct {
	state       string
	scripted    bool
	giveUp      int64
	now, heard  int64
	id          uint16
	chunk       []byte
	numSlices   int
	sent, acked []byte // '0' and '1'
}

func newSenderModel(cfg testvectors.SenderConfig) *senderModel {
	return &senderModel{state: "IDLE", scripted: cfg.Profile == nil, giveUp: cfg.GiveUpUS, id: cfg.FirstChunkID}
}

// content is TRC-1.
func content(id uint16, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte((i + 31*(i/1024) + 7*int(id)) % 256)
	}
	return b
}

// step follows a step, and tells what in it cannot be.
func (m *senderModel) step(e testvectors.Event, s testvectors.Step) error {
	row, ok := senderRows[s.Row]
	if !ok || row.from != m.state || row.to != s.State || row.refusal != s.Error {
		return fmt.Errorf("%s from %s to %s, error %q", s.Row, m.state, s.State, s.Error)
	}
	m.state, m.now = row.to, max(m.now, e.At)
	switch s.Row {
	case "S1":
		m.heard, m.chunk, m.numSlices = m.now, content(m.id, *e.Size), (*e.Size+1023)/1024
		m.sent = []byte(strings.Repeat("0", m.numSlices))
		m.acked = []byte(strings.Repeat("0", m.numSlices))
	case "S8":
		m.heard = m.now
	case "S9", "S10":
		m.heard = m.now
		for k := range m.acked {
			if m.sent[k] == '1' && (*e.Acked)[k] == '1' {
				m.acked[k] = '1'
			}
		}
	}
	if s.Row == "S10" {
		if strings.Contains(string(m.acked), "0") {
			return fmt.Errorf("complete with %s", m.acked)
		}
		m.id++
	}
	return m.compare(s)
}

func (m *senderModel) compare(s testvectors.Step) error {
	acked, deadline := "", "never"
	if m.state == "SENDING" {
		acked = string(m.acked)
		at := m.heard + m.giveUp
		if deadline = drawTime(&at); !m.scripted && s.DeadlineUS != nil && *s.DeadlineUS < at {
			deadline = drawTime(s.DeadlineUS)
		}
	}
	if *s.Acked != acked || s.ChunkID != m.id || drawTime(s.DeadlineUS) != deadline {
		return fmt.Errorf("chunk %d, acked %s, deadline %s; want %d, %s, %s", s.ChunkID, *s.Acked, drawTime(s.DeadlineUS), m.id, acked, deadline)
	}
	for _, p := range s.Packets {
		k := *p.SliceID
		data := m.chunk[1024*k : min(1024*k+1024, len(m.chunk))]
		if p.ChunkID != m.id || *p.NumSlices != m.numSlices || *p.Size != len(data) || *p.CRC32 != crc32.ChecksumIEEE(data) {
			return fmt.Errorf("packet %s", drawPacket(p))
		}
		if m.acked[k] == '1' && !m.scripted {
			return fmt.Errorf("slice %d is sent, and acked (SCH-1)", k)
		}
		m.sent[k] = '1'
	}
	return nil
}
