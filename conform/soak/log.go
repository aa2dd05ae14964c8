package soak

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
)

// Log is what happened in a world: a hash of it, and, if somebody reads it, the latest lines of it.
type Log struct {
	Hash  uint64
	lines []string // nil: nobody reads them
	count int      // of lines so far
}

// kept is how many lines of a log are kept.
const kept = 1024

// NewLog returns a log, with lines if it is verbose.
func NewLog(verbose bool) *Log {
	l := &Log{}
	if verbose {
		l.lines = make([]string, 0, kept)
	}
	return l
}

// Mark takes numbers into the hash.
func (l *Log) Mark(numbers ...uint64) {
	for _, n := range numbers {
		l.Hash = (l.Hash ^ n) * 0x9E3779B97F4A7C15
		l.Hash ^= l.Hash >> 29
	}
}

// Verbose reports whether somebody reads the lines.
func (l *Log) Verbose() bool { return l.lines != nil }

// Add adds a line, if somebody reads it.
func (l *Log) Add(now core.Micros, format string, args ...any) {
	if !l.Verbose() {
		return
	}
	text := Clock(now) + "  " + fmt.Sprintf(format, args...)
	if len(l.lines) < kept {
		l.lines = append(l.lines, text)
	} else {
		l.lines[l.count%kept] = text
	}
	l.count++
}

// Latest returns the last n lines.
func (l *Log) Latest(n int) (texts []string) {
	for i := max(0, l.count-min(n, kept)); i < l.count; i++ {
		texts = append(texts, l.lines[i%kept])
	}
	return texts
}

// Clock writes a time in seconds.
func Clock(t core.Micros) string { return fmt.Sprintf("%d.%06d s", t/core.Second, t%core.Second) }
