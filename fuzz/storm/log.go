package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// log is what happened in a world: a hash of all of it, and with --verbose the
// latest of it in words.
type log struct {
	hash  uint64
	lines []line // nil without --verbose
	count int    // of lines so far
}

// line is something that happened to a pair, or to all if that is nil.
type line struct {
	pair *pair
	text string
}

// kept is how many lines of a log are kept.
const kept = 4096

func newLog(verbose bool) *log {
	l := &log{}
	if verbose {
		l.lines = make([]line, 0, kept)
	}
	return l
}

// mark takes numbers into the hash.
func (l *log) mark(numbers ...uint64) {
	for _, n := range numbers {
		l.hash = (l.hash ^ n) * 0x9E3779B97F4A7C15
		l.hash ^= l.hash >> 29
	}
}

func (l *log) verbose() bool { return l.lines != nil }

func (l *log) add(now core.Micros, p *pair, format string, args ...any) {
	entry := line{p, clock(now) + "  " + fmt.Sprintf(format, args...)}
	if len(l.lines) < kept {
		l.lines = append(l.lines, entry)
	} else {
		l.lines[l.count%kept] = entry
	}
	l.count++
}

// latest returns the last n lines that concern a pair; nil means all pairs.
func (l *log) latest(p *pair, n int) (texts []string) {
	for i := l.count - 1; i >= max(0, l.count-kept) && len(texts) < n; i-- {
		if e := l.lines[i%kept]; p == nil || e.pair == nil || e.pair == p {
			texts = append(texts, e.text)
		}
	}
	for i, j := 0, len(texts)-1; i < j; i, j = i+1, j-1 {
		texts[i], texts[j] = texts[j], texts[i]
	}
	return texts
}

// clock writes a time in seconds.
func clock(t core.Micros) string { return fmt.Sprintf("%d.%06d s", t/second, t%second) }

// describe writes a packet in words.
func describe(p codec.Packet) string {
	s, a := p.Slice, p.Ack
	switch {
	case p.Type == codec.TypeSlice:
		return fmt.Sprintf("slice %d of chunk %d (%d slices, %d bytes)", s.SliceID, s.ChunkID, s.NumSlices, len(s.Data))
	case a.Top > 0:
		return fmt.Sprintf("ack of chunk %d, %d of %d slices, below %d", a.ChunkID, a.Have, a.NumSlices, a.Top)
	case a.Acked.Empty():
		return fmt.Sprintf("hold of chunk %d (%d slices)", a.ChunkID, a.NumSlices)
	}
	return fmt.Sprintf("ack of chunk %d, %d of %d slices", a.ChunkID, a.Acked.Count(), a.NumSlices)
}
