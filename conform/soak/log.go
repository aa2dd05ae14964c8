package soak

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
)

// Log is what happened in a world: a hash of it, and, if somebody reads it, the latest lines of it.
type Log struct {
	Hash  uint64
	lines []line // nil: nobody reads them
	count int    // of lines so far
}

// line is something that happened, to one of those in the world or to all.
type line struct {
	about any // nil: all
	text  string
}

// kept is how many lines of a log are kept.
const kept = 4096

// NewLog returns a log, with lines if it is verbose.
func NewLog(verbose bool) *Log {
	l := &Log{}
	if verbose {
		l.lines = make([]line, 0, kept)
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

// Add adds a line, if somebody reads it, about one of those in the world; nil is all of them.
func (l *Log) Add(now core.Micros, about any, format string, args ...any) {
	if !l.Verbose() {
		return
	}
	entry := line{about, Clock(now) + "  " + fmt.Sprintf(format, args...)}
	if len(l.lines) < kept {
		l.lines = append(l.lines, entry)
	} else {
		l.lines[l.count%kept] = entry
	}
	l.count++
}

// Latest returns the last n lines about one of those in the world; nil is all of them.
func (l *Log) Latest(about any, n int) []string {
	texts := make([]string, 0, n)
	for i := max(0, l.count-kept); i < l.count; i++ {
		if e := l.lines[i%kept]; about == nil || e.about == nil || e.about == about {
			texts = append(texts, e.text)
		}
	}
	return texts[max(0, len(texts)-n):]
}

// Clock writes a time in seconds.
func Clock(t core.Micros) string { return fmt.Sprintf("%d.%06d s", t/core.Second, t%core.Second) }
