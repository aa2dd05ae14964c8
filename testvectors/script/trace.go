package script

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Trace is a script for one machine.
type Trace struct {
	Config contract.SenderConfig // a receiver has no profile
	Events []contract.Event
	lines  []line
}

// line is a line of a script: an event, or many that differ in time and slice, and
// what must come of them.
type line struct {
	text   string
	events []contract.Event
	want   want
}

// ParseTrace reads the lines of a script.
func ParseTrace(lines []string) (*Trace, error) {
	with, lines := settings(lines)
	cfg, err := config(with)
	if err != nil {
		return nil, err
	}
	t := &Trace{Config: cfg}
	for _, text := range lines {
		l, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		t.lines = append(t.lines, l)
		t.Events = append(t.Events, l.events...)
	}
	return t, nil
}

// Receiver returns the config of a receiver.
func (t *Trace) Receiver() contract.ReceiverConfig {
	return contract.ReceiverConfig{FirstChunkID: t.Config.FirstChunkID, GiveUpUS: t.Config.GiveUpUS}
}

// Check compares a trace's steps with its script.
func (t *Trace) Check(steps []contract.Step) error {
	for _, l := range t.lines {
		var got []outcome
		for _, s := range steps[:len(l.events)] {
			got = append(got, ofStep(s))
		}
		if err := l.want.check(got); err != nil {
			return fmt.Errorf("%q: got %w", l.text, err)
		}
		steps = steps[len(l.events):]
	}
	return nil
}

// config reads the settings of a script.
func config(with map[string]string) (contract.SenderConfig, error) {
	cfg := contract.SenderConfig{GiveUpUS: 10_000_000}
	var w words
	for key, value := range with {
		switch key {
		case "first":
			cfg.FirstChunkID = uint16(w.number(value))
		case "give_up":
			cfg.GiveUpUS = w.time(value)
		case "profile":
			cfg.Profile = w.profile(value)
		case "recovery":
			cfg.Recovery = w.recovery(value)
		default:
			w.bad("setting", key)
		}
	}
	return cfg, w.err
}

var namedProfiles = map[string]contract.Profile{
	"burst":   {Rate: 125_000, Cap: 272_896, Burst: 272_896, AcksPay: true, SpacingUS: 85},
	"fixed":   {Rate: 125_000, Cap: 17_056},
	"article": {Rate: 125_000, Cap: 17_056, ResendDelayUS: 100_000},
	"free":    {Cap: 17_056},                   // no limit of any kind
	"spaced":  {Cap: 17_056, SpacingUS: 1_000}, // no other limit
}

// profile returns a profile by its name, or from its figures in the order of
// section 9.6.
func (w *words) profile(text string) *contract.Profile {
	if named, ok := namedProfiles[text]; ok {
		return &named
	}
	f := strings.Split(text, ",")
	if len(f) != 6 {
		w.bad("profile", text)
		return nil
	}
	return &contract.Profile{
		Rate: int64(w.number(f[0])), Cap: int64(w.number(f[1])), Burst: int64(w.number(f[2])),
		AcksPay: f[3] == "pay", SpacingUS: int64(w.number(f[4])), ResendDelayUS: int64(w.number(f[5])),
	}
}

// recovery reads the profile of the recommended scheduler, NAME or NAME,RATE.
func (w *words) recovery(text string) *contract.RecoveryProfile {
	name, rate, limited := strings.Cut(text, ",")
	p := &contract.RecoveryProfile{Recovery: name}
	if limited {
		p.Rate = int64(w.number(rate))
	}
	return p
}

func parseLine(text string) (line, error) {
	event, wanted, found := strings.Cut(text, " : ")
	fields := strings.Fields(event)
	if !found || len(fields) < 2 {
		return line{}, fmt.Errorf("no event, or nothing expected")
	}
	var w words
	l := line{text: text, want: w.want(strings.Fields(wanted))}
	for i, at := range w.times(fields[0]) {
		l.events = append(l.events, w.event(at, i, fields[1:]))
	}
	return l, w.err
}

// event returns the i-th event of a line.
func (w *words) event(at int64, i int, fields []string) contract.Event {
	e := contract.Event{At: at, Event: fields[0]}
	args := fields[1:]
	switch need := map[string]int{"submit": 1, "ack": 2, "slice": 2, "marks": 1, "yield": 1}[e.Event]; {
	case len(args) < need:
		w.bad("event", strings.Join(fields, " "))
	case e.Event == "marks":
		e.Count = w.pointer(args[0])
	case e.Event == "yield":
		yields := args[0] == "yes"
		e.Yields = &yields
	case e.Event == "submit":
		size := w.number(args[0])
		e.Size = &size
	case e.Event == "ack":
		id, acked := uint16(w.number(args[0])), w.bits(args[1])
		e.ChunkID, e.Acked = &id, &acked
	case e.Event == "slice":
		w.slice(&e, i, args)
	case e.Event == "poll" && len(args) > 0:
		e.Due = w.ids(args[0])
	}
	return e
}

// slice fills in the slice of the i-th event of a line.
func (w *words) slice(e *contract.Event, i int, args []string) {
	chunkID := uint16(w.number(args[0]))
	ids, of, _ := strings.Cut(args[1], "/")
	numSlices, size := w.number(of), 1024
	list := w.ids(ids)
	sliceID := list[min(i, len(list)-1)]
	for _, word := range args[2:] {
		if fill, ok := strings.CutPrefix(word, "fill="); ok {
			b := byte(w.number(fill))
			e.Fill = &b
		} else if sliceID == numSlices-1 {
			size = w.number(word)
		}
	}
	e.ChunkID, e.SliceID, e.NumSlices, e.Size = &chunkID, &sliceID, &numSlices, &size
}
