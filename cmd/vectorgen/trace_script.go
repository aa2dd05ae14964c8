package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// trace is a trace vector as it is written by hand. Its script has a line for
// each event and, behind a colon, what must come of it:
//
//	with first=65535 give_up=1s profile=burst
//	TIME submit SIZE     : ROW ...
//	TIME ack ID BITS     : ROW ...
//	TIME poll [IDS]      : ROW PACKET ...
//	TIME slice ID SLICES/NUM_SLICES [SIZE] [fill=BYTE] : ROW ...
//	TIME read            : ROW chunk=SIZE
//
// A time is a sum such as 10s-1 of microseconds, ms, s and h; FROM/STEP/COUNT stands
// for many lines, over which slice ids (0-9) and packets are dealt out. IDS are
// the script of a scripted scheduler. BITS are 0 and 1, or runs such as 1*255.0.
//
// What must come of an event is complete as to row and packets: a slice is told
// by its id or by ID/NUM_SLICES:SIZE, an ack by ID:BITS. On top of these, =BITS is
// what is acked or received then, @TIME (or @never) the deadline, #ID the chunk id.
type trace struct {
	name      string
	comment   string // the wrong implementation that fails
	flags     string // keys of traceFlags
	sentences string // ids of the specification
	script    string
}

// scriptLine is a line of a script.
type scriptLine struct {
	text  string
	times []int64
	words []string // event and arguments
	want  []string // row and what else
}

// badTrace stops the generator: a trace does not do what its script says.
func badTrace(format string, args ...any) { panic("vectorgen: " + fmt.Sprintf(format, args...)) }

// parseScript returns the settings of a script's first line, if it has them,
// and its other lines.
func parseScript(script string) (with map[string]string, lines []scriptLine) {
	with = map[string]string{}
	for text := range strings.Lines(script) {
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case strings.HasPrefix(text, "with "):
			for _, word := range strings.Fields(text)[1:] {
				key, value, _ := strings.Cut(word, "=")
				with[key] = value
			}
		default:
			lines = append(lines, parseLine(text))
		}
	}
	return with, lines
}

func parseLine(text string) scriptLine {
	event, want, found := strings.Cut(text, " : ")
	words := strings.Fields(event)
	if !found || len(words) < 2 {
		badTrace("no event, or nothing expected: %q", text)
	}
	return scriptLine{text: text, times: parseTimes(words[0]), words: words[1:], want: strings.Fields(want)}
}

// parseTimes reads a time, or FROM/STEP/COUNT.
func parseTimes(text string) (times []int64) {
	part := strings.Split(text, "/")
	if len(part) != 3 {
		return []int64{parseTime(text)}
	}
	from, step := parseTime(part[0]), parseTime(part[1])
	for i := range int64(number(part[2])) {
		times = append(times, from+i*step)
	}
	return times
}

func parseTime(text string) (us int64) {
	for text != "" {
		n := 1 + strings.IndexAny(text[1:]+"+", "+-")
		us += parseTerm(text[:n])
		text = text[n:]
	}
	return us
}

func parseTerm(text string) int64 {
	unit := int64(1)
	for _, u := range []struct {
		name string
		us   int64
	}{{"ms", 1000}, {"s", 1_000_000}, {"h", 3_600_000_000}} {
		if digits, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = digits, u.us
			break
		}
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		badTrace("no time: %q", text)
	}
	return n * unit
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		badTrace("no number: %q", text)
	}
	return n
}

// parseIDs reads ids such as 0-2,5.
func parseIDs(text string) (ids []int) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		for id := number(from); id <= number(to); id++ {
			ids = append(ids, id)
		}
	}
	return ids
}

// parseBits writes out runs such as 1*255.0.
func parseBits(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(text, ".") {
		if bit, times, isRun := strings.Cut(part, "*"); isRun {
			part = strings.Repeat(bit, number(times))
		}
		b.WriteString(part)
	}
	return b.String()
}

// events returns the events of a line.
func (l *scriptLine) events() (list []testvectors.Event) {
	for i, at := range l.times {
		e := testvectors.Event{At: at, Event: l.words[0]}
		args := l.words[1:]
		switch e.Event {
		case "submit":
			size := number(args[0])
			e.Size = &size
		case "ack":
			id, acked := uint16(number(args[0])), parseBits(args[1])
			e.ChunkID, e.Acked = &id, &acked
		case "slice":
			l.sliceEvent(&e, i)
		case "poll":
			if len(args) > 0 {
				e.Due = parseIDs(args[0])
			}
		}
		list = append(list, e)
	}
	return list
}

// sliceEvent fills in the slice of the i-th of a line's events.
func (l *scriptLine) sliceEvent(e *testvectors.Event, i int) {
	chunkID := uint16(number(l.words[1]))
	ids, of, _ := strings.Cut(l.words[2], "/")
	numSlices, size := number(of), 1024
	list := parseIDs(ids)
	sliceID := list[min(i, len(list)-1)]
	for _, word := range l.words[3:] {
		if fill, ok := strings.CutPrefix(word, "fill="); ok {
			b := byte(number(fill))
			e.Fill = &b
		} else if sliceID == numSlices-1 {
			size = number(word)
		}
	}
	e.ChunkID, e.SliceID, e.NumSlices, e.Size = &chunkID, &sliceID, &numSlices, &size
}
