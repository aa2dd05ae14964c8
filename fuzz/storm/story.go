package main

import "fmt"

// story is what happened in a world: a hash of all of it, and with --verbose the
// latest of it in words.
type story struct {
	hash  uint64
	lines []line // nil without --verbose
	count int    // of lines so far
}

// line is something that happened to a pair, or to all if that is nil.
type line struct {
	pair *pair
	text string
}

// kept is how many lines of a story are kept.
const kept = 4096

func newStory(verbose bool) *story {
	s := &story{}
	if verbose {
		s.lines = make([]line, 0, kept)
	}
	return s
}

// mark takes numbers into the hash.
func (s *story) mark(numbers ...uint64) {
	for _, n := range numbers {
		s.hash = (s.hash ^ n) * 0x9E3779B97F4A7C15
		s.hash ^= s.hash >> 29
	}
}

func (s *story) told() bool { return s.lines != nil }

func (s *story) tell(now micros, p *pair, format string, args ...any) {
	l := line{p, clock(now) + "  " + fmt.Sprintf(format, args...)}
	if len(s.lines) < kept {
		s.lines = append(s.lines, l)
	} else {
		s.lines[s.count%kept] = l
	}
	s.count++
}

// latest returns the last n lines that concern a pair; nil means all pairs.
func (s *story) latest(p *pair, n int) (texts []string) {
	for i := s.count - 1; i >= max(0, s.count-kept) && len(texts) < n; i-- {
		if l := s.lines[i%kept]; p == nil || l.pair == nil || l.pair == p {
			texts = append(texts, l.text)
		}
	}
	for i, j := 0, len(texts)-1; i < j; i, j = i+1, j-1 {
		texts[i], texts[j] = texts[j], texts[i]
	}
	return texts
}

// clock writes a time in seconds.
func clock(t micros) string { return fmt.Sprintf("%d.%06d s", t/second, t%second) }

// words writes a packet in words.
func (p packet) String() string {
	if p.data != nil {
		return fmt.Sprintf("slice %d of chunk %d (%d slices, %d bytes)", p.slice, p.chunk, p.slices, len(p.data))
	}
	if p.bits == 0 {
		return fmt.Sprintf("hold of chunk %d (%d slices)", p.chunk, p.slices)
	}
	return fmt.Sprintf("ack of chunk %d, %d of %d slices", p.chunk, p.bits, p.slices)
}
