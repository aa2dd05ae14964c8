package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// bitReader is a bitpack.Reader beside the oracle's.
type bitReader struct {
	T
	r     bitpack.Reader
	model stream.Reader
}

// read does one operation of the script, past the end or not.
func (m *bitReader) read(s *script) {
	m.Helper()
	switch s.byte() % 9 {
	case 0, 1, 2:
		n := int(s.byte()%32) + 1
		want, wantErr := m.take(n)
		got, err := m.r.Bits(n)
		m.compare("bits", uint64(got), err, want, wantErr)
	case 3, 4:
		low, high := readRange(s)
		want, wantErr := m.takeInt(low, high)
		got, err := m.r.Int(low, high)
		m.compare("int", uint64(got), err, uint64(want), wantErr)
	case 5:
		want, wantErr := m.take(1)
		got, err := m.r.Bool()
		m.compare("bool", asBit(got), err, want, wantErr)
	case 6:
		wantErr := m.align()
		m.compare("align", 0, m.r.Align(), 0, wantErr)
	case 7:
		m.readBytes(int(s.byte() % 40))
	case 8:
		mustPanic(m.T, "Bytes of a negative length", func() { m.r.Bytes(-1) })
	}
}

// take is bits(v, n) of the model; when it fails nothing is consumed.
func (m *bitReader) take(n int) (uint64, error) {
	if m.model.Left() < n {
		return 0, bitpack.ErrTruncated
	}
	return m.model.Bits(n), nil
}

func (m *bitReader) takeInt(low, high int64) (int64, error) {
	before := m.model
	v, err := m.take(stream.Width(low, high))
	if err == nil && v > uint64(high)-uint64(low) {
		m.model, err = before, bitpack.ErrValue
	}
	if err != nil {
		return 0, err
	}
	return int64(uint64(low) + v), nil
}

func (m *bitReader) align() error {
	before := m.model
	if !m.model.Align() {
		m.model = before
		return bitpack.ErrPadding
	}
	return nil
}

func (m *bitReader) readBytes(n int) {
	m.Helper()
	before := m.model
	wantErr := m.align()
	want := []byte(nil)
	if wantErr == nil && m.model.Left() < 8*n {
		m.model, wantErr = before, bitpack.ErrTruncated
	}
	if wantErr == nil {
		want = m.model.Bytes(n)
	}
	got, err := m.r.Bytes(n)
	m.compare("bytes", 0, err, 0, wantErr)
	if !bytes.Equal(got, want) || cap(got) != len(got) {
		m.Fatalf("bytes: %x with room for %d, want %x", got, cap(got), want)
	}
}

func (m *bitReader) compare(what string, got uint64, err error, want uint64, wantErr error) {
	m.Helper()
	if verbose() {
		m.Logf("read %s: %#x, %v; now at bit %d of %d", what, got, err, m.r.Offset(), m.model.At()+m.model.Left())
	}
	if got != want || err != wantErr {
		m.Fatalf("%s: %#x, %v, want %#x, %v", what, got, err, want, wantErr)
	}
	if m.r.Offset() != m.model.At() || m.r.Remaining() != m.model.Left() {
		m.Fatalf("after %s: at %d with %d left, want %d and %d", what, m.r.Offset(), m.r.Remaining(), m.model.At(), m.model.Left())
	}
}

// toTheEnd reads what is left: the stream written is then compared bit by bit.
func (m *bitReader) toTheEnd() {
	m.Helper()
	for m.model.Left() > 0 {
		n := min(7, m.model.Left())
		want, wantErr := m.take(n)
		got, err := m.r.Bits(n)
		m.compare("bits", uint64(got), err, want, wantErr)
	}
	if _, err := m.r.Bits(1); err != bitpack.ErrTruncated {
		m.Fatalf("a bit behind the end: %v", err)
	}
}
