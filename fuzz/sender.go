package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// A sender is given acks, true, forged and foreign, between submits, polls and
// pauses, whatever its scheduler is. Its model and its judge watch. At last honest
// acks complete what is in flight, or it gives up.
//
// An input is a header: the first chunk id, 2 bytes, GIVE_UP, a byte, and a scheduler;
// and a script of operations, each a byte and what op reads.
var targetSender = newTarget("Sender", "a sender obeys its table, SCH-1 to SCH-3 and its budget, then completes", runSender, seedSenders)

func runSender(t T, data []byte) { runSenderOf(t, codec.Named, data) }

func runSenderOf(t T, kind codec.Kind, data []byte) {
	s := script{data}
	cfg := statemachine.SenderConfig{Kind: kind, FirstChunkID: s.uint16(), GiveUp: readGiveUp(&s)}
	scheduler := readSchedulerOf(t, kind, &s, func(*base.Profile) {})
	judge := chunk.NewSenderJudge(kind, &chunk.Stream{FirstID: cfg.FirstChunkID}, scheduler.pace, cfg.GiveUp, anyLate)
	cfg.Scheduler = scheduler.Scheduler
	cfg.Log = func(e eventlog.Event) {
		if v := judge.Logged(e); v != nil {
			t.Fatalf("%v", v)
		}
	}
	checked, err := chunk.NewCheckedSender(cfg, scheduler.model, t.Fatalf)
	if err != nil {
		t.Fatalf("%v", err)
	}
	b := &senderBench{
		T: t, kind: kind, JudgedSender: chunk.NewJudgedSender(checked, judge, t.Fatalf), judge: judge, rest: checked.Rest,
		giveUp: giveUpOf(cfg.GiveUp), pace: scheduler.pace,
	}
	for n := 0; s.more() && n < maxOps; n++ {
		b.op(&s)
	}
	b.finish()
}

// senderBench is a sender beside its model and its judge.
type senderBench struct {
	T
	kind codec.Kind
	*chunk.JudgedSender
	judge  *chunk.SenderJudge
	rest   func()
	giveUp core.Micros
	pace   chunk.Pace
	clock  core.Micros // the time of the next event, which may run backward
}

// op does one operation of the script.
func (b *senderBench) op(s *script) {
	b.Helper()
	v := b.Vars()
	a := codec.Ack{ChunkID: v.ChunkID, NumSlices: v.NumSlices}
	switch op := s.byte() % 20; op {
	case 0, 1:
		b.submit(readSize(s))
	case 2: // any size, also one that is refused
		b.submit(pick(s, []int{0, 1, codec.MaxChunkSize, codec.MaxChunkSize + 1, 2 * codec.MaxChunkSize, 3000, 70_000}))
	case 3, 4, 5: // some of what was sent
		b.ack(b.someSent(s, v))
	case 6: // all of what was sent
		b.ack(b.allSent(v))
	case 7: // forged: also what was never sent
		b.ack(b.forged(s, a))
	case 8: // foreign, valid or not
		b.ack(b.foreign(s, v.ChunkID))
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
		b.ack(b.forged(s, codec.Ack{ChunkID: s.uint16(), NumSlices: 1 + int(s.byte())}))
	}
}

// someSent reads an ack of some of what was sent; of repair slices in 256ths.
func (b *senderBench) someSent(s *script, v statemachine.SenderVars) codec.Ack {
	a := codec.Ack{ChunkID: v.ChunkID, NumSlices: v.NumSlices}
	if b.kind == codec.Named {
		a.Acked = v.Sent.Intersect(readBits(s))
		return a
	}
	a.Top = v.Transmissions * int(s.byte()) / 255 % erasure.MaxIDs
	a.Have = min(a.Top*int(s.byte())/255, max(v.NumSlices-1, 0))
	return a
}

// allSent is the ack of a receiver to which all has come that was sent.
func (b *senderBench) allSent(v statemachine.SenderVars) codec.Ack {
	a := codec.Ack{ChunkID: v.ChunkID, NumSlices: v.NumSlices}
	if b.kind == codec.Named {
		a.Acked = v.Sent
		return a
	}
	a.Have, a.Top = max(v.Have, min(v.Transmissions, v.NumSlices)), v.Transmissions
	if v.NumSlices > 0 && v.Transmissions >= erasure.MaxIDs {
		a.Top = v.NumSlices + (v.Transmissions-v.NumSlices)%(erasure.MaxIDs-v.NumSlices)
	}
	return a
}

// forged reads an ack of a chunk that may say anything.
func (b *senderBench) forged(s *script, a codec.Ack) codec.Ack {
	if b.kind == codec.Named {
		a.Acked = readBits(s).Intersect(core.FirstN(a.NumSlices))
		return a
	}
	a.Have, a.Top = int(s.uint16())%(a.NumSlices+2), int(s.uint16())%erasure.MaxIDs
	return a
}

