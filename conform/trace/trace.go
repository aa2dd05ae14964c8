// Package trace runs the machines of this module on traces: lists of events, each
// answered by a step (appendix B of spec/PROTOCOL.md). Ports in any language answer
// the same traces.
package trace

import (
	"bytes"
	"errors"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

var (
	// ErrUnsupported means that a machine has no such event.
	ErrUnsupported = errors.New("trace: unknown event")
	// ErrBadRequest means that a field is missing, or has a value that no trace may
	// have (TRC-6).
	ErrBadRequest = errors.New("trace: a field is missing or out of range")
)

// maxTime is what every time in a trace is below (section 2.2).
const maxTime = 1 << 62

// Data returns the bytes of a chunk in a trace (TRC-1).
func Data(chunkID uint16, size int) []byte {
	b := make([]byte, size)
	for id := range codec.NumSlices(size) {
		copy(b[id*codec.SliceSize:], fullSlice(chunkID, id))
	}
	return b
}

// ramp is byte i of which is i: each slice of a chunk in a trace is a part of it (TRC-1), which is copied
// since traces of large chunks ask for a slice at each event.
var ramp = func() (r [256 + codec.SliceSize]byte) {
	for i := range r {
		r[i] = byte(i)
	}
	return r
}()

// fullSlice returns the bytes of a slice of the full size. They are shared.
func fullSlice(chunkID uint16, sliceID int) []byte {
	first := byte(codec.SliceSize*sliceID + 31*sliceID + 7*int(chunkID))
	return ramp[first:][:codec.SliceSize]
}

// sliceData returns the bytes of a slice in a trace: those of its chunk, or all
// the same.
func sliceData(chunkID uint16, sliceID, size int, fill *byte) []byte {
	if fill != nil {
		return bytes.Repeat([]byte{*fill}, size)
	}
	return bytes.Clone(fullSlice(chunkID, sliceID)[:size])
}

// Content stands for data in a trace.
func Content(b []byte) contract.Content {
	return contract.Content{Size: len(b), CRC32: crc32.ChecksumIEEE(b)}
}

// refusal returns the code of a refused call of the application.
func refusal(err error) string {
	switch {
	case errors.Is(err, statemachine.ErrChunkSize):
		return "chunk_size"
	case errors.Is(err, statemachine.ErrBusy):
		return "busy"
	case errors.Is(err, statemachine.ErrGaveUp):
		return "gave_up"
	case errors.Is(err, statemachine.ErrNothingToRead):
		return "nothing_to_read"
	}
	return ""
}

func deadline(at core.Micros) *int64 {
	if at == core.Never {
		return nil
	}
	us := int64(at)
	return &us
}

// giveUp returns a time to give up, which is never the machines' default.
func giveUp(us int64) (core.Micros, error) {
	if us < 1 || us > int64(statemachine.MaxGiveUp) {
		return 0, ErrBadRequest
	}
	return core.Micros(us), nil
}
