package packet

import "github.com/chunkwire/chunkwire/core"

// window is over how many whole seconds loss and rates are taken (PKE-5, PKE-7, PKE-9).
const window = 10

// What is counted in each second.
const (
	sentBytes = iota
	receivedBytes
	ackedBytes
	settledCount
	lostCount
	counts
)

// seconds counts by whole seconds: the one that goes on, and those before.
type seconds struct {
	second core.Micros // the number of the one that goes on
	slots  [window + 1][counts]uint32
}

// move makes the second of now the one that goes on.
func (s *seconds) move(now core.Micros) {
	second := now / core.Second
	if second-s.second > window {
		s.slots, s.second = [window + 1][counts]uint32{}, second
	}
	for s.second < second {
		s.second++
		s.slots[s.second%(window+1)] = [counts]uint32{}
	}
}

// add counts n of something.
func (s *seconds) add(now core.Micros, what int, n uint32) {
	s.move(now)
	s.slots[s.second%(window+1)][what] += n
}

// sum returns the counts of the last whole seconds, without the one that goes on.
func (s *seconds) sum(now core.Micros) (sum [counts]int64) {
	s.move(now)
	for i := range s.slots {
		if i == int(s.second%(window+1)) {
			continue
		}
		for what, n := range s.slots[i] {
			sum[what] += int64(n)
		}
	}
	return sum
}

// rate returns bytes of the window as bits a second.
func rate(bytes int64) int64 { return bytes * 8 / window }
