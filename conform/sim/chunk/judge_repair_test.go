package chunk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

// The judges are shown histories that no machine of today makes. What they share with those
// of the chunk protocol is tested there.

var repairTwo = erasure.Encode(chunktest.Chunk(2000, 3))

func repairSliceOf(e *erasure.Encoded, chunkID uint16, id int) codec.Slice {
	return codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: e.NumSlices(), LastBytes: e.LastBytes(), Data: e.Slice(id)}
}

func repairAckOf(chunkID uint16, k, have, top int) codec.Ack {
	return codec.Ack{ChunkID: chunkID, NumSlices: k, Have: have, Top: top}
}

func TestRepairSenderJudge(t *testing.T) {
	type judge = chunk.SenderJudge
	sent := func(j *judge, s codec.Slice) *chunk.Violation { return j.Sent(1, s, s.DatagramSize(), 1) }
	acked := func(j *judge, have, top int) { j.Acked(1, repairAckOf(firstID, 2, have, top)) }
	other := erasure.Encode(chunktest.Chunk(2000, 4))
	for name, c := range map[string]struct {
		wrong bool // that must be violated; empty: none
		do    func(j *judge) *chunk.Violation
	}{
		"sends the next id":   {false, func(j *judge) *chunk.Violation { return sent(j, repairSliceOf(repairTwo, firstID, 2)) }},
		"sends an id again":   {true, func(j *judge) *chunk.Violation { return sent(j, repairSliceOf(repairTwo, firstID, 1)) }},
		"leaves an id out":    {true, func(j *judge) *chunk.Violation { return sent(j, repairSliceOf(repairTwo, firstID, 3)) }},
		"sends another chunk": {true, func(j *judge) *chunk.Violation { return sent(j, repairSliceOf(repairTwo, 0, 2)) }},
		"sends other bytes":   {true, func(j *judge) *chunk.Violation { return sent(j, repairSliceOf(other, firstID, 2)) }},
		"says another last_bytes": {true, func(j *judge) *chunk.Violation {
			s := repairSliceOf(repairTwo, firstID, 2)
			s.LastBytes++
			return sent(j, s)
		}},
		"says another num_slices": {true, func(j *judge) *chunk.Violation {
			s := repairSliceOf(repairTwo, firstID, 2)
			s.NumSlices++
			return sent(j, s)
		}},
		"reports too early":       {true, func(j *judge) *chunk.Violation { acked(j, 1, 2); return j.Reported(true) }},
		"believes a foreign ack":  {true, func(j *judge) *chunk.Violation { acked(j, 2, 3); return j.Reported(true) }},
		"believes have above top": {true, func(j *judge) *chunk.Violation { acked(j, 2, 1); return j.Reported(true) }},
		"does not report":         {true, func(j *judge) *chunk.Violation { acked(j, 2, 2); return j.Reported(false) }},
		"reports in time":         {false, func(j *judge) *chunk.Violation { acked(j, 2, 2); return j.Reported(true) }},
		"gives up after news":     {true, func(j *judge) *chunk.Violation { acked(j, 0, 1); return j.GaveUp(patience) }},
		"gives up during a hold":  {true, func(j *judge) *chunk.Violation { acked(j, 0, 0); return j.GaveUp(patience) }},
		"gives up in time":        {false, func(j *judge) *chunk.Violation { return j.GaveUp(patience) }},
		"gives up after old news": {false, func(j *judge) *chunk.Violation {
			acked(j, 1, 2)
			j.Acked(5, repairAckOf(firstID, 2, 0, 1))
			return j.GaveUp(patience + 1)
		}},
	} {
		j := chunk.NewSenderJudge(codec.Repair, &chunk.Stream{FirstID: firstID}, chunk.Pace{}, patience, 0)
		wantViolation(t, name+": submit", j.Submitted(0, repairTwo.Bytes(), true), false)
		for id := range 2 {
			s := repairSliceOf(repairTwo, firstID, id)
			wantViolation(t, name+": send", j.Sent(0, s, s.DatagramSize(), 0), false)
		}
		wantViolation(t, name, c.do(j), c.wrong)
	}
}

