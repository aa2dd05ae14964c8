package statemachine

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
)

// stubScheduler returns what it was told to, and writes down what it hears.
type stubScheduler struct {
	next     []int
	deadline Micros
	log      []string
}

func (s *stubScheduler) Begin(f Flight) {
	s.log = append(s.log, fmt.Sprintf("begin %d: %d, %d slices, %d bytes", f.Now, f.ChunkID, f.NumSlices, f.LastBytes))
}

func (s *stubScheduler) Held(now Micros) { s.log = append(s.log, fmt.Sprintf("hold %d", now)) }

func (s *stubScheduler) Acked(now Micros, news codec.Bitset) {
	s.log = append(s.log, fmt.Sprintf("news %d: %d", now, news.Count()))
}

func (s *stubScheduler) Next(Micros) (int, bool) {
	s.log = append(s.log, "next")
	if len(s.next) == 0 {
		return 0, false
	}
	id := s.next[0]
	s.next = s.next[1:]
	return id, true
}

func (s *stubScheduler) Deadline() Micros     { return s.deadline }
func (s *stubScheduler) Stats() ScheduleStats { return ScheduleStats{Lost: 4} }
