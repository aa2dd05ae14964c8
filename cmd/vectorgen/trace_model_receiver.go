package main

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

var receiverRows = map[string]rowOf{
	"R1": {"WAITING", "READY", ""}, "R2": {"WAITING", "RECEIVING", ""},
	"R3": {"WAITING", "WAITING", ""}, "R4": {"WAITING", "WAITING", ""},
	"R5": {"RECEIVING", "RECEIVING", ""}, "R6": {"RECEIVING", "READY", ""},
	"R7": {"RECEIVING", "RECEIVING", ""}, "R8": {"RECEIVING", "RECEIVING", ""},
	"R9": {"RECEIVING", "RECEIVING", ""}, "R10": {"RECEIVING", "READY", ""},
	"R11": {"RECEIVING", "RECEIVING", ""}, "R12": {"RECEIVING", "RECEIVING", ""},
	"R13": {"READY", "READY", ""}, "R14": {"READY", "READY", ""}, "R15": {"READY", "READY", ""},
	"R16": {"READY", "WAITING", ""}, "R17": {"WAITING", "WAITING", "nothing_to_read"},
	"R18": {"RECEIVING", "RECEIVING", "nothing_to_read"},
	"R20": {"WAITING", "WAITING", ""}, "R22": {"RECEIVING", "RECEIVING", ""},
	"R23": {"RECEIVING", "FAILED", ""}, "R25": {"READY", "READY", ""},
	"R26": {"FAILED", "FAILED", ""}, "R27": {"FAILED", "FAILED", "nothing_to_read"}, "R28": {"FAILED", "FAILED", ""},
}

// notDue is the time since which an ack that is not due has been due.
const notDue = -1

// receiverModel keeps the books of a receiver, as senderModel does of a sender.
type receiverModel struct {
	state     string
	now       int64
	id        uint16
	numSlices int
	got       map[int][]byte
	complete  []byte // waits to be read
	doneAt    int64  // when the latest chunk was completed

	current, previous, hold int64 // since when their acks have been due
	polledEarly             bool  // a poll asked more than ACQ-1 and ACQ-3 do (TRC-5)
}

func newReceiverModel(cfg testvectors.ReceiverConfig) *receiverModel {
	return &receiverModel{state: "WAITING", id: cfg.FirstChunkID, doneAt: notDue, current: notDue, previous: notDue, hold: notDue}
}

// step follows a step, and tells what in it cannot be.
func (m *receiverModel) step(e testvectors.Event, s testvectors.Step) error {
	row, ok := receiverRows[s.Row]
	if !ok || row.from != m.state || row.to != s.State || row.refusal != s.Error {
		return fmt.Errorf("%s from %s to %s, error %q", s.Row, m.state, s.State, s.Error)
	}
	m.state, m.now = row.to, max(m.now, e.At)
	switch e.Event {
	case "slice":
		m.slice(e, s.Row)
	case "read":
		if (s.Chunk != nil) != (s.Row == "R16") || s.Chunk != nil && (s.Chunk.Size != len(m.complete) || s.Chunk.CRC32 != crc32.ChecksumIEEE(m.complete)) {
			return fmt.Errorf("delivers %+v instead of %d bytes", s.Chunk, len(m.complete))
		}
	case "poll":
		m.poll(s.Row)
	}
	if got := m.received(); *s.Received != got || s.ChunkID != m.id {
		return fmt.Errorf("chunk %d, received %s; want %d, %s", s.ChunkID, *s.Received, m.id, got)
	}
	return nil
}

// slice does what the actions of a slice's row say.
func (m *receiverModel) slice(e testvectors.Event, row string) {
	switch row {
	case "R1", "R2", "R9", "R10":
		m.got, m.numSlices, m.hold = map[int][]byte{}, *e.NumSlices, notDue
	}
	switch row {
	case "R1", "R2", "R5", "R6", "R9", "R10":
		m.got[*e.SliceID] = sliceData(e)
		m.makeDue(&m.current)
	case "R7":
		m.makeDue(&m.current)
	case "R3", "R11", "R14":
		m.makeDue(&m.previous)
	case "R13":
		m.makeDue(&m.hold)
	}
	switch row {
	case "R1", "R6", "R10":
		m.complete = nil
		for k := range m.numSlices {
			m.complete = append(m.complete, m.got[k]...)
		}
		m.got, m.id = nil, m.id+1
		m.current, m.previous, m.doneAt = notDue, m.now, m.now
	}
}

func sliceData(e testvectors.Event) []byte {
	if e.Fill != nil {
		return []byte(strings.Repeat(string([]byte{*e.Fill}), *e.Size))
	}
	return content(*e.ChunkID, 1024**e.SliceID+*e.Size)[1024**e.SliceID:]
}

func (m *receiverModel) makeDue(since *int64) {
	if *since == notDue {
		*since = m.now
	}
}

// poll notes a poll at which an implementation with a timing of its own need not
// send what this one does.
func (m *receiverModel) poll(row string) {
	if row == "R23" {
		m.got = nil
	}
	for _, since := range []int64{m.current, m.previous, m.hold} {
		if since != notDue && m.now-since < 100_000 && m.doneAt != m.now {
			m.polledEarly = true
		}
	}
	m.current, m.previous, m.hold = notDue, notDue, notDue
}

func (m *receiverModel) received() string {
	if m.state != "RECEIVING" {
		return ""
	}
	bits := []byte(strings.Repeat("0", m.numSlices))
	for k := range m.got {
		bits[k] = '1'
	}
	return string(bits)
}