// foreign reads an ack of any chunk, valid or not.
func (b *senderBench) foreign(s *script, chunkID uint16) codec.Ack {
	a := codec.Ack{ChunkID: chunkID + s.uint16(), NumSlices: int(int16(s.uint16()))}
	if b.kind == codec.Named {
		a.Acked = readBits(s)
		return a
	}
	a.Have, a.Top = int(int16(s.uint16())), int(int16(s.uint16()))
	return a
}

// readBits reads a set: its first 64 by 8 bytes, and the others by a byte of
// which each bit stands for 24.
func readBits(s *script) (set core.Set) {
	set[0] = s.uint64()
	rest := s.byte()
	for id := 64; id < codec.MaxSlices; id++ {
		if rest>>((id-64)/24)&1 == 1 {
			set.Add(id)
		}
	}
	return set
}

func (b *senderBench) pass(d core.Micros) { b.clock = min(b.clock+max(d, 0), 1<<61) }

// done ends an event.
func (b *senderBench) done(event string) {
	if verbose() {
		b.Logf("at %d, %s: %+v", b.clock, event, b.Vars())
	}
}

func (b *senderBench) submit(size int) {
	b.Helper()
	data := make([]byte, size)
	if size <= codec.MaxChunkSize {
		data = content(b.judge.ID(), size)
	}
	_ = b.Submit(b.clock, data) // which models and judge compare
	b.done("submit")
}

func (b *senderBench) ack(a codec.Ack) {
	b.Helper()
	b.HandleAck(b.clock, a)
	if v := b.Vars(); (v.Row == "S10" || v.Row == "T10") && v.ChunkID%2 == 0 {
		b.rest() // it may come at any time between chunks
	}
	b.done("ack")
}

// poll polls until nothing is due (SND-3).
func (b *senderBench) poll() {
	b.Helper()
	for ok := true; ok; {
		_, ok = b.Poll(b.clock)
		b.done("poll")
	}
}

// finish lets an honest peer ack at once whatever was sent. The chunk completes,
// unless the pace itself is slower than GIVE_UP.
func (b *senderBench) finish() {
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
		if v = b.Vars(); v.Transmissions > max(v.Have, v.Top) {
			b.ack(b.allSent(v))
		}
		if at := b.Deadline(); at != core.Never {
			b.pass(at - b.clock)
		}
	}
}

// seedSenders turns the traces of senders into scripts: each with its own profile,
// and in turn with an adaptive one.
func seedSenders(files []testvectors.File) (seeds [][]byte) {
	others := schedulerSeeds()[4:]
	for i, q := range requests[contract.SenderRequest](files, contract.OpSender) {
		head := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS))
		script := senderScript(q.Events)
		for _, scheduler := range [][]byte{profileSeed(q.Config.Profile), others[i%len(others)]} {
			seeds = append(seeds, append(append(head[:3:3], scheduler...), script...))
		}
	}
	for _, scheduler := range schedulerSeeds() { // a driver that is late, acks that stay away, holds
		head := append([]byte{0xff, 0xff, 1}, scheduler...)
		n := len(head)
		seeds = append(seeds,
			append(head[:n:n], 2, 6, 10, 6, 14, 40, 10, 14, 250, 10, 6, 14, 250, 10, 13, 9, 10, 14, 30, 16, 16, 6, 14, 90, 10, 10),
			append(head[:n:n], 0, 30, 9, 16, 16, 14, 20, 9, 16, 16, 16, 14, 250, 14, 250, 16, 9, 3, 255, 0, 255, 0, 255, 0, 255, 0, 255, 16, 16, 16))
	}
	return seeds
}

func senderScript(events []contract.Event) (out []byte) {
	now := int64(0)
	for _, e := range events {
		out = passBytes(out, 15, e.At-now)
		now = max(now, e.At)
		switch {
		case e.Event == "poll":
			out = append(out, 10)
		case e.Event == "submit" && e.Size != nil:
			out = append(out, submitSeed(*e.Size)...)
		case e.Event == "ack" && e.ChunkID != nil && e.Acked != nil:
			out = append(out, ackSeed(*e.ChunkID, *e.Acked)...)
		}
	}
	return out
}

// submitSeed is the operation for a chunk of a size.
func submitSeed(size int) []byte {
	switch {
	case size < 1:
		return []byte{2, 0}
	case size > codec.MaxChunkSize:
		return []byte{2, 3}
	}
	return append([]byte{0}, sizeBytes(size)...)
}

// ackSeed is the operation for an ack as traces have it.
func ackSeed(chunkID uint16, acked string) []byte {
	set, n, err := contract.ParseBits(acked)
	if err != nil {
		return nil
	}
	out := append(appendUint16([]byte{19}, chunkID), byte(n-1))
	out = appendUint32(appendUint32(out, uint32(set[0])), uint32(set[0]>>32))
	rest := byte(0)
	for group := range 8 {
		rest |= byte(asBit(set.Has(64+24*group))) << group
	}
	return append(out, rest)
}
