package channelsim

import (
	"errors"
	"testing"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/netsim"
)

// What a run delivers wrongly is found.
func TestARunChecksWhatIsRead(t *testing.T) {
	message := func(n, size int) protocol.Message { return protocol.Message{Data: content(nil, n, size)} }
	changed := message(1, 64)
	changed.Data[63]++
	for name, c := range map[string]struct {
		kind  protocol.Kind
		m     protocol.Message
		wrong bool
	}{
		"the next":                  {protocol.Ordered, message(1, 64), false},
		"one before":                {protocol.Ordered, message(0, 64), true},
		"one behind":                {protocol.Ordered, message(2, 64), true},
		"one behind, unordered":     {protocol.Unordered, message(2, 64), false},
		"one before, unordered":     {protocol.Unordered, message(0, 64), true},
		"never sent":                {protocol.Unordered, message(3, 64), true},
		"of another size":           {protocol.Ordered, message(1, 65), true},
		"of other bytes":            {protocol.Ordered, changed, true},
		"skipped":                   {protocol.Ordered, protocol.Message{Skipped: true}, true},
		"without any of its bytes":  {protocol.Unordered, protocol.Message{}, true},
		"far beyond what there was": {protocol.Unordered, message(1<<31, 64), true},
	} {
		r, err := Game(c.kind, 512, netsim.Path{}).begin(1)
		if err != nil {
			t.Fatal(err)
		}
		r.sent, r.read[0] = 3, true
		r.run.Delays = append(r.run.Delays, 0)
		if err := r.check(c.m); errors.Is(err, ErrWrong) != c.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The ledger knows what was sent again, and what of that needlessly.
func TestTheLedger(t *testing.T) {
	r, err := Game(protocol.Ordered, 512, netsim.Path{}).begin(1)
	if err != nil {
		t.Fatal(err)
	}
	send := func(arrives bool, sequences ...uint16) {
		var payload []byte
		for _, n := range sequences {
			payload, err = protocol.Format{}.Append(payload, &protocol.Record{Type: protocol.TypeMessage, Sequence: n, Data: []byte{1}})
			if err != nil {
				t.Fatal(err)
			}
		}
		r.ledger.compose(payload)
		r.ledger.carried(arrives, &r.run)
	}
	send(true, 0, 1)
	send(false, 2)
	send(true, 1, 2) // 1 needlessly
	send(true, 2)    // needlessly
	if r.run.Records != 6 || r.run.Again != 3 || r.run.Needless != 2 {
		t.Errorf("%+v", r.run)
	}
}
