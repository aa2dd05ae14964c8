package packetsim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// contains makes sure that an error says so; nothing stands for no error.
func contains(t *testing.T, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("%v, want %q", err, text)
	}
}

// Each violation is found, and what is right is none.
func TestAJudgeFindsEachViolation(t *testing.T) {
	const acked, lost = protocol.EventAcked, protocol.EventLost
	a, b := protocol.Delivery{Number: 7, Payload: []byte("a")}, protocol.Delivery{Number: 7, Payload: []byte("b")}
	taken := func(j *Judge) error { return j.Taken(1, a) }
	event := func(n int64, kind protocol.EventKind) func(j *Judge) error {
		return func(j *Judge) error { return j.Event(0, 0, protocol.Event{Number: 7 + core.Number(n), Kind: kind}) }
	}
	polled := func(j *Judge) error { return j.Polled(0, protocol.LostAfter) }
	for _, c := range []struct {
		steps []func(j *Judge) error
		want  string // of the last step
	}{
		{[]func(j *Judge) error{taken, event(0, acked)}, ""},
		{[]func(j *Judge) error{taken, event(0, lost), event(0, acked), polled}, ""},
		{[]func(j *Judge) error{event(0, lost), polled}, ""},
		{[]func(j *Judge) error{func(j *Judge) error { return j.Sent(0, 0, 8, nil, false) }}, "PKS-1"},
		{[]func(j *Judge) error{func(j *Judge) error { return j.Taken(0, a) }}, "never sent"},
		{[]func(j *Judge) error{func(j *Judge) error { return j.Taken(1, b) }}, "other bytes"},
		{[]func(j *Judge) error{taken, taken}, "twice"},
		{[]func(j *Judge) error{event(0, acked)}, "PKT-SAFE-2"},
		{[]func(j *Judge) error{taken, event(0, acked), event(0, acked)}, "settled"},
		{[]func(j *Judge) error{event(0, lost), event(0, lost)}, "settled"},
		{[]func(j *Judge) error{taken, event(0, acked), event(0, lost)}, "settled"},
		{[]func(j *Judge) error{event(1, lost)}, "asks for no ack"},
		{[]func(j *Judge) error{polled}, "PKT-LIVE-2"},
		{[]func(j *Judge) error{func(j *Judge) error { return j.Holds(0, Complete(protocol.Config{}), protocol.Stats{Incomplete: 9}) }}, "PKT-SAFE-3"},
		{[]func(j *Judge) error{func(j *Judge) error {
			return j.Holds(0, Complete(protocol.Config{}), protocol.Stats{IncompleteBytes: 32769})
		}}, "PKT-SAFE-3"},
	} {
		j := NewJudge(7, 0)
		if c.want != "PKS-1" {
			check.Same(t, "error", j.Sent(0, 0, 7, []byte("a"), false), nil)
			check.Same(t, "error", j.Sent(0, 0, 8, []byte{0}, false), nil)
		} else {
			check.Same(t, "error", j.Sent(0, 0, 7, []byte("a"), false), nil)
			c.steps[0] = func(j *Judge) error { return j.Sent(0, 0, 9, nil, false) }
		}
		for i, step := range c.steps {
			err := step(j)
			if i == len(c.steps)-1 {
				contains(t, err, c.want)
			} else {
				check.Same(t, "error", err, nil)
			}
		}
	}
}

// failures notes what a check says.
type failures []string

func (f *failures) fail(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (f *failures) contain(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(*f, "\n"), text) {
		t.Errorf("%q, want %q", *f, text)
	}
}

// An endpoint that is not its model is found out, whatever differs.
func TestDifferencesAreFound(t *testing.T) {
	take := func(protocol.Delivery) protocol.Verdict { return protocol.Take }
	datagram := protocol.Header{Sequence: 0, Ack: 0, AckBits: 1}.Append(nil)
	datagram = append(datagram, 'x')
	for _, c := range []struct {
		name   string
		change func(m *Model)
		want   string
	}{
		{"nothing", func(*Model) {}, ""},
		{"numbers", func(m *Model) { m.nextToSend, m.cfg.NextToSend = 5, 5 }, "number"},
		{"received", func(m *Model) { m.received[0] = true }, "refusal"},
		{"offered", func(m *Model) { m.dead[0] = true }, "deliveries"},
		{"acks", func(m *Model) { m.next = 3 }, "datagrams"},
		{"events", func(m *Model) { m.events = []protocol.Event{{Number: 9}} }, "events"},
		{"times", func(m *Model) { m.now = core.Second }, "deadline"},
		{"mode", func(m *Model) { m.congestion.state = "GOOD" }, "mode"},
		{"samples", func(m *Model) { m.path.latencies = []core.Micros{7} }, "samples"},
		{"rates", func(m *Model) { m.path.patience = 7 }, "estimates"},
		{"counts", func(m *Model) { m.refused[protocol.CodeDead] = 1 }, "refusals"},
		{"memory", func(m *Model) { m.parts[0] = &modelPart{begun: core.Never} }, "in reassembly"},
		{"acks due", func(m *Model) { m.ackAt = 1 }, "ack-only packet"},
	} {
		var f failures
		e := check.Must(NewChecked(protocol.Config{}, f.fail))
		c.change(e.model)
		if c.name == "acks due" {
			_, _ = e.Poll(1)
		}
		_, err := e.Send(10, []byte("x"), false)
		check.Same(t, "error", err, nil)
		_ = e.Receive(20, datagram, take)
		_, _ = e.Poll(20)
		if f.contain(t, c.want); c.want == "" && len(f) > 0 {
			t.Errorf("%s: %q", c.name, f)
		}
	}
}

// The judged world reports what the judge says, and ends that never rest.
func TestAWorldIsJudged(t *testing.T) {
	var f failures
	w := check.Must(NewWorld(protocol.Config{}, f.fail))
	w.Send(0, []byte("x"), false)
	w.Judge.ends[0].sent[0] = sentPayload{payload: "y"}
	check.Same(t, "error", w.Arrive(1, 0, true), nil)
	f.contain(t, "other bytes")
	check.Equal(t, "kept", len(w.Flight[1]), 1)
	check.That(t, w.Arrive(1, 0, false) != nil && len(w.Flight[1]) == 0, "a duplicate")
	w.Wait(core.Second)
	check.Equal(t, "answer", len(w.Flight[0]), 1)
	sent, taken, acked, lost := w.Judge.Counts(0)
	check.Equal(t, "counts", [4]int{sent, taken, acked, lost}, [4]int{1, 0, 0, 1})
	w.Drop(0, 0)
	check.Equal(t, "in flight", len(w.Flight[0]), 0)
	_, err := NewWorld(protocol.Config{Received: 3}, f.fail)
	check.That(t, err != nil, "a bad configuration")
}
