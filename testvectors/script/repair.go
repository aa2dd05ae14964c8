package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Repair is a script for one machine with repair slices.
type Repair struct {
	Config contract.RepairSenderConfig // a receiver has no profile
	Events []contract.RepairEvent
	lines  []repairLine
}

type repairLine struct {
	text   string
	events int
	want   want
}

// ParseRepair reads the lines of a script.
func ParseRepair(lines []string) (*Repair, error) {
	with, lines := settings(lines)
	var w words
	t := &Repair{Config: w.repairConfig(with)}
	if w.err != nil {
		return nil, w.err
	}
	for _, text := range lines {
		if err := t.line(text); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	return t, nil
}

// Receiver returns the config of a receiver.
func (t *Repair) Receiver() contract.ReceiverConfig {
	return contract.ReceiverConfig{FirstChunkID: t.Config.FirstChunkID, GiveUpUS: t.Config.GiveUpUS}
}

// repairConfig reads the settings of a script.
func (w *words) repairConfig(with map[string]string) contract.RepairSenderConfig {
	cfg := contract.RepairSenderConfig{GiveUpUS: 10_000_000}
	for key, value := range with {
		switch key {
		case "first":
			cfg.FirstChunkID = uint16(w.number(value))
		case "give_up":
			cfg.GiveUpUS = w.time(value)
		case "profile":
			cfg.Profile = w.repairProfile(value)
		default:
			w.bad("setting", key)
		}
	}
	return cfg
}

// repairProfile reads NAME or NAME,RATE.
func (w *words) repairProfile(text string) *contract.RepairProfile {
	name, rate, limited := strings.Cut(text, ",")
	p := &contract.RepairProfile{Burst: name == "burst", Fixed: name == "fixed", Redundant: name == "redundant"}
	if limited {
		p.Rate = int64(w.number(rate))
	}
	if name != "default" && !p.Burst && !p.Fixed && !p.Redundant {
		w.bad("profile", text)
	}
	return p
}

func (t *Repair) line(text string) error {
	what, wanted, found := strings.Cut(text, " : ")
	fields := strings.Fields(what)
	if !found || len(fields) < 2 {
		return fmt.Errorf("no event, or nothing expected")
	}
	var w words
	times := w.times(fields[0])
	for i, at := range times {
		t.Events = append(t.Events, w.repairEvent(at, i, fields[1:]))
	}
	t.lines = append(t.lines, repairLine{text, len(times), w.repairWant(strings.Fields(wanted))})
	return w.err
}

// repairWant is want, but that an ack has two colons.
func (w *words) repairWant(list []string) want {
	var acks, rest []string
	for _, word := range list {
		if strings.Count(word, ":") == 2 {
			acks = append(acks, word)
		} else {
			rest = append(rest, word)
		}
	}
	e := w.want(rest)
	e.packets = append(e.packets, acks...)
	return e
}

// repairEvent returns the i-th event of a line.
func (w *words) repairEvent(at int64, i int, fields []string) contract.RepairEvent {
	e := contract.RepairEvent{At: at, Event: fields[0]}
	args := fields[1:]
	switch need := map[string]int{"submit": 1, "ack": 2, "slice": 2}[e.Event]; {
	case len(args) < need:
		w.bad("event", strings.Join(fields, " "))
	case e.Event == "submit":
		e.Size = w.pointer(args[0])
	case e.Event == "ack": // ID HAVE/NUM_SLICES:TOP
		e.ChunkID = w.chunkID(args[0])
		have, rest, _ := strings.Cut(args[1], "/")
		of, top, _ := strings.Cut(rest, ":")
		e.Have, e.NumSlices, e.Top = w.pointer(have), w.pointer(of), w.pointer(top)
	case e.Event == "slice":
		w.repairSlice(&e, i, args)
	case e.Event == "poll" && len(args) > 0:
		e.Due = w.pointer(args[0])
	}
	return e
}

func (w *words) pointer(text string) *int {
	n := w.number(text)
	return &n
}

func (w *words) chunkID(text string) *uint16 {
	id := uint16(w.number(text))
	return &id
}

// repairSlice reads ID IDS/NUM_SLICES [LAST_BYTES] [fill=BYTE].
func (w *words) repairSlice(e *contract.RepairEvent, i int, args []string) {
	e.ChunkID = w.chunkID(args[0])
	ids, of, _ := strings.Cut(args[1], "/")
	id, last := w.nth(ids, i), 1024
	e.NumSlices = w.pointer(of)
	for _, word := range args[2:] {
		if fill, ok := strings.CutPrefix(word, "fill="); ok {
			b := byte(w.number(fill))
			e.Fill = &b
		} else {
			last = w.number(word)
		}
	}
	e.SliceID, e.LastBytes = &id, &last
}

// Check compares a trace's steps with its script.
func (t *Repair) Check(steps []contract.RepairStep) error {
	for _, l := range t.lines {
		var got []outcome
		for _, s := range steps[:l.events] {
			got = append(got, ofRepairStep(s))
		}
		if err := l.want.check(got); err != nil {
			return fmt.Errorf("%q: got %w", l.text, err)
		}
		steps = steps[l.events:]
	}
	return nil
}

func ofRepairStep(s contract.RepairStep) outcome {
	o := outcome{row: s.Row, chunkID: s.ChunkID, at: s.DeadlineUS, chunk: s.Chunk, bits: fmt.Sprintf("%d/%d", s.Have, s.Top)}
	if s.Sent != nil {
		o.bits = fmt.Sprintf("%d/%s", *s.Sent, o.bits)
	}
	if s.Inconsistent != nil {
		o.forged = *s.Inconsistent
	}
	for _, p := range s.Packets {
		if p.Type == contract.TypeAck {
			o.packets = append(o.packets, [2]string{"", fmt.Sprintf("%d:%d/%d:%d", p.ChunkID, *p.Have, p.NumSlices, *p.Top)})
		} else {
			o.packets = append(o.packets, [2]string{strconv.Itoa(*p.SliceID), fmt.Sprintf("%d/%d:%d", *p.SliceID, p.NumSlices, *p.Size)})
		}
	}
	return o
}
