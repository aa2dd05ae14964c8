package channel

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

const ms = core.Millisecond

func unhex(s string) []byte { return check.Must(hex.DecodeString(strings.ReplaceAll(s, " ", ""))) }

// small has messages of up to 4 fragments of 4 bytes, in a window of 32.
var small = Config{Format: Format{Window: 32, Data: 4, Group: 4}, SendQueue: 40}

// with returns a configuration that was changed.
func with(cfg Config, change func(*Config)) Config {
	change(&cfg)
	return cfg
}

// measured is a path whose round trip is known: HOLD is 125 ms.
var measured = Path{Measured: true, SRTT: 100 * ms, Patience: 30 * ms}

// text returns a record in words.
func text(r Record) string {
	switch r.Type {
	case TypeMessage:
		return fmt.Sprintf("message %d %s", r.Sequence, r.Data)
	case TypeFragment:
		return fmt.Sprintf("fragment %d %d/%d %s", r.Sequence, r.Index, r.Count, r.Data)
	case TypeSkip:
		return fmt.Sprintf("skip %d+%d", r.Sequence, r.Count)
	case TypeReport:
		return strings.TrimSpace(fmt.Sprintf("report %d+%d %s", r.Sequence, r.Room, strings.Join(named(r), " ")))
	case TypeStatus:
		return fmt.Sprintf("status %d", r.Sequence)
	case TypeUnreliable:
		return fmt.Sprintf("unreliable %s", r.Data)
	}
	return r.Type.String()
}

// named returns what a report names, ascending.
func named(r Record) (list []string) {
	for _, g := range r.Groups {
		for i := 31; i >= 0; i-- {
			if g.Bits>>i&1 == 1 {
				list = append(list, fmt.Sprint(g.Start-1-uint16(i)))
			}
		}
		list = append(list, fmt.Sprint(g.Start))
	}
	return list
}

// talker is a sender with its driver.
type talker struct {
	t testing.TB
	*Sender
	now    core.Micros
	number core.Number // of the next packet
}

func newTalker(t testing.TB, cfg Config) *talker {
	s, err := NewSender(cfg)
	check.Same(t, "error", err, nil)
	return &talker{t: t, Sender: s}
}

// says sends messages and returns the row of the last.
func (s *talker) says(messages ...string) string { return s.saysFor(0, messages...) }

// saysFor sends messages with a lifetime.
func (s *talker) saysFor(lifetime core.Micros, messages ...string) string {
	s.t.Helper()
	for _, m := range messages {
		next := s.Next()
		err := s.Send(s.now, []byte(m), lifetime)
		check.Equal(s.t, "a message that is refused changes nothing", err != nil, s.Next() == next)
	}
	return string(s.Row())
}

// packs composes a packet of up to space bytes and returns its records (CHS-12).
func (s *talker) packs(space int) string {
	s.t.Helper()
	var list []string
	for {
		r, ok := s.Poll(s.now, s.number, space)
		if !ok {
			break
		}
		list = append(list, text(r))
		space -= r.Size()
	}
	check.That(s.t, space >= 0, "the records fit")
	if len(list) > 0 {
		s.number++
	}
	return strings.Join(list, ", ")
}

// goes composes packets until nothing is left.
func (s *talker) goes() string {
	s.t.Helper()
	var list []string
	for {
		p := s.packs(LargestPayload)
		if p == "" {
			return strings.Join(list, " | ")
		}
		list = append(list, p)
	}
}

// hears takes a report of the newest packet of the peer, that knows of all that was sent, and
// returns the row.
func (s *talker) hears(base uint16, room int, missing ...uint16) string {
	return s.hearsOf(s.heard+1, s.number-1, base, room, missing...)
}

// hearsOf takes a report of a packet that acks another.
func (s *talker) hearsOf(number, ack core.Number, base uint16, room int, missing ...uint16) string {
	s.t.Helper()
	r := NewReport(0, base, room, missing)
	s.Report(s.now, number, ack, &r)
	return string(s.Row())
}

// listener is a receiver with its driver.
type listener struct {
	t testing.TB
	*Receiver
	now core.Micros
}

func newListener(t testing.TB, cfg Config) *listener {
	v, err := NewReceiver(cfg)
	check.Same(t, "error", err, nil)
	return &listener{t: t, Receiver: v}
}

// gets takes records and returns the row of each.
func (v *listener) gets(records ...Record) string {
	v.t.Helper()
	var rows []string
	for _, r := range records {
		v.Handle(v.now, &r)
		rows = append(rows, string(v.Row()))
		check.That(v.t, v.tail <= v.base && v.base <= v.top && v.top <= v.Limit(), "tail, base, top and limit ascend")
	}
	return strings.Join(rows, " ")
}

// reads returns all that is ready.
func (v *listener) reads() string {
	v.t.Helper()
	var list []string
	for {
		m, ok := v.Read(v.now, []byte("<"))
		if !ok {
			check.Equal(v.t, "nothing is appended", string(m.Data), "<")
			return strings.Join(list, ", ")
		}
		what := string(m.Data[1:])
		if m.Skipped {
			check.Equal(v.t, "a skip has no data", what, "")
			what = "skipped"
		}
		list = append(list, fmt.Sprintf("%d %s", m.Sequence, what))
	}
}

// reports returns the report that is due, or nothing.
func (v *listener) reports() string { return v.reportsIn(LargestPayload) }

func (v *listener) reportsIn(space int) string {
	v.t.Helper()
	r, ok := v.Poll(v.now, space)
	if !ok {
		return ""
	}
	check.That(v.t, r.Size() <= space, "it fits")
	encoded := check.Must(v.format.Append(nil, &r))
	check.Equal(v.t, "bytes", len(encoded), r.Size())
	return text(r)
}

func message(n int, data string) Record {
	return Record{Type: TypeMessage, Sequence: uint16(n), Data: []byte(data)}
}

func fragment(n, index, count int, data string) Record {
	return Record{Type: TypeFragment, Sequence: uint16(n), Index: index, Count: count, Data: []byte(data)}
}

func skip(n, count int) Record { return Record{Type: TypeSkip, Sequence: uint16(n), Count: count} }

func status(next int) Record { return Record{Type: TypeStatus, Sequence: uint16(next)} }
