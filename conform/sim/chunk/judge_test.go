package chunk_test

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// The judges are shown histories that no machine of today makes.

const (
	patience = 10 * core.Second
	never    = core.Never
	firstID  = 65535
)

type violation = chunk.Violation

var two = bytes.Repeat([]byte{7}, 2000)

func sliceOf(data []byte, id uint16, k int) codec.Slice {
	return codec.Slice{ChunkID: id, SliceID: k, NumSlices: codec.NumSlices(len(data)), Data: data[1024*k : min(len(data), 1024*k+1024)]}
}

func ackOf(id uint16, slices int, acked ...int) codec.Ack {
	a := codec.Ack{ChunkID: id, NumSlices: slices}
	for _, k := range acked {
		a.Acked.Add(k)
	}
	return a
}

func senderJudge(s *chunk.Stream, p chunk.Pace) *chunk.SenderJudge {
	s.FirstID = firstID
	return chunk.NewSenderJudge(codec.Named, s, p, patience, 0)
}

func wantViolation(t *testing.T, name string, got *violation, wrong bool) {
	t.Helper()
	if (got != nil) != wrong {
		t.Errorf("%s: %v", name, got)
	}
}

// sent gives a judge a slice of a chunk that goes out in time.
func sent(j *chunk.SenderJudge, at core.Micros, data []byte, id uint16, k int) *violation {
	s := sliceOf(data, id, k)
	return j.Sent(at, s, s.DatagramSize(), at)
}

func TestSenderJudge(t *testing.T) {
	three, lent := block(3000), bytes.Clone(two)
	for name, c := range map[string]struct {
		wrong bool // that must be violated; empty: none
		do    func(j *chunk.SenderJudge) *violation
	}{
		"takes a chunk too many":  {true, func(j *chunk.SenderJudge) *violation { return j.Submitted(1, two, true) }},
		"refuses while busy":      {false, func(j *chunk.SenderJudge) *violation { return j.Submitted(1, two, false) }},
		"sends another chunk":     {true, func(j *chunk.SenderJudge) *violation { return sent(j, 1, two, 0, 0) }},
		"cuts it wrongly":         {true, func(j *chunk.SenderJudge) *violation { return sent(j, 1, three, firstID, 0) }},
		"sends other bytes":       {true, func(j *chunk.SenderJudge) *violation { return sent(j, 1, block(2000), firstID, 1) }},
		"sends a slice again":     {false, func(j *chunk.SenderJudge) *violation { return sent(j, 1, two, firstID, 1) }},
		"sends after patience":    {true, func(j *chunk.SenderJudge) *violation { return sent(j, patience, two, firstID, 1) }},
		"sends before a deadline": {true, func(j *chunk.SenderJudge) *violation { return j.Sent(1, sliceOf(two, firstID, 1), 990, 2) }},
		"sends an acked slice": {true, func(j *chunk.SenderJudge) *violation {
			j.Acked(1, ackOf(firstID, 2, 1))
			return sent(j, 2, two, firstID, 1)
		}},
		"reports too early": {true, func(j *chunk.SenderJudge) *violation { j.Acked(1, ackOf(firstID, 2, 1)); return j.Reported(true) }},
		"does not report": {true, func(j *chunk.SenderJudge) *violation {
			j.Acked(1, ackOf(firstID, 2, 0, 1))
			return j.Reported(false)
		}},
		"reports in time": {false, func(j *chunk.SenderJudge) *violation {
			j.Acked(1, ackOf(firstID, 2, 0, 1))
			return j.Reported(true)
		}},
		"gives up early": {true, func(j *chunk.SenderJudge) *violation {
			j.Acked(1, ackOf(firstID, 2, 1))
			return j.GaveUp(patience)
		}},
		"gives up during a hold": {true, func(j *chunk.SenderJudge) *violation { j.Acked(1, ackOf(firstID, 2)); return j.GaveUp(patience) }},
		"gives up in time": {false, func(j *chunk.SenderJudge) *violation {
			j.Acked(1, ackOf(firstID, 2, 1))
			return j.GaveUp(patience + 1)
		}},
		"never gives up":      {true, func(j *chunk.SenderJudge) *violation { return j.Waited(patience+1, 0) }},
		"was stopped":         {false, func(j *chunk.SenderJudge) *violation { return j.Waited(patience+1, patience+1) }},
		"sends nothing":       {true, func(j *chunk.SenderJudge) *violation { return j.Waited(3*core.Second+1, 0) }},
		"waits a little":      {false, func(j *chunk.SenderJudge) *violation { return j.Waited(3*core.Second, 0) }},
		"has a past deadline": {true, func(j *chunk.SenderJudge) *violation { return j.Polled(1, 1) }},
		"wants to sleep long": {true, func(j *chunk.SenderJudge) *violation { return j.Polled(1, 3*core.Second+1) }},
		"forgets to give up":  {true, func(j *chunk.SenderJudge) *violation { return j.Polled(1, patience+1) }},
		"has a good deadline": {false, func(j *chunk.SenderJudge) *violation { return j.Polled(1, 3*core.Second) }},
		"changes the chunk": {true, func(j *chunk.SenderJudge) *violation {
			lent[5]++
			j.Acked(1, ackOf(firstID, 2, 0, 1))
			return j.Reported(true)
		}},
	} {
		copy(lent, two)
		j := senderJudge(&chunk.Stream{}, chunk.BasePace(base.Fixed(0)))
		wantViolation(t, name+": submit", j.Submitted(0, lent, true), false)
		for k := range 2 {
			wantViolation(t, name+": send", sent(j, 0, two, firstID, k), false)
		}
		wantViolation(t, name, c.do(j), c.wrong)
	}
}

