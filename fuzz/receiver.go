package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// A receiver is given slices, half of them genuine, between reads, polls and pauses.
// Its model and its judge watch. At last a genuine sender brings the current chunk
// over, or one of the two gives up.
//
// An input is a header: the first chunk id, 2 bytes, GIVE_UP, a byte, and the sizes of
// the genuine chunks, three times 2 bytes; and a script of operations, each a byte and
// what op reads.
var targetReceiver = newTarget("Receiver", "a receiver does what the specification's tables say, then completes", runReceiver, seedReceivers)

// maxOps bounds the work of one execution.
const maxOps = 400

// anyLate is how late the driver of a machine may be: as late as it likes.
const anyLate core.Micros = 1 << 61

func runReceiver(t T, data []byte) { runReceiverOf(t, codec.Named, data) }

func runReceiverOf(t T, kind codec.Kind, data []byte) {
	s := script{data}
	cfg := statemachine.ReceiverConfig{Kind: kind, FirstChunkID: s.uint16(), GiveUp: readGiveUp(&s)}
	r, err := chunk.NewCheckedReceiver(cfg, t.Fatalf)
	if err != nil {
		t.Fatalf("%v", err)
	}
	judge := chunk.NewReceiverJudge(kind, &chunk.Stream{FirstID: cfg.FirstChunkID}, cfg.GiveUp, anyLate)
	b := &receiverBench{
		T: t, kind: kind, JudgedReceiver: chunk.NewJudgedReceiver(r, judge, t.Fatalf), judge: judge,
		giveUp: giveUpOf(cfg.GiveUp), sizes: [3]int{readSize(&s), readSize(&s), readSize(&s)},
	}
	for n := 0; s.more() && n < maxOps; n += b.work() {
		b.op(&s)
	}
	if v := judge.Keeps(sim.Footprint(r.Receiver)); v != nil {
		t.Fatalf("%v", v)
	}
	b.finish()
}

// receiverBench is a receiver beside its model and its judge, and what it was given.
type receiverBench struct {
	T
	kind codec.Kind
	*chunk.JudgedReceiver
	judge  *chunk.ReceiverJudge
	giveUp core.Micros
	sizes  [3]int // of genuine chunks, by their id

	clock  core.Micros // the time of the next event, which may run backward
	latest core.Micros // the latest time that the receiver was given
	next   int         // the id of the genuine slice that is next in line
	forged bool        // something forged is stored in the current chunk
}

func (b *receiverBench) genuine(chunkID uint16) []byte {
	return content(chunkID, b.sizes[chunkID%3])
}

// work is how many operations the next one counts for: with repair slices elimination takes
// time.
func (b *receiverBench) work() int {
	if b.kind == codec.Named {
		return 1
	}
	return 1 + b.Vars().NumSlices/32
}

// slice returns the genuine slice of a chunk with an id.
func (b *receiverBench) slice(chunkID uint16, id int) codec.Slice {
	data := b.genuine(chunkID)
	if b.kind == codec.Named {
		return sliceOf(chunkID, data, id)
	}
	return repairOf(chunkID, erasure.Encode(data), id)
}

// operations is how many an input of a kind may ask for.
var operations = [...]byte{codec.Named: 24, codec.Repair: 28}

// op does one operation of the script.
func (b *receiverBench) op(s *script) {
	b.Helper()
	v := b.Vars()
	numSlices := codec.NumSlices(len(b.genuine(v.ChunkID)))
	switch op := s.byte() % operations[b.kind]; op {
	case 0, 1, 2, 3, 4, 5: // the next genuine slice
		ids := erasure.MaxIDs
		if b.kind == codec.Named {
			ids = numSlices
		}
		b.next = (b.next + 1) % ids
		b.give(b.slice(v.ChunkID, b.next), false)
	case 6, 7: // any genuine slice
		b.give(b.any(s, v.ChunkID), false)
	case 8: // one of the chunk before
		b.give(b.any(s, v.ChunkID-1), false)
	case 9, 10, 11, 12, 13, 24:
		b.give(b.forge(op, s), true)
	case 14, 15:
		b.read()
	case 16, 17:
		b.poll()
	case 18:
		b.clock += core.Micros(s.byte())
	case 19:
		b.clock += core.Micros(s.byte()) * 1000
	case 20:
		b.clock = min(b.clock+core.Micros(s.uint32()), 1<<61)
	case 21: // as a driver does
		if at := b.Deadline(); at <= 1<<61 {
			b.clock = max(b.clock, at)
		}
		b.poll()
	case 22: // the clock runs backward
		later := b.clock
		b.clock = max(0, b.clock-core.Micros(s.byte())*1000)
		b.poll()
		b.clock = later
	case 23: // half of GIVE_UP, when the form may be replaced, or just before
		b.clock = min(max(b.clock, v.ProgressAt+b.giveUp/2-core.Micros(s.byte()&1)), 1<<61)
	case 25: // the line goes on elsewhere
		b.next = int(s.uint16()) % erasure.MaxIDs
	case 26: // the line begins anew, or behind the source slices
		b.next = -1 + int(s.byte()&1)*numSlices
	case 27: // some in line are lost
		b.next += int(s.byte())
	}
}