func TestRepairReceiverJudge(t *testing.T) {
	type judge = chunk.ReceiverJudge
	sent := func(j *judge, k, have, top int) *chunk.Violation {
		return j.Sent(0, repairAckOf(firstID, k, have, top))
	}
	for name, c := range map[string]struct {
		ids   []int // that have arrived
		wrong bool
		do    func(j *judge) *chunk.Violation
	}{
		"acks what is there":      {[]int{0}, false, func(j *judge) *chunk.Violation { return sent(j, 2, 1, 1) }},
		"acks too much":           {[]int{1}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 2, 2) }},
		"acks too little":         {[]int{1}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 0, 2) }},
		"says that less came":     {[]int{1}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 1, 1) }},
		"says that more came":     {[]int{1}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 1, 3) }},
		"counts a duplicate":      {[]int{7, 7}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 2, 8) }},
		"counts a dependent one":  {[]int{7, 15}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 2, 16) }},
		"notes a dependent one":   {[]int{7, 15}, false, func(j *judge) *chunk.Violation { return sent(j, 2, 1, 16) }},
		"acks another number":     {[]int{0}, true, func(j *judge) *chunk.Violation { return sent(j, 3, 1, 1) }},
		"acks what cannot be":     {[]int{0}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 3, 3) }},
		"acks the whole":          {[]int{0, 9}, false, func(j *judge) *chunk.Violation { return sent(j, 2, 2, 10) }},
		"acks it with less":       {[]int{0, 9}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 2, 2) }},
		"acks it before it is":    {[]int{9}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 2, 10) }},
		"top of it grows":         {[]int{0, 9, 11}, true, func(j *judge) *chunk.Violation { return sent(j, 2, 2, 12) }},
		"acks late":               {[]int{7, 15}, true, func(j *judge) *chunk.Violation { return j.Waited(101*core.Millisecond, 0) }},
		"delivers":                {[]int{9, 3}, false, func(j *judge) *chunk.Violation { return j.Read(0, repairTwo.Bytes(), true) }},
		"delivers other bytes":    {[]int{9, 3}, true, func(j *judge) *chunk.Violation { return j.Read(0, repairTwo.Bytes()[1:], true) }},
		"delivers too early":      {[]int{7, 15}, true, func(j *judge) *chunk.Violation { return j.Read(0, repairTwo.Bytes(), true) }},
		"waits on dependent ones": {[]int{7}, true, func(j *judge) *chunk.Violation { _ = sent(j, 2, 1, 8); return j.Waited(patience+1, 0) }},
		"keeps a slice":           {[]int{7}, false, func(j *judge) *chunk.Violation { return j.Keeps(20 * 1024) }},
		"keeps a whole chunk":     {[]int{7}, true, func(j *judge) *chunk.Violation { return j.Keeps(262_144) }},
		"stores what conflicts": {[]int{7}, true, func(j *judge) *chunk.Violation {
			s := repairSliceOf(repairTwo, firstID, 3)
			s.LastBytes++
			j.Arrived(0, s)
			return sent(j, 2, 2, 8)
		}},
		"replaces a form": {[]int{7}, false, func(j *judge) *chunk.Violation {
			s := repairSliceOf(repairTwo, firstID, 3)
			s.LastBytes++
			j.Arrived(patience/2, s)
			return sent(j, 2, 1, 4)
		}},
	} {
		j := chunk.NewReceiverJudge(codec.Repair, &chunk.Stream{FirstID: firstID}, patience, 0)
		for _, id := range c.ids {
			j.Arrived(0, repairSliceOf(repairTwo, firstID, id))
		}
		wantViolation(t, name, c.do(j), c.wrong)
	}
}

// repairBrokenSender and repairBrokenReceiver are machines with a mistake.
type repairBrokenSender struct {
	chunk.SenderMachine
	mistake string
}

func (s *repairBrokenSender) HandleAck(now core.Micros, a codec.Ack) bool {
	if s.mistake == "does not report" {
		a.Have = min(a.Have, 1)
	}
	return s.SenderMachine.HandleAck(now, a)
}

func (s *repairBrokenSender) Poll(now core.Micros) (codec.Slice, bool) {
	slice, ok := s.SenderMachine.Poll(now)
	if ok && s.mistake == "sends other bytes" {
		slice.Data = make([]byte, len(slice.Data))
	}
	return slice, ok
}

type repairBrokenReceiver struct {
	chunk.ReceiverMachine
	mistake string
}

func (r *repairBrokenReceiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	got, err := r.ReceiverMachine.Read(now, dst)
	if r.mistake == "delivers other bytes" {
		got[0]++
	}
	return got, err
}

func (r *repairBrokenReceiver) Poll(now core.Micros) (codec.Ack, bool) {
	a, ok := r.ReceiverMachine.Poll(now)
	if r.mistake == "acks what it has not" && ok {
		a.Top++
	}
	return a, ok
}

// What a machine does wrong reaches its judge, and fails.
func TestRepairJudgedMachines(t *testing.T) {
	for mistake, rule := range map[string]string{
		"":                              "",
		"sender does not report":        "the sender violates ",
		"sender sends other bytes":      "the sender violates ",
		"receiver delivers other bytes": "the receiver violates ",
		"receiver acks what it has not": "the receiver violates ",
	} {
		w := repairNewWorld(20)
		end, what, _ := strings.Cut(mistake, " ")
		if end == "sender" {
			w.Sender = &repairBrokenSender{w.Sender, what}
		} else {
			w.Receiver = &repairBrokenReceiver{w.Receiver, what}
		}
		first := ""
		w.Judge(chunk.PlainPace, func(format string, args ...any) {
			if first == "" {
				first = fmt.Sprintf(format, args...)
			}
			panic(first)
		})
		func() {
			defer func() { _ = recover() }()
			_, _ = w.Transfer(chunktest.Chunk(3000, 1))
			w.Finish()
		}()
		check.That(t, (first == "") == (rule == "") && strings.HasPrefix(first, rule), fmt.Sprintf("%q: %q, want %q", mistake, first, rule))
	}
}
