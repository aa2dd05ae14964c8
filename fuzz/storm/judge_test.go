package main

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// The judges are shown histories that no machine of today makes.

const patient = 10 * second

func watchSender(p pace) *senderJudge {
	return &senderJudge{course: &course{firstID: 65535, senders: 1}, pace: p, giveUp: patient}
}

func watchReceiver() *receiverJudge {
	c := &course{firstID: 65535, senders: 1, receivers: 1, submitted: [][]byte{chunkOf(2000), chunkOf(1)}}
	return newReceiverJudge(c, patient, 0)
}

func chunkOf(n int) []byte { return bytes.Repeat([]byte{7}, n) }

func sliceOf(chunk []byte, id uint16, k int) packet {
	return packet{chunk: id, slice: k, slices: (len(chunk) + 1023) / 1024, data: chunk[1024*k : min(len(chunk), 1024*k+1024)]}
}

func ackOf(id uint16, slices int, acked ...int) packet {
	p := packet{chunk: id, slices: slices, bits: len(acked)}
	for _, k := range acked {
		p.acked[k] = true
	}
	return p
}

func TestSenderJudge(t *testing.T) {
	t.Parallel()
	two := chunkOf(2000)
	begin := func() *senderJudge { // a chunk of two slices, both sent
		j := watchSender(pace{})
		if a := j.submits(0, two); a != nil {
			t.Fatal(a)
		}
		for k := range 2 {
			if a := j.sends(0, sliceOf(two, 65535, k), 1037); a != nil {
				t.Fatal(a)
			}
		}
		return j
	}
	for name, c := range map[string]struct {
		rule  string // that must be broken; empty: none
		wrong func(j *senderJudge) *accusation
	}{
		"takes a chunk too many": {"S3", func(j *senderJudge) *accusation { return j.submits(1, two) }},
		"refuses while busy":     {"", func(j *senderJudge) *accusation { return j.refuses(1) }},
		"sends another chunk":    {"CID-2", func(j *senderJudge) *accusation { return j.sends(1, sliceOf(two, 0, 0), 1037) }},
		"cuts it wrongly":        {"LIM-2", func(j *senderJudge) *accusation { return j.sends(1, sliceOf(chunkOf(3000), 65535, 0), 1037) }},
		"sends other bytes":      {"SLC-4", func(j *senderJudge) *accusation { return j.sends(1, packet{65535, 1, 2, []byte("x"), set{}, 0}, 15) }},
		"sends a slice again":    {"", func(j *senderJudge) *accusation { return j.sends(1, sliceOf(two, 65535, 1), 990) }},
		"sends an acked slice": {"SCH-1", func(j *senderJudge) *accusation {
			j.hears(1, ackOf(65535, 2, 1))
			return j.sends(2, sliceOf(two, 65535, 1), 990)
		}},
		"reports too early":         {"SAFE-2", func(j *senderJudge) *accusation { j.hears(1, ackOf(65535, 2, 1)); return j.reports(true) }},
		"reports what is not there": {"SAFE-2", func(j *senderJudge) *accusation { j.hears(1, ackOf(65535, 2, 0, 1)); return j.reports(true) }},
		"does not report":           {"S10", func(j *senderJudge) *accusation { j.hears(1, ackOf(65535, 2, 0, 1)); return j.reports(false) }},
		"reports in time": {"", func(j *senderJudge) *accusation {
			j.hears(1, ackOf(65535, 2, 0, 1))
			j.course.complete++
			return j.reports(true)
		}},
		"gives up early":         {"SND-9", func(j *senderJudge) *accusation { j.hears(1, ackOf(65535, 2, 1)); return j.fails(patient) }},
		"gives up during a hold": {"SND-9", func(j *senderJudge) *accusation { j.hears(1, ackOf(65535, 2)); return j.fails(patient) }},
		"gives up in time":       {"", func(j *senderJudge) *accusation { j.hears(1, ackOf(65535, 2, 1)); return j.fails(patient + 1) }},
		"never gives up":         {"LIVE-3", func(j *senderJudge) *accusation { return j.waits(patient+1, 0) }},
		"was stopped":            {"", func(j *senderJudge) *accusation { return j.waits(patient+1, patient+1) }},
		"sends nothing":          {"SCH-2", func(j *senderJudge) *accusation { return j.waits(patience+1, 0) }},
		"waits a little":         {"", func(j *senderJudge) *accusation { return j.waits(patience, 0) }},
	} {
		wantAccusation(t, name, c.wrong(begin()), c.rule)
	}
	idle := watchSender(pace{})
	wantAccusation(t, "takes nothing", idle.submits(0, nil), "S2")
	wantAccusation(t, "takes too much", idle.submits(0, make([]byte, maxChunk+1)), "S2")
	wantAccusation(t, "refuses while idle", idle.refuses(1), "S1")
	wantAccusation(t, "refuses nothing", idle.refuses(0), "")
	wantAccusation(t, "sends while idle", idle.sends(0, sliceOf(two, 65535, 0), 1037), "CON-2")
	wantAccusation(t, "gives up while idle", idle.fails(patient), "S15")
	wantAccusation(t, "may be idle for ever", idle.waits(100*patient, 0), "")
}

