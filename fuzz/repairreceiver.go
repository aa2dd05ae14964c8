package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	simrepair "github.com/chunkwire/chunkwire/conform/sim/repair"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// A receiver of repair slices is given slices, half of them genuine, between reads, polls and
// pauses. Its model and its judge watch. At last a genuine sender brings the current chunk
// over, or one of the two gives up.
//
// An input is that of the target Receiver, with the operations of repairReceiverBench.op.
var targetRepairReceiver = newTarget("RepairReceiver", "a receiver of repair slices does what the document's table says, within its bounds, then completes", runRepairReceiver, seedRepairReceivers)

func runRepairReceiver(t T, data []byte) {
	s := script{data}
	cfg := statemachine.ReceiverConfig{Kind: codec.Repair, FirstChunkID: s.uint16(), GiveUp: readGiveUp(&s)}
	r, err := simrepair.NewCheckedReceiver(cfg, t.Fatalf)
	if err != nil {
		t.Fatalf("%v", err)
	}
	judge := simrepair.NewReceiverJudge(&chunk.Stream{FirstID: cfg.FirstChunkID}, cfg.GiveUp, anyLate)
	b := &repairReceiverBench{
		T: t, JudgedReceiver: simrepair.NewJudgedReceiver(r, judge, t.Fatalf), judge: judge,
		giveUp: giveUpOf(cfg.GiveUp), sizes: [3]int{readSize(&s), readSize(&s), readSize(&s)},
	}
	for n := 0; s.more() && n < maxOps; n += 1 + b.Vars().NumSlices/32 { // elimination takes time
		b.op(&s)
	}
	if v := judge.Keeps(sim.Footprint(r.Receiver)); v != nil {
		t.Fatalf("%v", v)
	}
	b.finish()
}

// repairReceiverBench is a receiver beside its model and its judge, and what it was given.
type repairReceiverBench struct {
	T
	*simrepair.JudgedReceiver
	judge  *simrepair.ReceiverJudge
	giveUp core.Micros
	sizes  [3]int // of genuine chunks, by their id

	clock  core.Micros // the time of the next event, which may run backward
	latest core.Micros // the latest time that the receiver was given
	next   int         // the genuine id that is next in line
	forged bool        // something forged is stored in the current chunk
}

func (b *repairReceiverBench) genuine(chunkID uint16) *erasure.Encoded {
	return erasure.Encode(content(chunkID, b.sizes[chunkID%3]))
}

// op does one operation of the script.
func (b *repairReceiverBench) op(s *script) {
	b.Helper()
	v := b.Vars()
	switch op := s.byte() % 28; op {
	case 0, 1, 2, 3, 4, 5: // the next genuine slice
		b.next = (b.next + 1) % erasure.MaxIDs
		b.give(repairOf(v.ChunkID, b.genuine(v.ChunkID), b.next), false)
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
		b.next = -1 + int(s.byte()&1)*b.genuine(v.ChunkID).NumSlices()
	case 27: // some in line are lost
		b.next += int(s.byte())
	}
}

// any reads which genuine slice of a chunk: one of 64 behind the source slices, or of these.
func (b *repairReceiverBench) any(s *script, chunkID uint16) codec.Slice {
	e := b.genuine(chunkID)
	return repairOf(chunkID, e, int(s.byte())%(e.NumSlices()+64))
}

// forge makes a slice that no genuine sender of these chunks sends: one that is
// changed in a field, or is all the fuzzer's own.
func (b *repairReceiverBench) forge(op byte, s *script) codec.Slice {
	g := b.any(s, b.Vars().ChunkID)
	switch op {
	case 9: // another number of slices
		g.NumSlices = 1 + int(s.byte())
		g.Data = noise[1 : 1+repairSize(g)]
	case 10: // another content
		g.Data = noise[2 : 2+len(g.Data)]
	case 11: // another chunk
		g.ChunkID += s.uint16()
	case 12: // any valid slice, as traces have them
		g = codec.Slice{ChunkID: s.uint16(), ID: int(s.uint16()) % erasure.MaxIDs, NumSlices: 1 + int(s.byte()), LastBytes: 1 + int(s.uint16())%codec.SliceSize}
		from := int(s.byte()) * 4
		g.Data = noise[from : from+repairSize(g)]
	case 13: // one that no decoder returns
		g.NumSlices, g.ID, g.LastBytes = int(int16(s.uint16())), int(int16(s.uint16())), int(int16(s.uint16()))
		g.Data = noise[:int(s.uint16())%1026]
	case 24: // another last_bytes
		g.LastBytes = 1 + int(s.uint16())%codec.SliceSize
		g.Data = noise[3 : 3+repairSize(g)]
	}
	return g
}

// repairSize returns how many bytes of data a slice has.
func repairSize(s codec.Slice) int {
	if s.NumSlices == 1 || s.ID == s.NumSlices-1 {
		return s.LastBytes
	}
	return codec.SliceSize
}

// done ends an event.
func (b *repairReceiverBench) done(event string) {
	b.latest = max(b.latest, b.clock)
	if verbose() {
		b.Logf("at %d, %s: %+v", b.clock, event, b.Vars())
	}
}

