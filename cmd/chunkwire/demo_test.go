package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

func TestDemoAsJSON(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, "demo", "--json", "--size", "50K", "--rtt", "10ms", "--jitter", "5ms", "--loss", "5", "--seed", "3")
	var report demoReport
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != exitOK || r.stderr != "" {
		t.Fatalf("%v: %+v", err, r)
	}
	if !report.OK || report.Size != 51200 || report.JitterMS != 5 || report.LossPercent != 5 || report.SlicesSent < 50 || report.DeliverMS < 5 || report.AckedMS < report.DeliverMS || report.FragmentedMS == nil {
		t.Errorf("%s", r.stdout)
	}
	r = runCommand(t, nil, "demo", "--json", "--loss", "100", "--timeout", "200ms")
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != exitTimeout || report.OK || !strings.Contains(r.stderr, report.Error) || report.FragmentedMS != nil {
		t.Errorf("%v: %+v", err, r)
	}
}

// The figures at the end fit the screen, whatever its width, in words that people
// read, and no line ends with blanks.
func TestReportFitsTheScreen(t *testing.T) {
	t.Parallel()
	d := &demo{size: 262144, seed: 1}
	d.loss, d.rtt = 40, 50*time.Millisecond
	p := pushed{got: simulate.Pattern(262144, 1), delivered: 300 * time.Millisecond, acked: 350 * time.Millisecond}
	p.down.LostRandom, p.up.LostRandom = 123, 45
	m := newSliceMap(262144, false)
	for id := range 256 {
		m.note(eventlog.Event{Kind: eventlog.SliceSent, SliceID: id, Times: 1})
	}
	for _, width := range []int{40, 45, 50, 60, 80, 200} {
		var b bytes.Buffer
		d.report(screen{w: &b, width: width}, m, p)
		text := b.String()
		for _, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > width || strings.TrimRight(line, " ") != line {
				t.Errorf("width %d: %d characters: %q", width, n, line)
			}
		}
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"this run", "one packet in fragments, expected"} {
			if wide := width >= 80; strings.Contains(text, want) != (wide || want != "this run") {
				t.Errorf("width %d: %q:\n%s", width, want, text)
			}
		}
		if !strings.Contains(text, "more than a million years") || strings.Contains(text, "e+") || strings.Contains(text, "0 bit/s") {
			t.Errorf("width %d:\n%s", width, text)
		}
	}
}

// The client has a name, and lines are broken where the screen ends.
func TestDemoNamesItsSockets(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := &demo{size: 1000, seed: 1, timeout: time.Minute}
	d.profile, d.maxRate = "adaptive", -1
	p, err := d.check()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.run(t.Context(), screen{w: &out, width: 40}, &out, p); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "0.0.0.0") || strings.Count(text, "127.0.0.1:") != 3 {
		t.Errorf("%s", text)
	}
	for _, line := range strings.Split(out.String(), "\n")[:3] {
		if n := utf8.RuneCountInString(line); n > 40 {
			t.Errorf("%d characters: %q", n, line)
		}
	}
}
