package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
)

// The lanes of one end by themselves, whatever comes: slices and acks of any form, calls of the application, marks,
// moves, times. They never send or ack without end, none is due that is not given, and no more chunks are done than
// were submitted.
//
// An input is the number of lanes, a limit and what else is set up, and then an operation, a lane and what it needs.
var targetLanes = newTarget("Lanes", "lanes of either kind take anything, neither send nor ack without end, and report no more chunks than were submitted", runLanes, seedLanes)

// oneEnd is the lanes of an end, and what is known of them.
type oneEnd struct {
	*lanes.Lanes
	script
	t               T
	repair          bool
	now             core.Micros
	submitted, done int
}

func runLanes(t T, data []byte) {
	o := &oneEnd{t: t, script: script{data}, now: core.Second}
	cfg := lanes.Config{Lanes: 1 + int(o.byte())%16, ReceiveLimit: int64(o.byte() % 5)}
	how := o.byte()
	cfg.Repair = how%2 == 0
	if how%3 == 0 {
		cfg.Rebuilds = new(lanes.Rebuilds)
	}
	if how%5 == 0 {
		cfg.MaxRate = 1_000_000
	}
	l, err := lanes.New(cfg)
	if err != nil {
		t.Fatalf("%+v: %v", cfg, err)
	}
	o.Lanes, o.repair = l, cfg.Repair
	for steps := 0; o.more() && steps < 600; steps++ {
		o.do(o.byte()%9, int(o.byte())%l.Len())
		o.settle()
	}
}

// do does what the script says, at a lane.
func (o *oneEnd) do(operation byte, lane int) {
	switch operation {
	case 0, 1:
		o.HandleSlice(o.now, lane, o.slice())
	case 2:
		o.HandleAck(o.now, lane, o.ack())
	case 3:
		if _, err := o.Submit(o.now, make([]byte, 1+int(o.byte())*1028)); err == nil {
			o.submitted++
		}
	case 4:
		o.now += 1 << (o.byte() % 28)
	case 5:
		o.Read(o.now, nil)
	case 6:
		if o.Withdraw(int64(o.byte())) {
			o.submitted--
		}
	case 7:
		o.ForgetPath(o.now)
		o.Yield(lane%2 == 0)
		o.Marked(o.now, 1+int(o.byte()))
	case 8:
		o.Hold(o.now + core.Micros(o.byte())*core.Millisecond)
		o.Expire(o.now)
	}
}

func (o *oneEnd) slice() codec.Slice {
	s := codec.Slice{NumSlices: 1 + int(o.byte()), SliceID: int(o.byte()) * 8, ChunkID: uint16(o.byte()%3) - 1, Data: make([]byte, codec.SliceSize)}
	if o.repair {
		s.LastBytes = 1 + int(o.byte())*4
		return s
	}
	s.SliceID %= s.NumSlices
	return s
}

func (o *oneEnd) ack() codec.Ack {
	a := codec.Ack{NumSlices: 1 + int(o.byte()), ChunkID: uint16(o.byte()%3) - 1}
	if have := int(o.byte()) % (a.NumSlices + 1); o.repair {
		a.Have, a.Top = have, int(o.byte())*8
	} else {
		a.Acked = core.FirstN(have)
	}
	return a
}

// settle lets the lanes send what is due.
func (o *oneEnd) settle() {
	o.t.Helper()
	for acks := 0; ; acks++ {
		if _, _, ok := o.PollAck(o.now); !ok {
			break
		}
		if acks > 1000 {
			o.t.Fatalf("acks without end")
		}
	}
	for sent := 0; ; sent++ {
		if _, _, ok := o.PollSlice(o.now); !ok {
			break
		}
		o.Spend(o.now, 1100)
		if sent > 5000 {
			o.t.Fatalf("slices without end")
		}
	}
	if at := o.AckDeadline(); at <= o.now && o.Err() == nil {
		o.t.Fatalf("at %d an ack is due since %d", o.now, at)
	}
	for {
		if _, ok := o.Finished(); !ok {
			break
		}
		o.done++
	}
	if o.done > o.submitted {
		o.t.Fatalf("%d chunks are done, of %d", o.done, o.submitted)
	}
}

// seedLanes sends chunks and lets slices come, with any number of lanes.
func seedLanes([]testvectors.File) (seeds [][]byte) {
	for how := range byte(30) {
		seed := []byte{how, how / 3, how, 3, 0, 5, 3, 1, 200, 4, 0, 14}
		for id := range byte(4) {
			seed = append(seed, 0, how%2, 3, id/(1+how%8), 1, 255, 2, 0, 5, 1, id, 40)
		}
		seeds = append(seeds, append(seed, 5, 0, 4, 0, 20+how%8, 7, 1, 3, 6, 0, 1, 8, 0, 9, 4, 0, 27, 3, 0, 1))
	}
	return seeds
}