func (b *repairReceiverBench) give(s codec.Slice, forged bool) {
	b.Helper()
	b.HandleSlice(b.clock, s)
	switch b.Vars().Row {
	case "U1", "U2", "U10", "U11":
		b.forged = forged
	case "U5", "U6":
		b.forged = b.forged || forged
	}
	b.done("slice")
}

// read reads behind what a buffer holds, as append does.
func (b *repairReceiverBench) read() []byte {
	b.Helper()
	got, _ := b.Read(b.clock, []byte("kept"))
	b.done("read")
	return bytes.TrimPrefix(got, []byte("kept"))
}

// poll polls until no ack comes.
func (b *repairReceiverBench) poll() {
	b.Helper()
	for ok := true; ok; {
		_, ok = b.Poll(b.clock)
		b.done("poll")
	}
}

// finish runs a genuine sender of the current chunk against the receiver, with a network
// that does all it should. If the receiver is not about to give up, and GIVE_UP is not too
// short, the chunk must come, with the genuine bytes unless something forged came first;
// otherwise the sender gives up and reports it. What came before may have a top that the
// sender never reaches: then it gives up, too.
func (b *repairReceiverBench) finish() {
	b.Helper()
	if b.judge.Full() {
		b.read()
	}
	b.clock = max(b.clock, b.latest)
	v := b.Vars()
	if v.State == statemachine.ReceiverReceiving && b.giveUp > maxWait {
		b.clock = max(b.clock, v.ProgressAt+b.giveUp/2) // a wrong form is replaced now (RCV-7)
	}
	e := b.genuine(v.ChunkID)
	sender, err := simrepair.NewCheckedSender(statemachine.SenderConfig{Kind: codec.Repair, FirstChunkID: v.ChunkID, GiveUp: b.giveUp, Scheduler: &simrepair.Plain{}}, b.Fatalf)
	if err == nil {
		err = sender.Submit(b.clock, e)
	}
	if err != nil {
		b.Fatalf("%v", err)
	}
	sure := b.giveUp >= enough && v.State == statemachine.ReceiverWaiting
	exchange(b.T, &b.clock, chunk.Outbound[codec.Packet](simrepair.Sender{SenderMachine: sender}), chunk.Inbound[codec.Packet](simrepair.Receiver{ReceiverMachine: answeringRepair{b}}),
		func() core.Micros { return sender.Vars().HeardAt + b.giveUp })
	b.outcome(sender, e.Bytes(), sure)
}

// answeringRepair is the receiver to which only genuine slices come now.
type answeringRepair struct{ *repairReceiverBench }

func (r answeringRepair) HandleSlice(_ core.Micros, s codec.Slice) bool {
	r.give(s, false)
	return true
}

// outcome is what must have come of it. A sure chunk had to come.
func (b *repairReceiverBench) outcome(sender *simrepair.CheckedSender, data []byte, sure bool) {
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

// seedRepairReceivers turns the traces of receivers into scripts: each slice with other
// bytes, reads, polls and pauses. Then come scripts of its own.
func seedRepairReceivers(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.RepairReceiverRequest](files, contract.OpRepairReceiver) {
		seed := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS), 2, 9, 0, 0, 1, 3)
		now := int64(0)
		for _, e := range q.Events {
			seed = passBytes(seed, 20, e.At-now)
			now = max(now, e.At)
			switch {
			case e.Event == "read":
				seed = append(seed, 14)
			case e.Event == "poll":
				seed = append(seed, 16)
			case e.Event == "slice" && e.ChunkID != nil:
				seed = appendUint16(appendUint16(append(seed, 12, 0), *e.ChunkID), uint16(number(e.SliceID)))
				seed = appendUint16(append(seed, byte(number(e.NumSlices)-1)), uint16(number(e.LastBytes)-1))
				seed = append(seed, byte(number(e.SliceID)))
			}
		}
		seeds = append(seeds, seed)
	}
	for _, forged := range []byte{9, 10, 11, 12, 13, 24} { // genuine slices with something forged between
		for _, giveUp := range []byte{1, 3, 6} {
			head := []byte{0xff, 0xff, giveUp, 5, 40, 0, 1, 255, 9}
			seeds = append(seeds,
				append(head[:9:9], forged, 3, 9, 0, 9, 0, 9, 0, 9, 21, 0, 0, 0, 21, 23, 0, 6, 1, 6, 2, 21, 14, 8, 0, 21, 23, 1, 6, 3),
				append(head[:9:9], 0, 21, 0, 21, forged, 1, 200, 1, 1, 4, 4, 4, 4, 21, 27, 2, 0, 0, 0, 0, 0, 14, 15, 21, 22, 9, 16))
		}
	}
	three := []byte{0, 0, 1, 2, 40, 2, 40, 2, 40} // chunks of three slices
	return append(seeds,
		append(three[:9:9], 6, 1, 6, 4, 6, 6, 21, 6, 4, 21, 6, 9, 8, 12, 21, 14, 6, 4, 6, 6, 6, 1, 6, 0, 14), // 6 depends on 1 and 4
		append(three[:9:9], 25, 252, 31, 0, 0, 0, 21, 25, 2, 0, 0, 0, 14),                                    // ids that wrap
		append(three[:9:9], 9, 0, 0, 23, 0, 9, 1, 0, 21, 14))                                                 // a form of one slice replaces another
}
