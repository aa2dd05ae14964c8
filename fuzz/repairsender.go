package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	simrepair "github.com/chunkwire/chunkwire/conform/sim/repair"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// A sender of repair slices is given acks, true, forged and foreign, between submits, polls
// and pauses, whatever its rule is. Its model and its judge watch. At last honest acks
// complete what is in flight, or it gives up.
//
// An input is that of the target Sender, with a rule as readRepairScheduler reads it, and the
// operations of repairSenderBench.op.
var targetRepairSender = newTarget("RepairSender", "a sender of repair slices obeys its table, sends each id once, keeps its pace, then completes", runRepairSender, seedRepairSenders)

func runRepairSender(t T, data []byte) {
	s := script{data}
	cfg := statemachine.SenderConfig{Kind: codec.Repair, FirstChunkID: s.uint16(), GiveUp: readGiveUp(&s)}
	scheduler := readRepairScheduler(t, &s)
	judge := simrepair.NewSenderJudge(&chunk.Stream{FirstID: cfg.FirstChunkID}, scheduler.pace, cfg.GiveUp, anyLate)
	cfg.Scheduler = scheduler.Scheduler
	cfg.Log = func(e eventlog.Event) {
		if v := judge.Logged(e); v != nil {
			t.Fatalf("%v", v)
		}
	}
	checked, err := simrepair.NewCheckedSender(cfg, t.Fatalf)
	if err != nil {
		t.Fatalf("%v", err)
	}
	b := &repairSenderBench{
		T: t, JudgedSender: simrepair.NewJudgedSender(checked, judge, t.Fatalf), judge: judge, rest: checked.Rest,
		giveUp: giveUpOf(cfg.GiveUp), pace: scheduler.pace,
	}
	for n := 0; s.more() && n < maxOps; n++ {
		b.op(&s)
	}
	b.finish()
}

// repairSenderBench is a sender beside its model and its judge.
type repairSenderBench struct {
	T
	*simrepair.JudgedSender
	judge  *simrepair.SenderJudge
	rest   func()
	giveUp core.Micros
	pace   chunk.Pace
	clock  core.Micros // the time of the next event, which may run backward
}

// op does one operation of the script.
func (b *repairSenderBench) op(s *script) {
	b.Helper()
	v := b.Vars()
	a := codec.Ack{ChunkID: v.ChunkID, NumSlices: v.NumSlices}
	switch op := s.byte() % 20; op {
	case 0, 1:
		b.submit(readSize(s))
	case 2: // any size, also one that is refused
		b.submit(pick(s, []int{0, 1, codec.MaxChunkSize, codec.MaxChunkSize + 1, 2 * codec.MaxChunkSize, 3000, 70_000}))
	case 3, 4, 5: // some of what was sent: in 256ths
		a.Top = v.Sent * int(s.byte()) / 255 % erasure.MaxIDs
		a.Have = min(a.Top*int(s.byte())/255, max(v.NumSlices-1, 0))
		b.ack(a)
	case 6: // all of what was sent
		b.ack(all(v))
	case 7: // forged: also what was never sent
		a.Have, a.Top = int(s.uint16())%(a.NumSlices+2), int(s.uint16())%erasure.MaxIDs
		b.ack(a)
	case 8: // foreign, valid or not
		b.ack(codec.Ack{ChunkID: v.ChunkID + s.uint16(), NumSlices: int(int16(s.uint16())), Have: int(int16(s.uint16())), Top: int(int16(s.uint16()))})
	case 9: // a hold
		b.ack(a)
	case 10, 11, 12:
		b.poll()
	case 13:
		b.pass(core.Micros(s.byte()))
	case 14:
		b.pass(core.Micros(s.byte()) * 1000)
	case 15:
		b.pass(core.Micros(s.uint32()))
	case 16, 17: // as a driver does
		if at := b.Deadline(); at <= 1<<61 {
			b.pass(at - b.clock)
		}
		b.poll()
	case 18: // the clock runs backward for one event
		later := b.clock
		b.clock = max(0, later-core.Micros(s.byte())*1000)
		b.poll()
		b.clock = later
	case 19: // an ack as traces have it
		b.ack(codec.Ack{ChunkID: s.uint16(), NumSlices: 1 + int(s.byte()), Have: int(s.uint16()) % 512, Top: int(s.uint16()) % erasure.MaxIDs})
	}
}

