package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/eventlog"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func halfDone() *sliceMap {
	m := newSliceMap(100*codec.SliceSize, false)
	for id := range 60 {
		m.note(eventlog.Event{Kind: eventlog.SliceSent, SliceID: id, Times: 1})
		if id < 30 {
			m.note(eventlog.Event{Kind: eventlog.SliceAcked, SliceID: id})
		}
	}
	return m
}

func TestLiveViewFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{20, 40, 80} {
		var b bytes.Buffer
		v := view{screen: screen{w: &b, live: true, colors: true, width: width}, slices: halfDone(), began: time.Now()}
		v.refresh()
		v.refresh()
		v.end()
		text := b.String()
		if strings.Count(text, "\x1b[?25l") != 1 || !strings.HasSuffix(text, "\x1b[?25h") {
			t.Errorf("the cursor is not hidden and shown again: %q", text)
		}
		for _, line := range strings.Split(strings.TrimSuffix(text, "\x1b[?25h"), "\n") {
			line = regexp.MustCompile("\x1b\\[[?0-9]*[a-zA-Z]").ReplaceAllString(sgr.ReplaceAllString(line, ""), "")
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d characters in %d columns: %q", n, width, line)
			}
		}
	}
}

// Cells of one color in a row share what sets it.
func TestColorsOfRuns(t *testing.T) {
	t.Parallel()
	rows := halfDone().live(64, true)
	if got := sgr.FindAllString(rows[0], -1); strings.Join(got, " ") != "\x1b[0;32m \x1b[0;33m \x1b[0;2m \x1b[0m" {
		t.Errorf("%q", rows[0])
	}
	if plain := halfDone().live(64, false); plain[0] != sgr.ReplaceAllString(rows[0], "") || len(plain) != 2 {
		t.Errorf("%q", plain)
	}
}

// Of repair slices the map says how many are there and on the way, whichever they are.
func TestMapOfRepairSlices(t *testing.T) {
	t.Parallel()
	m := newSliceMap(10*codec.SliceSize, true)
	for id := range 10 {
		m.note(eventlog.Event{Kind: eventlog.SliceSent, SliceID: id, Times: 1})
	}
	for id := range 2 {
		m.note(eventlog.Event{Kind: eventlog.SliceSent, SliceID: 10 + id, Times: 1, Why: eventlog.Repair})
	}
	m.note(eventlog.Event{Kind: eventlog.SlicesCounted, Have: 3, Top: 5})
	if got := strings.Join(m.live(64, false), ""); got != "███▒▒▒▒▒▒▒" {
		t.Errorf("3 of 10 are there and 7 on the way: %s", got)
	}
	m.note(eventlog.Event{Kind: eventlog.SlicesCounted, Have: 4, Top: 9})
	if got := strings.Join(m.live(64, false), ""); got != "████▒▒▒···" {
		t.Errorf("4 of 10 are there and 3 on the way: %s", got)
	}
	if sums := m.totals(); sums.Sent != 12 || sums.Repair != 2 || sums.Resent != 0 || sums.Acked != 4 {
		t.Errorf("%+v", sums)
	}
	v := view{slices: m, began: time.Now()}
	if text := v.status(m.totals()); !strings.Contains(text, "4/10 slices acked") || !strings.HasSuffix(text, "2 for repair") {
		t.Errorf("%s", text)
	}
}

func TestScreenOfAPipe(t *testing.T) {
	t.Parallel()
	if s := newScreen(&bytes.Buffer{}); s.live || s.colors || s.mapWidth() != 64 {
		t.Errorf("%+v", s)
	}
}

func TestDemoTellsTheRelaysLosses(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, "demo", "--size", "50K", "--rtt", "2ms", "--loss", "20", "--profile", "article", "--timeout", "0")
	for _, want := range []string{"51200 bytes, RTT 2ms, 20 % loss each way, sent at 100 Mbit/s", "relay: lost ", "; queue dropped 0"} {
		if r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, %q is not in:\n%s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	for _, line := range strings.Split(r.stdout, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}