// The bucket has room for two slices, and time makes room for another.
func TestBudgetJudge(t *testing.T) {
	t.Parallel()
	chunk := chunkOf(5 * 1024)
	j := watchSender(pace{rule: "BUD-2", rate: 1065, capacity: 2 * 1065})
	_ = j.submits(0, chunk)
	for _, c := range []struct {
		at   micros
		rule string
	}{{0, ""}, {0, ""}, {second, ""}, {2*second - 1, "BUD-2"}} {
		wantAccusation(t, clock(c.at), j.sends(c.at, sliceOf(chunk, 65535, 0), 1037), c.rule)
	}
}

func TestReceiverJudge(t *testing.T) {
	t.Parallel()
	two := chunkOf(2000)
	first, last := sliceOf(two, 65535, 0), sliceOf(two, 65535, 1)
	const half, full = "half", "full"
	for name, c := range map[string]struct {
		has   string // of the chunk, when it is shown the rest
		rule  string
		wrong func(j *receiverJudge) *accusation
	}{
		"acks what is there":         {half, "", func(j *receiverJudge) *accusation { return j.sends(ackOf(65535, 2, 0)) }},
		"acks what is not there":     {half, "ACK-2", func(j *receiverJudge) *accusation { return j.sends(ackOf(65535, 2, 0, 1)) }},
		"does not ack what is there": {half, "ACK-2", func(j *receiverJudge) *accusation { return j.sends(ackOf(65535, 2, 1)) }},
		"acks another number":        {half, "RCV-16", func(j *receiverJudge) *accusation { return j.sends(ackOf(65535, 3, 0)) }},
		"acks another chunk":         {half, "RCV-4", func(j *receiverJudge) *accusation { return j.sends(ackOf(9, 2, 0)) }},
		"acks twice":                 {half, "ACQ-2", func(j *receiverJudge) *accusation { j.sends(ackOf(65535, 2, 0)); return j.sends(ackOf(65535, 2, 0)) }},
		"acks what is not due": {half, "RCV-16", func(j *receiverJudge) *accusation {
			j.hears(0, first)
			j.sends(ackOf(65535, 2, 0))
			return j.sends(ackOf(65535, 2, 0))
		}},
		"acks late": {half, "LIVE-1", func(j *receiverJudge) *accusation { return j.waits(ackWithin+1, 0) }},
		"does not ack again": {half, "LIVE-1", func(j *receiverJudge) *accusation {
			j.sends(ackOf(65535, 2, 0))
			j.hears(second, first)
			return j.waits(2*second, 0)
		}},
		"acks the whole late": {full, "LIVE-1", func(j *receiverJudge) *accusation { return j.waits(1, 0) }},
		"does not ack the one before": {full, "LIVE-1", func(j *receiverJudge) *accusation {
			j.sends(ackOf(65535, 2, 0, 1))
			j.hears(second, first)
			return j.waits(2*second, 0)
		}},
		"does not hold": {full, "LIVE-1", func(j *receiverJudge) *accusation {
			j.sends(ackOf(65535, 2, 0, 1))
			j.hears(0, sliceOf(chunkOf(1), 0, 0))
			return j.waits(second, 0)
		}},
		"holds": {full, "", func(j *receiverJudge) *accusation { j.hears(0, sliceOf(chunkOf(1), 0, 0)); return j.sends(ackOf(0, 1)) }},
		"acks what it should hold": {full, "RCV-16", func(j *receiverJudge) *accusation {
			j.hears(0, sliceOf(chunkOf(1), 0, 0))
			return j.sends(ackOf(0, 1, 0))
		}},
		"delivers":                        {full, "", func(j *receiverJudge) *accusation { return j.delivers(two) }},
		"delivers half":                   {half, "SAFE-1", func(j *receiverJudge) *accusation { return j.delivers(two[:1024]) }},
		"delivers other bytes":            {full, "SAFE-1", func(j *receiverJudge) *accusation { return j.delivers(two[:1999]) }},
		"delivers twice":                  {full, "SAFE-1", func(j *receiverJudge) *accusation { j.delivers(two); return j.delivers(two) }},
		"delivers what was not submitted": {full, "SAFE-1", func(j *receiverJudge) *accusation { j.course.submitted[0] = chunkOf(1999); return j.delivers(two) }},
		"delivers too many":               {full, "SAFE-1", func(j *receiverJudge) *accusation { j.course.submitted = nil; return j.delivers(two) }},
		"does not deliver":                {full, "SAFE-5", func(j *receiverJudge) *accusation { return j.refuses() }},
		"gives up early":                  {half, "RCV-9", func(j *receiverJudge) *accusation { return j.fails(patient - 1) }},
		"gives up on nothing":             {full, "R23", func(j *receiverJudge) *accusation { return j.fails(patient) }},
		"never gives up":                  {half, "LIVE-3", func(j *receiverJudge) *accusation { j.sends(ackOf(65535, 2, 0)); return j.waits(patient+1, 0) }},
		"keeps a slice":                   {half, "", func(j *receiverJudge) *accusation { return j.holds(1024 + 2048) }},
		"keeps a whole chunk":             {half, "BND-1", func(j *receiverJudge) *accusation { return j.holds(maxChunk) }},
	} {
		j := watchReceiver()
		j.hears(0, first)
		if c.has == full {
			j.hears(0, last)
		}
		wantAccusation(t, name, c.wrong(j), c.rule)
	}
}