// all is the ack of a receiver to which all has come that was sent.
func all(v statemachine.SenderVars) codec.Ack {
	a := codec.Ack{ChunkID: v.ChunkID, NumSlices: v.NumSlices, Have: max(v.Have, min(v.Sent, v.NumSlices)), Top: v.Sent}
	if v.NumSlices > 0 && v.Sent >= erasure.MaxIDs {
		a.Top = v.NumSlices + (v.Sent-v.NumSlices)%(erasure.MaxIDs-v.NumSlices)
	}
	return a
}

func (b *repairSenderBench) pass(d core.Micros) { b.clock = min(b.clock+max(d, 0), 1<<61) }

// done ends an event.
func (b *repairSenderBench) done(event string) {
	if verbose() {
		b.Logf("at %d, %s: %+v", b.clock, event, b.Vars())
	}
}

func (b *repairSenderBench) submit(size int) {
	b.Helper()
	data := make([]byte, size)
	if size <= codec.MaxChunkSize {
		data = content(b.judge.ID(), size)
	}
	_ = b.Submit(b.clock, erasure.Encode(data)) // which models and judge compare
	b.done("submit")
}

func (b *repairSenderBench) ack(a codec.Ack) {
	b.Helper()
	b.HandleAck(b.clock, a)
	if v := b.Vars(); v.Row == "T10" && v.ChunkID%2 == 0 {
		b.rest() // it may come at any time between chunks
	}
	b.done("ack")
}

// poll polls until another row than T13 is taken (SND-3).
func (b *repairSenderBench) poll() {
	b.Helper()
	for ok := true; ok; {
		_, ok = b.Poll(b.clock)
		b.done("poll")
	}
}

// finish lets an honest peer ack at once whatever was sent. The chunk completes, unless
// the pace itself is slower than GIVE_UP.
func (b *repairSenderBench) finish() {
	b.Helper()
	for n := 0; b.judge.Busy(); n++ {
		v := b.Vars()
		if n > 2000 {
			b.Fatalf("no end: %+v", v)
		}
		late := b.clock >= v.HeardAt+b.giveUp
		b.poll()
		if b.Err() != nil {
			if !late && b.giveUp > b.pace.Longest {
				b.Fatalf("gave up on an honest peer")
			}
			return
		}
		if v = b.Vars(); v.Sent > v.Top {
			b.ack(all(v))
		}
		if at := b.Deadline(); at != core.Never {
			b.pass(at - b.clock)
		}
	}
}

// seedRepairSenders turns the traces of senders into scripts: each with its own profile, and
// in turn with another.
func seedRepairSenders(files []testvectors.File) (seeds [][]byte) {
	others := repairSchedulerSeeds()
	for i, q := range requests[contract.RepairSenderRequest](files, contract.OpRepairSender) {
		head := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS))
		script := repairSenderScript(q.Events)
		for _, scheduler := range [][]byte{repairProfileSeed(q.Config.Profile), others[i%len(others)]} {
			seeds = append(seeds, append(append(head[:3:3], scheduler...), script...))
		}
	}
	for _, scheduler := range others { // a driver that is late, acks that stay away, holds
		head := append([]byte{0xff, 0xff, 1}, scheduler...)
		n := len(head)
		seeds = append(seeds,
			append(head[:n:n], 2, 6, 10, 6, 14, 40, 10, 14, 250, 10, 6, 14, 250, 10, 13, 9, 10, 14, 30, 16, 16, 6, 14, 90, 10, 10),
			append(head[:n:n], 0, 30, 9, 16, 16, 14, 20, 9, 16, 16, 16, 14, 250, 14, 250, 16, 9, 3, 255, 120, 16, 3, 100, 100, 16, 16))
	}
	return seeds
}

func repairSenderScript(events []contract.RepairEvent) (out []byte) {
	now := int64(0)
	for _, e := range events {
		out = passBytes(out, 15, e.At-now)
		now = max(now, e.At)
		switch {
		case e.Event == "poll":
			out = append(out, 10)
		case e.Event == "submit" && e.Size != nil:
			out = append(out, submitSeed(*e.Size)...)
		case e.Event == "ack" && e.ChunkID != nil:
			out = append(appendUint16(append(out, 19), *e.ChunkID), byte(number(e.NumSlices)-1))
			out = appendUint16(appendUint16(out, uint16(number(e.Have))), uint16(number(e.Top)))
		}
	}
	return out
}