func TestSenderJudgeOfAnIdleSender(t *testing.T) {
	stream := &chunk.Stream{Receivers: 1}
	idle := senderJudge(stream, chunk.Pace{})
	wantViolation(t, "takes nothing", idle.Submitted(0, nil, true), true)
	wantViolation(t, "takes too much", idle.Submitted(0, make([]byte, codec.MaxChunkSize+1), true), true)
	wantViolation(t, "refuses", senderJudge(&chunk.Stream{}, chunk.Pace{}).Submitted(0, two, false), true)
	wantViolation(t, "refuses nothing", idle.Submitted(0, nil, false), false)
	wantViolation(t, "sends", sent(idle, 0, two, firstID, 0), true)
	wantViolation(t, "gives up", idle.GaveUp(patience), true)
	wantViolation(t, "may be idle without end", idle.Waited(100*patience, 0), false)
	wantViolation(t, "has a deadline", idle.Polled(0, 1), true)
	_ = idle.Submitted(0, two, true)
	_, _ = sent(idle, 0, two, firstID, 0), sent(idle, 0, two, firstID, 1)
	idle.Acked(1, ackOf(firstID, 2, 0, 1))
	wantViolation(t, "reports a missing chunk", idle.Reported(true), true)
	stream.Complete++
	wantViolation(t, "reports what is there", idle.Reported(true), false)
}

// The bucket has room for two slices, and time makes room for another.
func TestMeterOfABucket(t *testing.T) {
	m := chunk.NewMeter(chunk.BasePace(base.Profile{Rate: 8 * 1066, Cap: 2 * 1066}))
	for _, c := range []struct {
		at    core.Micros
		wrong bool
	}{{0, false}, {0, false}, {core.Second, false}, {2*core.Second - 1, true}} {
		wantViolation(t, "slice", m.Sent(c.at, 1066), c.wrong)
	}
	paid := chunk.NewMeter(chunk.BasePace(base.Profile{Rate: 8 * 1066, Cap: 2 * 1066, Burst: 1066, AckPays: true}))
	_, _ = paid.Sent(0, 1066), paid.Sent(0, 1066)
	paid.Acked(0, 1066)
	wantViolation(t, "what an ack pays", paid.Sent(0, 1066), false)
	paid.Begin(0)
	wantViolation(t, "a chunk's burst", paid.Sent(0, 1066), false)
	wantViolation(t, "beyond the burst", paid.Sent(0, 1), true)
}

// A late caller makes up for 20 ms.
func TestMeterOfSpacing(t *testing.T) {
	m := chunk.NewMeter(chunk.AdaptivePace(adaptive.Fixed(1066 * 8 * 100))) // 10 ms a slice
	for _, c := range []struct {
		at    core.Micros
		wrong bool
	}{{1000_000, false}, {1000_000, false}, {1000_000, false}, {1009_999, true}, {1020_000, false}} {
		wantViolation(t, "slice", m.Sent(c.at, 1066), c.wrong)
	}
}

func receiverJudge() (*chunk.Stream, *chunk.ReceiverJudge) {
	s := &chunk.Stream{FirstID: firstID, Senders: 1, Submitted: [][]byte{two, {1}}}
	return s, chunk.NewReceiverJudge(codec.Named, s, patience, 0)
}