// any reads which genuine slice of a chunk: with repair slices one of 64 behind the source
// slices, or of these.
func (b *receiverBench) any(s *script, chunkID uint16) codec.Slice {
	ids := codec.NumSlices(len(b.genuine(chunkID)))
	if b.kind == codec.Repair {
		ids += 64
	}
	return b.slice(chunkID, int(s.byte())%ids)
}

// forge makes a slice that no genuine sender of these chunks sends: one that is
// changed in a field, or is all the fuzzer's own.
func (b *receiverBench) forge(op byte, s *script) codec.Slice {
	g := b.any(s, b.Vars().ChunkID)
	switch {
	case op == 11: // another chunk
		g.ChunkID += s.uint16()
		return g
	case b.kind == codec.Repair:
		return forgeRepair(op, s, g)
	}
	return forgeNamed(op, s, g)
}

func forgeNamed(op byte, s *script, g codec.Slice) codec.Slice {
	switch op {
	case 9: // another number of slices
		g.NumSlices = 1 + int(s.byte())
		g.SliceID %= g.NumSlices
		g.Data = noise[1 : 1+codec.SliceSize]
	case 10: // another content, and in the last slice another length
		n := len(g.Data)
		if g.Last() {
			n = 1 + int(s.uint16())%codec.SliceSize
		}
		g.Data = noise[2 : 2+n]
	case 12: // any valid slice, as traces have them
		g = codec.Slice{ChunkID: s.uint16(), SliceID: int(s.byte()), NumSlices: 1 + int(s.byte())}
		g.SliceID %= g.NumSlices
		size := 1 + int(s.uint16())%codec.SliceSize
		if !g.Last() {
			size = codec.SliceSize
		}
		from := int(s.byte()) * 4
		g.Data = noise[from : from+size]
	case 13: // one that no decoder returns
		g.NumSlices = int(int16(s.uint16()))
		g.SliceID = int(int16(s.uint16()))
		g.Data = noise[:int(s.uint16())%1026]
	}
	return g
}

// done ends an event.
func (b *receiverBench) done(event string) {
	b.latest = max(b.latest, b.clock)
	if verbose() {
		b.Logf("at %d, %s: %+v", b.clock, event, b.Vars())
	}
}

func (b *receiverBench) give(s codec.Slice, forged bool) {
	b.Helper()
	b.HandleSlice(b.clock, s)
	switch b.Vars().Row {
	case "R1", "R2", "R9", "R10", "U1", "U2", "U10", "U11":
		b.forged = forged
	case "R5", "R6", "U5", "U6":
		b.forged = b.forged || forged
	}
	b.done("slice")
}

// read reads behind what a buffer holds, as append does.
func (b *receiverBench) read() []byte {
	b.Helper()
	got, _ := b.Read(b.clock, []byte("kept"))
	b.done("read")
	return bytes.TrimPrefix(got, []byte("kept"))
}

// poll polls until no ack comes.
func (b *receiverBench) poll() {
	b.Helper()
	for ok := true; ok; {
		_, ok = b.Poll(b.clock)
		b.done("poll")
	}
}

// enough is the GIVE_UP from which on the base algorithm, over a network without
// delay and loss, always gets a chunk across: a wrong num_slices leaves half of it,
// and a sender probes each 250 ms.
const enough = 1_000_000

// maxWait is the longest GIVE_UP of which a run waits for the half.
const maxWait = 60_000_000

// finish runs a genuine sender of the current chunk against the receiver, with a
// network that does all it should. If the receiver is not about to give up, and
// GIVE_UP is not too short, the chunk must come, with the genuine bytes unless
// something forged came first (SEC-1); otherwise the sender gives up and reports it. Of
// repair slices, what came before may have a top that the sender never reaches: then it gives
// up, too.
func (b *receiverBench) finish() {
	b.Helper()
	if b.judge.Full() {
		b.read()
	}
	b.clock = max(b.clock, b.latest)
	v := b.Vars()
	if v.State == statemachine.ReceiverReceiving && b.giveUp > maxWait {
		b.clock = max(b.clock, v.ProgressAt+b.giveUp/2) // a wrong num_slices is replaced now (RCV-7)
	}
	data := b.genuine(v.ChunkID)
	scheduler := scheduling{Scheduler: &chunk.Plain{}}
	if b.kind == codec.Named {
		scheduler = baseScheduling(b.T, base.Burst())
	}
	sender, err := chunk.NewCheckedSender(statemachine.SenderConfig{
		Kind: b.kind, FirstChunkID: v.ChunkID, GiveUp: b.giveUp, Scheduler: scheduler.Scheduler,
	}, scheduler.model, b.Fatalf)
	if err == nil {
		err = sender.Submit(b.clock, data)
	}
	if err != nil {
		b.Fatalf("%v", err)
	}
	sure := b.giveUp >= enough && (v.State == statemachine.ReceiverWaiting ||
		b.kind == codec.Named && v.State == statemachine.ReceiverReceiving && b.clock-v.ProgressAt <= b.giveUp/2)
	exchange(b.T, &b.clock, chunk.Sender{SenderMachine: sender}, chunk.Receiver{ReceiverMachine: answering{b}},
		func() core.Micros { return sender.HeardAt() + b.giveUp })
	b.outcome(sender, data, sure)
}

