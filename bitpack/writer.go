package bitpack

import (
	"encoding/binary"
	"math/bits"
)

// Writer appends a bit stream to a byte slice. Its first fault sticks: later
// writes do nothing, and [Writer.Finish] returns the fault.
//
// The zero Writer appends to an empty buffer. Alignment is relative to the
// point where the Writer began, which is always a byte boundary of the buffer.
type Writer struct {
	buf     []byte
	start   int    // length of buf when the stream began
	pending uint64 // bits not yet in buf, the earliest lowest; zero above
	npend   int    // how many bits are pending, 0..31
	err     error
}

// NewWriter returns a Writer that appends to buf.
func NewWriter(buf []byte) Writer {
	return Writer{buf: buf, start: len(buf)}
}

// Bits writes the low n bits of v, 1 <= n <= 32. A v wider than that is
// ErrValue (BIT-2).
func (w *Writer) Bits(v uint32, n int) {
	checkWidth(n)
	if w.err != nil {
		return
	}
	if bits.Len32(v) > n {
		w.err = ErrValue
		return
	}
	w.pending |= uint64(v) << w.npend
	w.npend += n
	if w.npend >= 32 {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(w.pending))
		w.pending >>= 32
		w.npend -= 32
	}
}

// Int writes v as an offset from low, in Width(low, high) bits. A v outside
// [low, high] is ErrValue (BIT-3).
func (w *Writer) Int(v, low, high int64) {
	n := Width(low, high)
	if w.err != nil {
		return
	}
	if v < low || v > high {
		w.err = ErrValue
		return
	}
	w.Bits(uint32(v-low), n)
}

// Bool writes one bit (BIT-4).
func (w *Writer) Bool(v bool) {
	if v {
		w.Bits(1, 1)
	} else {
		w.Bits(0, 1)
	}
}

// Align writes zero bits up to the next byte boundary; none when already there
// (BIT-5).
func (w *Writer) Align() {
	if w.err != nil {
		return
	}
	w.npend = (w.npend + 7) &^ 7
	w.flush()
}

// Bytes aligns, then writes p as it is (BIT-6).
func (w *Writer) Bytes(p []byte) {
	w.Align()
	if w.err != nil {
		return
	}
	w.buf = append(w.buf, p...)
}

// Len returns the number of bits written so far.
func (w *Writer) Len() int {
	return 8*(len(w.buf)-w.start) + w.npend
}

// Finish aligns and returns the buffer with the stream appended (BIT-7). After a fault
// it returns the buffer as it was given to NewWriter, and the fault.
func (w *Writer) Finish() ([]byte, error) {
	if w.err != nil {
		return w.buf[:w.start], w.err
	}
	w.Align()
	return w.buf, nil
}

// flush moves the whole bytes that are pending to the buffer.
func (w *Writer) flush() {
	for ; w.npend >= 8; w.npend -= 8 {
		w.buf = append(w.buf, byte(w.pending))
		w.pending >>= 8
	}
}