func TestReceiverJudge(t *testing.T) {
	const within = 100 * core.Millisecond
	first, last, next := sliceOf(two, firstID, 0), sliceOf(two, firstID, 1), sliceOf([]byte{1}, 0, 0)
	type judge = chunk.ReceiverJudge
	for name, c := range map[string]struct {
		full  bool // the chunk is complete when the judge is shown the rest; otherwise half of it
		wrong bool
		do    func(s *chunk.Stream, j *judge) *violation
	}{
		"acks what is there":         {false, false, func(_ *chunk.Stream, j *judge) *violation { return j.Sent(0, ackOf(firstID, 2, 0)) }},
		"acks a missing slice":       {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Sent(0, ackOf(firstID, 2, 0, 1)) }},
		"does not ack what is there": {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Sent(0, ackOf(firstID, 2, 1)) }},
		"acks another number":        {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Sent(0, ackOf(firstID, 3, 0)) }},
		"acks beyond the number":     {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Sent(0, ackOf(firstID, 2, 0, 9)) }},
		"acks another chunk":         {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Sent(0, ackOf(9, 2, 0)) }},
		"acks twice": {false, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Sent(0, ackOf(firstID, 2, 0))
			return j.Sent(0, ackOf(firstID, 2, 0))
		}},
		"acks without a due ack": {false, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Arrived(0, first)
			j.Sent(0, ackOf(firstID, 2, 0))
			return j.Sent(0, ackOf(firstID, 2, 0))
		}},
		"acks late":           {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Waited(within+1, 0) }},
		"will ack late":       {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Deadline(within + 1) }},
		"has a past deadline": {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Polled(5, 5) }},
		"wants to act for nothing": {true, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Sent(0, ackOf(firstID, 2, 0, 1))
			return j.Deadline(5)
		}},
		"forgets to give up": {false, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Sent(0, ackOf(firstID, 2, 0))
			return j.Deadline(never)
		}},
		"does not ack again": {false, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Sent(0, ackOf(firstID, 2, 0))
			j.Arrived(core.Second, first)
			return j.Waited(2*core.Second, 0)
		}},
		"acks the whole late": {true, true, func(_ *chunk.Stream, j *judge) *violation { return j.Waited(1, 0) }},
		"does not ack the one before": {true, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Sent(0, ackOf(firstID, 2, 0, 1))
			j.Arrived(core.Second, first)
			return j.Waited(2*core.Second, 0)
		}},
		"does not hold": {true, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Sent(0, ackOf(firstID, 2, 0, 1))
			j.Arrived(0, next)
			return j.Waited(core.Second, 0)
		}},
		"acks what it should hold": {true, true, func(_ *chunk.Stream, j *judge) *violation { j.Arrived(0, next); return j.Sent(0, ackOf(0, 1, 0)) }},
		"delivers":                 {true, false, func(_ *chunk.Stream, j *judge) *violation { return j.Read(0, two, true) }},
		"delivers half":            {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Read(0, two[:1024], true) }},
		"delivers other bytes":     {true, true, func(_ *chunk.Stream, j *judge) *violation { return j.Read(0, two[:1999], true) }},
		"delivers twice":           {true, true, func(_ *chunk.Stream, j *judge) *violation { j.Read(0, two, true); return j.Read(0, two, true) }},
		"delivers a chunk that was not submitted": {true, true, func(s *chunk.Stream, j *judge) *violation {
			s.Submitted[0] = two[1:]
			return j.Read(0, two, true)
		}},
		"delivers too many": {true, true, func(s *chunk.Stream, j *judge) *violation { s.Submitted = nil; return j.Read(0, two, true) }},
		"mixes two lives": {true, false, func(s *chunk.Stream, j *judge) *violation {
			s.Senders, s.Submitted = 2, nil
			if v := j.Read(0, two, true); v != nil || j.Mixed() != 1 {
				return &violation{Rule: "mixed"}
			}
			return nil
		}},
		"does not deliver":    {true, true, func(_ *chunk.Stream, j *judge) *violation { return j.Read(0, nil, false) }},
		"gives up early":      {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.GaveUp(patience - 1) }},
		"gives up in time":    {false, false, func(_ *chunk.Stream, j *judge) *violation { return j.GaveUp(patience) }},
		"gives up on nothing": {true, true, func(_ *chunk.Stream, j *judge) *violation { return j.GaveUp(patience) }},
		"never gives up": {false, true, func(_ *chunk.Stream, j *judge) *violation {
			j.Sent(0, ackOf(firstID, 2, 0))
			return j.Waited(patience+1, 0)
		}},
		"keeps a slice":       {false, false, func(_ *chunk.Stream, j *judge) *violation { return j.Keeps(1024 + 2048) }},
		"keeps a whole chunk": {false, true, func(_ *chunk.Stream, j *judge) *violation { return j.Keeps(codec.MaxChunkSize) }},
	} {
		s, j := receiverJudge()
		s.Submitted = [][]byte{two, {1}}
		j.Arrived(0, first)
		if c.full {
			j.Arrived(0, last)
		}
		wantViolation(t, name, c.do(s, j), c.wrong)
	}
}

// A wrong number of slices is replaced after half of the time to give up (RCV-7).
func TestReceiverJudgeReplacesNumSlices(t *testing.T) {
	_, j := receiverJudge()
	j.Arrived(0, codec.Slice{ChunkID: firstID, NumSlices: 9, Data: make([]byte, 1024)})
	j.Arrived(patience/2-1, sliceOf(two, firstID, 1))
	wantViolation(t, "acks what conflicts", j.Sent(patience/2-1, ackOf(firstID, 2, 1)), true)
	j.Arrived(patience/2, sliceOf(two, firstID, 1))
	wantViolation(t, "acks what replaced it", j.Sent(patience/2, ackOf(firstID, 2, 1)), false)
}