// answering is the receiver to which only genuine slices come now.
type answering struct{ *receiverBench }

func (r answering) HandleSlice(_ core.Micros, s codec.Slice) bool {
	r.give(s, false)
	return true
}

// exchange lets both ends do what is due, over a network without delay, until the
// sender is done. If nobody answers any more, only the end of its patience is left. It moves
// the clock.
func exchange(t T, clock *core.Micros, sender chunk.Sender, receiver chunk.Receiver, givesUpAt func() core.Micros) {
	t.Helper()
	ideal := sim.Steady[codec.Packet](0)
	w := sim.NewWorld(sim.Fates(&ideal, &ideal), sim.End[codec.Packet](shifted{sender, clock, *clock}), shifted{receiver, clock, *clock})
	w.Run(core.Never, func() bool {
		if w.Steps() > 200_000 {
			t.Fatalf("no end: sending %v", sender.Sending())
		}
		return !sender.Sending() || receiver.Err() != nil
	})
	for ok := sender.Sending(); ok; {
		*clock = max(*clock, givesUpAt())
		_, ok = sender.Poll(*clock)
	}
}

// shifted is an end of a world that begins at a time which may be later than worlds
// can be. It moves a clock.
type shifted struct {
	sim.End[codec.Packet]
	clock *core.Micros
	from  core.Micros
}

func (e shifted) Handle(now core.Micros, p codec.Packet) {
	*e.clock = e.from + now
	e.End.Handle(*e.clock, p)
}

func (e shifted) Poll(now core.Micros) (codec.Packet, bool) {
	*e.clock = e.from + now
	return e.End.Poll(*e.clock)
}

func (e shifted) Deadline() core.Micros {
	at := e.End.Deadline()
	if at == core.Never {
		return at
	}
	return at - e.from
}

// outcome is what must have come of it. A sure chunk had to come.
func (b *receiverBench) outcome(sender *chunk.CheckedSender, data []byte, sure bool) {
	b.Helper()
	switch {
	case sender.Err() != nil && sure:
		b.Fatalf("the sender gave up; the receiver is %v", b.Vars().State)
	case sender.Err() != nil:
	case !b.judge.Full():
		b.Fatalf("the sender is done, the receiver %v", b.Vars().State) // SAFE-2
	default:
		if got := b.read(); !b.forged && !bytes.Equal(got, data) {
			b.Fatalf("delivered %d bytes that are not the chunk", len(got))
		}
	}
}

// seedReceivers turns the traces of receivers into scripts: each slice exactly,
// reads, polls and pauses.
func seedReceivers(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.ReceiverRequest](files, contract.OpReceiver) {
		seed := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS), 2, 9, 0, 0, 1, 3)
		now := int64(0)
		for _, e := range q.Events {
			seed = passBytes(seed, 20, e.At-now)
			now = max(now, e.At)
			switch e.Event {
			case "read":
				seed = append(seed, 14)
			case "poll":
				seed = append(seed, 16)
			case "slice":
				if e.ChunkID == nil || e.SliceID == nil || e.NumSlices == nil || e.Size == nil {
					continue
				}
				seed = appendUint16(append(seed, 12, 0), *e.ChunkID)
				seed = appendUint16(append(seed, byte(*e.SliceID), byte(*e.NumSlices-1)), uint16(*e.Size-1))
				seed = append(seed, byte(*e.SliceID))
			}
		}
		seeds = append(seeds, seed)
	}
	for forged := byte(9); forged <= 13; forged++ { // genuine slices with something forged between
		for _, giveUp := range []byte{1, 3, 6} {
			head := []byte{0xff, 0xff, giveUp, 5, 40, 0, 1, 255, 9}
			seeds = append(seeds,
				append(head[:9:9], forged, 3, 9, 0, 9, 0, 9, 21, 0, 0, 0, 21, 23, 0, 6, 1, 6, 2, 21, 14, 8, 0, 21, 23, 1, 6, 3),
				append(head[:9:9], 0, 21, 0, 21, forged, 1, 200, 1, 1, 4, 4, 21, 0, 0, 0, 0, 14, 15, 21, 22, 9, 16))
		}
	}
	return seeds
}
