package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Congestion is a script for congestion avoidance.
type Congestion struct {
	Config contract.CongestionConfig
	Events []contract.CongestionEvent
	lines  []congestionLine
}

type congestionLine struct {
	text     string
	events   int
	rows     []string // all of one event, or of many each once
	mode     string   // after the last event
	recovery int64
}

// ParseCongestion reads the lines of a script.
func ParseCongestion(lines []string) (*Congestion, error) {
	with, lines := settings(lines)
	c := &Congestion{Config: contract.CongestionConfig{Profile: contract.ProfileArticle}}
	var w words
	for key, value := range with {
		if key != "profile" || value != contract.ProfileArticle && value != contract.ProfileDefault {
			w.bad("setting", key+"="+value)
		}
		c.Config.Profile = value
	}
	for _, text := range lines {
		if c.line(&w, text); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	return c, w.err
}

// line reads TIMES SRTT|none [silent] [min=TIME] : ROWS MODE RECOVERY.
func (c *Congestion) line(w *words, text string) {
	event, wanted, found := strings.Cut(text, " : ")
	fields, want := strings.Fields(event), strings.Fields(wanted)
	if !found || len(fields) < 2 || len(want) < 3 {
		w.bad("event, or nothing expected", text)
		return
	}
	times := w.times(fields[0])
	for _, at := range times {
		e := contract.CongestionEvent{At: at}
		for _, word := range fields[2:] {
			least, isLeast := strings.CutPrefix(word, "min=")
			switch {
			case isLeast:
				e.MinRTT = w.time(least)
			case word == "silent":
				e.Silent = true
			default:
				w.bad("condition", word)
			}
		}
		if fields[1] != "none" {
			srtt := w.time(fields[1])
			e.SRTT = &srtt
		}
		c.Events = append(c.Events, e)
	}
	n := len(want)
	for _, row := range want[:n-2] {
		if !rowPattern.MatchString(row) {
			w.bad("row", row)
		}
	}
	c.lines = append(c.lines, congestionLine{text, len(times), want[:n-2], want[n-2], w.time(want[n-1])})
}

// Check compares a trace's steps, and the rows that each took, with its script.
func (c *Congestion) Check(steps []contract.CongestionStep, rows [][]string) error {
	for _, l := range c.lines {
		got := rows[0]
		if l.events > 1 {
			got = once(rows[:l.events])
		}
		last := steps[l.events-1]
		if !slices.Equal(got, l.rows) || last.Mode != l.mode || last.Recovery != l.recovery {
			return fmt.Errorf("%q: got %v %s %d", l.text, got, last.Mode, last.Recovery)
		}
		steps, rows = steps[l.events:], rows[l.events:]
	}
	return nil
}
