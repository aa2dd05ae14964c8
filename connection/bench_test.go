package connection_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// line is two ends on a path without delay, and one buffer for all datagrams.
type line struct {
	a, b      *connection.Conn
	now       core.Micros
	buffer    []byte
	datagrams int
	bytes     int
}

func newLine(mode session.Mode, variant uint8, lanes int, cfg connection.Config) *line {
	a, b := pairOf(mode, session.Agreed{Lanes: lanes, Variant: variant, Timeout: 10 * second}, cfg, cfg)
	return &line{a: a, b: b, buffer: make([]byte, 0, 2048)}
}

// pass lets one end say all that it has.
func (l *line) pass(from, to *connection.Conn) (any bool) {
	for {
		d, ok := from.Poll(l.now, l.buffer[:0])
		if !ok {
			return any
		}
		any = true
		l.datagrams++
		l.bytes += len(d)
		_ = to.Receive(l.now, d)
	}
}

func (l *line) step(d core.Micros) {
	l.now += d
	for l.pass(l.a, l.b) || l.pass(l.b, l.a) {
	}
}

// sendChunk sends a chunk and reads it.
func (l *line) sendChunk(chunk, into []byte) {
	check.Must(l.a.SendChunk(l.now, chunk))
	for l.b.ChunkSize() == 0 {
		l.step(100)
	}
	_, _ = l.b.ReadChunk(l.now, into)
	for !l.a.Delivered() {
		l.step(100)
	}
	_, _ = l.a.ChunkDone()
}

// sendMessages sends a message on each channel and reads it.
func (l *line) sendMessages(message, into []byte) {
	for id := unreliable; id <= unordered; id++ {
		if err := l.a.Send(l.now, id, message, 0); err != nil {
			panic(err)
		}
	}
	l.step(20 * ms)
	for id := unreliable; id <= unordered; id++ {
		_, _ = l.b.Read(l.now, id, into)
	}
}

// Once it runs, neither a message nor a slice allocates, with any envelope.
func TestNothingIsAllocated(t *testing.T) {
	for _, mode := range []session.Mode{session.CRC, session.MAC, session.AEAD} {
		for variant, bit := range variants {
			l := newLine(mode, bit, 1, connection.Config{})
			chunk, into := content(codec.MaxChunkSize, 1), make([]byte, 0, codec.MaxChunkSize)
			for range 300 {
				l.sendMessages(chunk[:100], into)
			}
			check.Equal(t, fmt.Sprint(mode, ": allocations of three messages"), testing.AllocsPerRun(300, func() { l.sendMessages(chunk[:100], into) }), 0)
			for range 20 {
				l.sendChunk(chunk, into)
			}
			each := testing.AllocsPerRun(20, func() { l.sendChunk(chunk, into) })
			t.Logf("%v, %s: %v allocations for a chunk of 256 slices", mode, variant, each)
			check.That(t, each <= 16, "a chunk allocates a few tables, and its slices nothing")
		}
	}
}

// What a slice costs, at both ends together, with what acks it.
func BenchmarkSlice(b *testing.B) {
	for _, c := range []struct {
		name  string
		mode  session.Mode
		lanes int
	}{{"crc", session.CRC, 1}, {"crc with 15 idle lanes", session.CRC, 16}, {"mac", session.MAC, 1}, {"aead", session.AEAD, 1}} {
		b.Run(c.name, func(b *testing.B) {
			l := newLine(c.mode, session.VariantRepair, c.lanes, connection.Config{})
			chunk, into := content(codec.MaxChunkSize, 1), make([]byte, 0, codec.MaxChunkSize)
			l.sendChunk(chunk, into)
			b.ReportAllocs()
			l.datagrams, l.bytes = 0, 0
			for b.Loop() {
				l.sendChunk(chunk, into)
			}
			slices := float64(b.N) * codec.MaxSlices
			b.ReportMetric(float64(b.Elapsed())/slices, "ns/slice")
			b.ReportMetric(float64(l.bytes)/slices, "bytes/slice")
			b.ReportMetric(float64(l.datagrams)/slices, "datagrams/slice")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// The same by lanes over the frame of PROTOCOL.md, without a connection.
func BenchmarkPlainSlice(b *testing.B) {
	send, receive := check.Must(lanes.New(lanes.Config{})), check.Must(lanes.New(lanes.Config{}))
	framer := codec.NewFramer(1)
	chunk, into := content(codec.MaxChunkSize, 1), make([]byte, 0, codec.MaxChunkSize)
	buffer, now, bytes := make([]byte, 0, 2048), core.Micros(0), 0
	b.ReportAllocs()
	for b.Loop() {
		check.Must(send.Submit(now, chunk))
		for send.Sending() {
			now += 100
			for _, s, ok := send.PollSlice(now); ok; _, s, ok = send.PollSlice(now) {
				d := check.Must(framer.AppendSlice(buffer, s))
				bytes += len(d)
				receive.HandleSlice(now, 0, check.Must(framer.Decode(d)).Slice)
			}
			for _, a, ok := receive.PollAck(now); ok; _, a, ok = receive.PollAck(now) {
				d := check.Must(framer.AppendAck(buffer, a))
				bytes += len(d)
				send.HandleAck(now, 0, check.Must(framer.Decode(d)).Ack)
			}
		}
		_, _ = receive.Read(now, into)
		_, _ = send.Finished()
	}
	slices := float64(b.N) * codec.MaxSlices
	b.ReportMetric(float64(b.Elapsed())/slices, "ns/slice")
	b.ReportMetric(float64(bytes)/slices, "bytes/slice")
	b.ReportMetric(0, "ns/op")
}

// What a message costs, at both ends together.
func BenchmarkMessage(b *testing.B) {
	for _, mode := range []session.Mode{session.CRC, session.MAC, session.AEAD} {
		b.Run(mode.String(), func(b *testing.B) {
			l := newLine(mode, session.VariantSlices, 1, connection.Config{})
			message, into := content(64, 1), make([]byte, 0, 2048)
			b.ReportAllocs()
			for b.Loop() {
				l.sendMessages(message, into)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(3*b.N), "ns/message")
			b.ReportMetric(0, "ns/op")
		})
	}
}