// A wrong pin is left after half of the time to give up (RCV-7).
func TestReceiverJudgeRepins(t *testing.T) {
	t.Parallel()
	j := watchReceiver()
	j.hears(0, packet{chunk: 65535, slice: 0, slices: 9, data: make([]byte, 1024)})
	j.hears(patient/2-1, sliceOf(chunkOf(2000), 65535, 1))
	wantAccusation(t, "acks what conflicts", j.sends(ackOf(65535, 2, 1)), "RCV-16")
	j.hears(patient/2, sliceOf(chunkOf(2000), 65535, 1))
	wantAccusation(t, "acks the new pin", j.sends(ackOf(65535, 2, 1)), "")
}

func wantAccusation(t *testing.T, name string, got *accusation, rule string) {
	t.Helper()
	switch {
	case got == nil && rule != "":
		t.Errorf("%s: not accused of %s", name, rule)
	case got != nil && got.rule != rule:
		t.Errorf("%s: accused of %v, not of %q", name, got, rule)
	}
}

// What the judges read by hand is what the codec wrote.
func TestReadDatagram(t *testing.T) {
	t.Parallel()
	d := newDice(1, 0)
	framer := codec.NewFramer(9)
	for range 2000 {
		n := int(d.between(1, 256))
		s := codec.Slice{ChunkID: uint16(d.Uint32()), NumSlices: n, SliceID: d.IntN(n), Data: make([]byte, 1024)}
		if s.Last() {
			s.Data = s.Data[:d.between(1, 1024)]
		}
		b, _ := framer.AppendSlice(nil, s)
		p, err := readDatagram(9, b)
		if err != nil || p.chunk != s.ChunkID || p.slice != s.SliceID || p.slices != n || !bytes.Equal(p.data, s.Data) {
			t.Fatalf("%+v is read as %v, %v", s, p, err)
		}
		a := codec.Ack{ChunkID: s.ChunkID, NumSlices: n, Acked: codec.Bitset{d.Uint64(), d.Uint64(), d.Uint64(), d.Uint64()}.Intersect(codec.FirstN(n))}
		b, _ = framer.AppendAck(nil, a)
		p, err = readDatagram(9, b)
		if err != nil || p.chunk != a.ChunkID || p.slices != n || p.bits != a.Acked.Count() || p.data != nil {
			t.Fatalf("%+v is read as %v, %v", a, p, err)
		}
		for k := range p.acked {
			if p.acked[k] != a.Acked.Has(k) {
				t.Fatalf("bit %d of %+v", k, a)
			}
		}
		b[d.IntN(len(b))]++
		if _, err := readDatagram(9, b); err == nil {
			t.Fatalf("a changed datagram is read")
		}
	}
}

func TestFootprint(t *testing.T) {
	t.Parallel()
	type node struct {
		next *node
		data []*[1024]byte
	}
	ring := &node{data: make([]*[1024]byte, 2, 4)}
	ring.next = ring
	ring.data[0] = new([1024]byte)
	if got := footprint(ring); got != 1024+4*8+32 && got != 1024+4*4+16 {
		t.Errorf("it takes %d bytes", got)
	}
}
