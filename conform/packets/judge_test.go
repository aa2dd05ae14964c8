package packets

import (
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform"
)

// Each violation is found, and valid behavior is not one.
func TestAJudgeFindsEachViolation(t *testing.T) {
	type event struct {
		end  int
		e    conform.Event
		step EndpointStep
	}
	got := func(n uint16, payload conform.Bytes) event {
		return event{1, Receive{}, EndpointStep{Delivered: conform.Some(Delivered{n, payload})}}
	}
	taken := got(7, "a")
	acked := func(n ...uint16) event { return event{0, Receive{}, EndpointStep{Acked: n}} }
	lost := func(n ...uint16) event { return event{0, Poll{}, EndpointStep{Lost: n}} }
	for _, c := range []struct {
		events []event
		want   string // of the last event
	}{
		{[]event{taken, acked(7)}, ""},
		{[]event{taken, lost(7), acked(7)}, ""},
		{[]event{got(9, "a")}, "never sent"},
		{[]event{got(7, "b")}, "other bytes"},
		{[]event{taken, taken}, "twice"},
		{[]event{acked(7)}, "PKT-SAFE-2"},
		{[]event{acked(9)}, "never sent"},
		{[]event{{1, Receive{"forged"}, EndpointStep{}}, acked(7)}, ""},
		{[]event{taken, acked(7), acked(7)}, "settled twice"},
		{[]event{lost(7), lost(7)}, "settled twice"},
		{[]event{taken, acked(7), lost(7)}, "settled twice"},
		{[]event{lost(8)}, "asks for no ack"},
		{[]event{lost()}, "PKT-LIVE-2"},
		{[]event{{0, Poll{}, EndpointStep{Datagrams: []conform.Bytes{"a", "b"}}}}, "PKT-BND-1"},
	} {
		j := newJudge(7, 0)
		var err error
		for _, e := range append([]event{{0, Send{"a"}, EndpointStep{}}, {0, Quiet{"q"}, EndpointStep{}}}, c.events...) {
			if err != nil {
				t.Errorf("%v", err)
			}
			at := int64(0)
			if _, is := e.e.(Poll); is {
				at = 1_000_000
			}
			err = j.ends[e.end].Saw(at, e.e, e.step)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
