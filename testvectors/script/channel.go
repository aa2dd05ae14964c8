package script

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// RecordCodec makes and reads the records of channels: scripts are written without bytes.
type RecordCodec struct {
	Encode func(contract.ChannelFormat, contract.Record) (hex string, err error)
	Decode func(contract.ChannelFormat, string) contract.Record
	Report func(id, base, room int64, missing []int64) contract.Record
	Named  func(contract.Record) []int64 // what a report names, as it is on the wire
}

// channelLine is a line of a script for a machine of a channel.
type channelLine struct {
	text   string
	events int
	want   channelWant
}

// channelWant is what must come of a line. The deadline, base and limit are those behind
// its last event, and may be left out; all else is complete.
type channelWant struct {
	rows    []string
	came    []string // what a receiver delivers and reports, or a sender sends, in order
	refused string
	failed  bool
	figures map[string]string
}

var channelRow = regexp.MustCompile(`^[DV]\d+$`)

// channelWant reads ROWS, words that begin with =, !, > or ?, refused=CODE, FAILED,
// base=N, limit=N and @TIME.
func (w *words) channelWant(list []string) (e channelWant) {
	e.figures = map[string]string{}
	for _, word := range list {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case channelRow.MatchString(word):
			e.rows = append(e.rows, word)
		case word == "-":
		case word == "FAILED":
			e.failed = true
		case word == "@never":
			e.figures["@"] = never
		case word[0] == '@':
			e.figures["@"] = strconv.FormatInt(w.time(word[1:]), 10)
		case strings.ContainsAny(word[:1], "=!>?"):
			e.came = append(e.came, w.eachOf(word)...)
		case key == "refused":
			e.refused = value
		case key == "base" || key == "limit":
			e.figures[key] = strconv.FormatInt(w.time(value), 10)
		default:
			w.bad("expectation", word)
		}
	}
	return e
}

// eachOf writes out what has several sequences: =0-2:5, !4-7, >3-5 and >3.0-2. A report
// >BASE/ROOM and a SKIP !FIRST/COUNT stand for one.
func (w *words) eachOf(word string) (list []string) {
	if strings.Contains(word, "/") || word[0] == '?' {
		return []string{word}
	}
	for _, each := range w.each(word[1:]) {
		list = append(list, word[:1]+each)
	}
	return list
}

// got is what came of the events of a line.
type got struct {
	rows    [][]string
	came    []string
	refused string
	state   string
	figures map[string]string
}

// isWanted reports whether what came is what was wanted: only the size of what is delivered
// may be left out.
func isWanted(got, want string) bool { return got == want || want[0] == '=' && begins(got, want) }

func (e *channelWant) check(g got) error {
	rows := once(g.rows)
	switch {
	case !slices.Equal(rows, e.rows):
		return fmt.Errorf("rows %v", rows)
	case !slices.EqualFunc(g.came, e.came, isWanted):
		return fmt.Errorf("%v", g.came)
	case g.refused != e.refused:
		return fmt.Errorf("refused %q", g.refused)
	case (g.state == "FAILED") != e.failed:
		return fmt.Errorf("state %s", g.state)
	}
	for name, want := range e.figures {
		if g.figures[name] != want {
			return fmt.Errorf("%s %s", name, g.figures[name])
		}
	}
	return nil
}

