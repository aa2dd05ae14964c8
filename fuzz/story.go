package fuzz

import (
	"fmt"
	"io"

	"github.com/chunkwire/chunkwire/statemachine"
)

// story writes down what happens, a line an event. A nil story writes nothing;
// callers ask before they make its arguments, since fuzzing is to be fast.
type story struct {
	w   io.Writer
	row func(statemachine.Row) // told each transition of a machine; nil: nobody
}

func (s *story) say(format string, args ...any) {
	fmt.Fprintf(s.w, format+"\n", args...)
}

// took notes a transition. A nil story may be asked.
func (s *story) took(row statemachine.Row) {
	if s != nil && s.row != nil {
		s.row(row)
	}
}

// at says what happens at a time.
func (s *story) at(now statemachine.Micros, format string, args ...any) {
	fmt.Fprintf(s.w, "%14s  %s\n", clockText(now), fmt.Sprintf(format, args...))
}

// clockText writes a time in milliseconds, with its microseconds.
func clockText(t statemachine.Micros) string {
	if t == statemachine.Never {
		return "never"
	}
	return fmt.Sprintf("%d.%03d ms", t/1000, t%1000)
}
