package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseConversation reads a conversation that is written out. Its lines begin with
// S or R, for the sender or the receiver; with !S or !R where what arrives was not
// sent by the other one.
func ParseConversation(lines []string) (sender, receiver *Trace, err error) {
	_, rest := settings(lines)
	with := lines[:len(lines)-len(rest)]
	own := map[string][]string{"S": slices.Clone(with), "R": slices.Clone(with)}
	var sent carried
	for _, text := range rest {
		who, event, _ := strings.Cut(text, " ")
		machine := strings.TrimPrefix(who, "!")
		l, err := parseLine(event)
		if err != nil || own[machine] == nil && machine != "S" && machine != "R" {
			return nil, nil, fmt.Errorf("%q: no line of a conversation: %w", text, err)
		}
		if !sent.carries(machine, &l) && machine == who {
			return nil, nil, fmt.Errorf("%q: nobody sent that", text)
		}
		own[machine] = append(own[machine], event)
	}
	sender, err = ParseTrace(own["S"])
	receiver, err2 := ParseTrace(own["R"])
	return sender, receiver, errors.Join(err, err2)
}

// carried is what was sent so far in a conversation: slices as "CHUNK SLICE", acks
// as "CHUNK:BITS".
type carried struct {
	chunk   string // the sender's chunk id
	packets []string
}

// carries notes what a line sends, and reports whether what arrives by it was sent.
func (c *carried) carries(machine string, l *line) bool {
	if id := l.want.chunkID; id != nil && machine == "S" {
		c.chunk = strconv.Itoa(*id)
	}
	for _, p := range l.want.packets {
		if machine == "S" {
			p, _, _ = strings.Cut(p, "/")
			p = c.chunk + " " + p
		}
		c.packets = append(c.packets, p)
	}
	for _, e := range l.events {
		switch e.Event {
		case "slice":
			if !slices.Contains(c.packets, fmt.Sprintf("%d %d", *e.ChunkID, *e.SliceID)) {
				return false
			}
		case "ack":
			if !slices.Contains(c.packets, fmt.Sprintf("%d:%s", *e.ChunkID, *e.Acked)) {
				return false
			}
		}
	}
	return true
}
