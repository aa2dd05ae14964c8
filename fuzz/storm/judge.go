package main

import "fmt"

// The judges stand outside the machines: they see datagrams as bytes, the
// application's calls and their results, and the time, and know from the
// specification alone what must follow. They share no code with the machines.

// accusation is a rule of the specification that was broken, and how.
type accusation struct {
	rule string
	text string
}

func (a *accusation) Error() string { return a.rule + ": " + a.text }

// accuse makes an accusation; nil stands for innocence.
func accuse(rule, format string, args ...any) *accusation {
	return &accusation{rule, fmt.Sprintf(format, args...)}
}

// course is one direction of one connection, as those at its two ends are held
// to it together.
type course struct {
	firstID   uint16
	submitted [][]byte
	complete  int // chunks of which every slice has arrived
	senders   int // machines that had this course; more than one is against CON-5
	receivers int // likewise
}

// lawful reports whether the course keeps to CON-1 and CON-5; only then do the
// properties of section 11 hold.
func (c *course) lawful() bool { return c.senders == 1 && c.receivers <= 1 }

const (
	maxChunk      = 262_144
	headerBytes   = 28
	ackWithin     = 100 * millisecond // ACQ-1
	patience      = 5 * second        // SCH-2
	receiverBytes = 2_048 + 2_048     // BND-1: pointers, and a few hundred bytes of state
)
