package control

import "github.com/chunkwire/chunkwire/core"

// lowest is the smallest value of late: of this epoch and the one before. So a
// value counts for one to two epochs (RAT-5).
type lowest struct {
	current, previous int64 // 0: none
	since             core.Micros
}

// add takes a value, at least 1.
func (l *lowest) add(now core.Micros, x int64, epoch core.Micros) {
	if l.current == 0 || now-l.since >= epoch {
		l.previous, l.current, l.since = l.current, x, now
	}
	l.current = min(l.current, x)
}

// value returns the smallest value; 0 if there is none.
func (l *lowest) value() int64 {
	if l.previous == 0 {
		return l.current
	}
	return min(l.current, l.previous)
}
