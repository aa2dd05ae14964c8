package recovery

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// full has 256 slices in flight.
func full() *Scheduler {
	s := New(Fixed(0))
	s.Begin(statemachine.Flight{NumSlices: 256, LastBytes: 1})
	for now := Micros(0); s.fresh < 256; now = s.Deadline() {
		s.Next(now)
	}
	return s
}

func BenchmarkPollWithNothingDue(b *testing.B) {
	s := full()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.Next(10 * ms); ok || s.Deadline() <= 10*ms {
			b.Fatal("something is due")
		}
	}
}

func BenchmarkChunkOf256(b *testing.B) {
	s := New(Fixed(0))
	b.ReportAllocs()
	now := Micros(0)
	for b.Loop() {
		s.Begin(statemachine.Flight{Now: now, NumSlices: 256, LastBytes: 1})
		for s.fresh < 256 {
			s.Next(now)
			now = s.Deadline()
		}
		for id := 0; id < 256; id += 16 {
			s.Acked(now+50*ms, codec.FirstN(id+16).Minus(codec.FirstN(id)))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/slice")
}