// channelScript reads the lines of a script: event makes the i-th event of a line.
func channelScript(lines []string, event func(w *words, at int64, i int, fields []string)) (list []channelLine, err error) {
	for _, text := range lines {
		var w words
		what, wanted, found := strings.Cut(text, " : ")
		fields := strings.Fields(what)
		if !found || len(fields) < 2 {
			return nil, fmt.Errorf("%q: no event, or nothing expected", text)
		}
		times := w.times(fields[0])
		for i, at := range times {
			event(&w, at, i, fields[1:])
		}
		list = append(list, channelLine{text, len(times), w.channelWant(strings.Fields(wanted))})
		if w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	return list, nil
}

// format reads what both ends of a channel have in common.
func (w *words) format(f *contract.ChannelFormat, key, value string) bool {
	switch n := w.time(value); key {
	case "window":
		f.Window = n
	case "data":
		f.Data = n
	case "group":
		f.Group = n
	default:
		return false
	}
	return true
}

// smallFormat keeps records short: a message above 8 bytes is cut.
var smallFormat = contract.ChannelFormat{Window: 32, Data: 8, Group: 4}

// largestPayload is the space of a poll that does not say another one.
const largestPayload = 1160

// space reads the word n of a poll, if there is one.
func (w *words) space(args []string, n int) *int64 {
	space := int64(largestPayload)
	if len(args) > n {
		space = int64(w.number(args[n]))
	}
	return &space
}

// path reads SRTT [PATIENCE], or none.
func (w *words) path(args []string) (srtt contract.Null, patience int64) {
	srtt.Is = true
	if len(args) > 0 && args[0] != "none" {
		us := w.time(args[0])
		srtt.Value = &us
	}
	if len(args) > 1 {
		patience = w.time(args[1])
	}
	return srtt, patience
}

// wire is the low 16 bits of a number.
func wire(n int) *int64 {
	low := int64(uint16(n))
	return &low
}

// zero is the channel of all records in a trace.
var zero = new(int64)

// ChannelReceiver is a script for the receiver of a channel.
type ChannelReceiver struct {
	Config contract.ChannelReceiverConfig
	Events []contract.ChannelReceiverEvent
	codec  RecordCodec
	lines  []channelLine
}

// ParseChannelReceiver reads the lines of a script.
func ParseChannelReceiver(lines []string, codec RecordCodec) (*ChannelReceiver, error) {
	with, lines := settings(lines)
	t := &ChannelReceiver{codec: codec, Config: contract.ChannelReceiverConfig{Kind: contract.KindOrdered, ChannelFormat: smallFormat, GiveUp: 10_000_000}}
	var w words
	for key, value := range with {
		switch {
		case key == "kind":
			t.Config.Kind = value
		case key == "first":
			t.Config.First = w.time(value)
		case key == "give_up":
			t.Config.GiveUp = w.time(value)
		case !w.format(&t.Config.ChannelFormat, key, value):
			w.bad("setting", key)
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	var err error
	t.lines, err = channelScript(lines, t.event)
	return t, err
}

func (t *ChannelReceiver) event(w *words, at int64, i int, fields []string) {
	e := contract.ChannelReceiverEvent{At: at, Event: fields[0]}
	args := fields[1:]
	if need := map[string]int{"message": 1, "fragment": 2, "skip": 2, "status": 1, "path": 1}[e.Event]; len(args) < need {
		w.bad("event", strings.Join(fields, " "))
		return
	}
	switch e.Event {
	case "message", "fragment", "skip", "status":
		r := t.record(w, i, e.Event, args)
		if w.err != nil {
			return
		}
		e.Event, e.Hex = contract.EventRecord, w.record(t.codec, t.Config.ChannelFormat, r)
	case contract.EventPoll:
		e.Space = w.space(args, 0)
	case contract.EventPath:
		e.SRTT, _ = w.path(args)
	case contract.EventRead:
	default:
		w.bad("event", e.Event)
	}
	t.Events = append(t.Events, e)
}

// record reads message SEQUENCES [SIZE], fragment BEGIN IDS/COUNT [SIZE OF THE LAST],
// skip FIRST COUNT or status NEXT.
func (t *ChannelReceiver) record(w *words, i int, name string, args []string) contract.Record {
	r := contract.Record{Type: name, Channel: zero}
	n, size := w.nth(args[0], i), 1
	switch name {
	case "message":
		if len(args) > 1 {
			size = w.number(args[1])
		}
		r.Sequence, r.Data = wire(n), text(Content(n, size))
	case "fragment":
		ids, of, _ := strings.Cut(args[1], "/")
		index, count := int64(w.nth(ids, i)), int64(w.number(of))
		if index < count-1 {
			size = int(t.Config.Data)
		} else if len(args) > 2 {
			size = w.number(args[2])
		}
		n += int(index)
		r.Sequence, r.Index, r.Count, r.Data = wire(n), &index, &count, text(Content(n, size))
	case "skip":
		count := int64(w.number(args[1]))
		r.First, r.Count = wire(n), &count
	case "status":
		r.Next = wire(n)
	}
	return r
}

// Check compares a trace's steps with its script.
func (t *ChannelReceiver) Check(steps []contract.ChannelReceiverStep) error {
	for _, l := range t.lines {
		var g got
		for _, s := range steps[:l.events] {
			if s.Row != nil {
				g.rows = append(g.rows, []string{*s.Row})
			}
			if r := s.Read; r != nil && r.Skipped {
				g.came = append(g.came, fmt.Sprintf("!%d", r.Sequence))
			} else if r != nil {
				g.came = append(g.came, fmt.Sprintf("=%d:%d", r.Sequence, len(*r.Data)/2))
			}
			if s.Report != nil {
				g.came = append(g.came, ">"+t.codec.describe(t.Config.ChannelFormat, *s.Report))
			}
			g.state, g.figures = s.State, map[string]string{"@": writeTime(s.Deadline)}
		}
		if err := l.want.check(g); err != nil {
			return fmt.Errorf("%q: got %w", l.text, err)
		}
		steps = steps[l.events:]
	}
	return nil
}

// describe writes a record as scripts do, without its first character.
func (c RecordCodec) describe(f contract.ChannelFormat, hex string) string {
	switch r := c.Decode(f, hex); r.Type {
	case contract.RecordMessage:
		return strconv.FormatInt(*r.Sequence, 10)
	case contract.RecordFragment:
		return fmt.Sprintf("%d.%d", uint16(*r.Sequence-*r.Index), *r.Index)
	case contract.RecordSkip:
		return fmt.Sprintf("%d/%d", *r.First, *r.Count)
	case contract.RecordStatus:
		return strconv.FormatInt(*r.Next, 10)
	default:
		return fmt.Sprintf("%d/%d%s", *r.Base, *r.Room, ranges(c.Named(r)))
	}
}

// ranges writes sequences as :3,5-7, or nothing.
func ranges(list []int64) string {
	text := ""
	for i := 0; i < len(list); i++ {
		first := i
		for i+1 < len(list) && list[i+1] == list[i]+1 {
			i++
		}
		text += fmt.Sprintf(",%d", list[first])
		if i > first {
			text += fmt.Sprintf("-%d", list[i])
		}
	}
	return strings.Replace(text, ",", ":", 1)
}

// ChannelSender is a script for the sender of a channel.
type ChannelSender struct {
	Config contract.ChannelSenderConfig
	Events []contract.ChannelSenderEvent
	codec  RecordCodec
	lines  []channelLine
}

// ParseChannelSender reads the lines of a script.
func ParseChannelSender(lines []string, codec RecordCodec) (*ChannelSender, error) {
	with, lines := settings(lines)
	t := &ChannelSender{codec: codec, Config: contract.ChannelSenderConfig{ChannelFormat: smallFormat, SendQueue: 4096, GiveUp: 10_000_000}}
	var w words
	for key, value := range with {
		w.senderConfig(&t.Config, key, value)
	}
	if w.err != nil {
		return nil, w.err
	}
	var err error
	t.lines, err = channelScript(lines, t.event)
	return t, err
}

func (w *words) senderConfig(cfg *contract.ChannelSenderConfig, key, value string) {
	switch {
	case key == "send_queue":
		cfg.SendQueue = w.time(value)
	case key == "first":
		cfg.First = w.time(value)
	case key == "give_up":
		cfg.GiveUp = w.time(value)
	case !w.format(&cfg.ChannelFormat, key, value):
		w.bad("setting", key)
	}
}

func (t *ChannelSender) event(w *words, at int64, i int, fields []string) {
	e := contract.ChannelSenderEvent{At: at, Event: fields[0]}
	args := fields[1:]
	if need := map[string]int{"send": 1, "report": 2, "poll": 1, "path": 1}[e.Event]; len(args) < need {
		w.bad("event", strings.Join(fields, " "))
		return
	}
	switch e.Event {
	case contract.EventSend: // SIZE [life=TIME]
		e.Data = text(Content(len(t.Events), w.number(args[0])))
		e.Lifetime.Is = true
		if len(args) > 1 {
			life := w.time(strings.TrimPrefix(args[1], "life="))
			e.Lifetime.Value = &life
		}
	case contract.EventReport: // NUMBER BASE/ROOM[:MISSING] [ack=N]
		e.Number, e.Ack = number(w.nth(args[0], i)), number(-1)
		if len(args) > 2 {
			e.Ack = number(int(w.time(strings.TrimPrefix(args[2], "ack="))))
		}
		e.Hex = t.report(w, args[1])
	case contract.EventPoll: // NUMBER [SPACE]
		e.Number, e.Space = number(w.nth(args[0], i)), w.space(args, 1)
	case contract.EventPath:
		patience := int64(0)
		e.SRTT, patience = w.path(args)
		e.Patience = &patience
	default:
		w.bad("event", e.Event)
	}
	t.Events = append(t.Events, e)
}

func number(n int) *int64 {
	v := int64(n)
	return &v
}

// report reads BASE/ROOM[:MISSING].
func (t *ChannelSender) report(w *words, text string) *string {
	base, rest, _ := strings.Cut(text, "/")
	room, list, _ := strings.Cut(rest, ":")
	var missing []int64
	if list != "" {
		for _, n := range w.ids(list) {
			missing = append(missing, int64(n))
		}
	}
	first, left := w.time(base), w.time(room)
	if w.err != nil {
		return nil
	}
	return w.record(t.codec, t.Config.ChannelFormat, t.codec.Report(0, first, left, missing))
}

// record writes a record.
func (w *words) record(codec RecordCodec, f contract.ChannelFormat, r contract.Record) *string {
	hex, err := codec.Encode(f, r)
	if err != nil {
		w.bad("record", err.Error())
	}
	return &hex
}

// Check compares a trace's steps with its script.
func (t *ChannelSender) Check(steps []contract.ChannelSenderStep) error {
	for _, l := range t.lines {
		var g got
		for _, s := range steps[:l.events] {
			g.rows = append(g.rows, s.Rows)
			for _, hex := range s.Records {
				r := t.codec.Decode(t.Config.ChannelFormat, hex)
				sign := signOf(r.Type)
				g.came = append(g.came, sign+t.codec.describe(t.Config.ChannelFormat, hex))
			}
			if s.Refused != nil {
				g.refused = *s.Refused
			}
			g.state = s.State
			g.figures = map[string]string{"@": writeTime(s.Deadline), "base": fmt.Sprint(s.Base), "limit": fmt.Sprint(s.Limit)}
		}
		if err := l.want.check(g); err != nil {
			return fmt.Errorf("%q: got %w", l.text, err)
		}
		steps = steps[l.events:]
	}
	return nil
}

// signOf is with what a record that is sent begins in a script.
func signOf(kind string) string {
	switch kind {
	case contract.RecordSkip:
		return "!"
	case contract.RecordStatus:
		return "?"
	}
	return ">"
}
