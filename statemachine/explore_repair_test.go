package statemachine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// repairState is a namedState of repair slices. What the receiver's code holds is kept as ids,
// in their order: their bytes follow from these, since a forged slice is only ever stored in
// a chunk of another form. Before an event of the receiver its code is made of them again.
type repairState struct {
	sender       repairSender // its scheduler is the explorer's; what that knows is in sched
	receiver     repairReceiver
	sched        repairScheduler
	held         heldIDs
	spareID      int16 // of the spare slice that the receiver keeps; -1: none
	spareBad     bool  // that was forged
	slices, acks explore.Bag[exPacket]
	exCounts
}

// repairSender and repairReceiver are machines with their ledgers, by value.
type repairSender struct {
	Sender
	sentCount
}

type repairReceiver struct {
	Receiver
	receivedRank
}

func (st *repairState) parts() exParts {
	return exParts{&st.sender.Sender, &st.receiver.Receiver, &st.slices, &st.acks, &st.exCounts}
}

// attach gives the machines their ledgers, for an event; detach takes them away.
func (st *repairState) attach() {
	st.sender.ledger, st.receiver.ledger = &st.sender.sentCount, &st.receiver.receivedRank
}

func (st *repairState) detach() { st.sender.ledger, st.receiver.ledger = nil, nil }

// heldIDs are up to three ids and one.
type heldIDs struct {
	n   uint8
	ids [3]uint16 // each and one; 0: none
}

func (h *heldIDs) list(dst []int) []int {
	for _, id := range h.ids[:h.n] {
		dst = append(dst, int(id)-1)
	}
	return dst
}

func (h *heldIDs) add(id int) {
	h.ids[h.n] = uint16(id + 1)
	h.n++
	slices.Sort(h.ids[:h.n])
}

func (h *heldIDs) has(id int) bool { return slices.Contains(h.ids[:h.n], uint16(id+1)) }

// repairScheduler stands for all conforming schedulers: at every poll the explorer has it let
// the next id be sent, or not. It knows what the sender told it.
type repairScheduler struct {
	NoPath
	numSlices, sent, have, top, next int
}

func (s *repairScheduler) Begin(f Flight)                  { *s = repairScheduler{numSlices: f.NumSlices} }
func (s *repairScheduler) Acked(_ core.Micros, p Progress) { s.have, s.top = p.Have, p.Top }
func (s *repairScheduler) Held(core.Micros)                {}
func (s *repairScheduler) Deadline() core.Micros           { return core.Never }
func (s *repairScheduler) Stats() (none ScheduleStats)     { return none }

func (s *repairScheduler) Next(core.Micros) (int, bool) {
	due := s.next
	s.next = 0
	s.sent += due
	return 0, due > 0
}

// repairWorld is the explore.World of repair slices.
type repairWorld struct {
	exWorld
	encoded []*erasure.Encoded
	st      *repairState // the one that is looked at
	before  repairState

	// Scratch.
	sched  *repairScheduler
	memory *Memory
	code   erasure.Decoder
	ids    []int
}

func newRepairWorld(sc scenario) *repairWorld {
	w := &repairWorld{exWorld: newExWorld(sc), sched: &repairScheduler{}, memory: &Memory{}}
	for _, chunk := range w.chunks {
		w.encoded = append(w.encoded, erasure.Encode(chunk))
	}
	w.ofKind, w.was = w, w.before.parts()
	return w
}

func (w *repairWorld) look(st *repairState) *repairWorld {
	w.st, w.now = st, st.parts()
	return w
}

// Start returns two new machines.
func (w *repairWorld) Start() (st repairState) {
	w.look(&st)
	w.newSender()
	w.newReceiver()
	st.detach()
	return st
}

func (w *repairWorld) Options(st *repairState, list []explore.Option[exMove]) []explore.Option[exMove] {
	return w.look(st).options(list)
}

// Apply makes a move: st becomes the state after it, folded.
func (w *repairWorld) Apply(st *repairState, m exMove) error {
	w.before = *st
	st.attach()
	err := w.look(st).applyMove(m)
	st.detach()
	if w.blind {
		return nil
	}
	return err
}

func (w *repairWorld) Check(st *repairState) error     { return w.look(st).check() }
func (w *repairWorld) Ended(st *repairState) bool      { return w.look(st).ended() }
func (w *repairWorld) Describe(st *repairState) string { return w.look(st).describe() }
func (w *repairWorld) Text(before, after *repairState, m exMove) string {
	return w.look(before).text(after.parts(), m)
}

// awake makes the receiver of a state whole, for an event that may look at what is held.
func (w *repairWorld) awake() {
	st, r := w.st, &w.st.receiver
	if r.state == ReceiverFailed {
		return
	}
	r.memory = w.memory
	w.ids = st.held.list(w.ids[:0])
	r.code, r.held = w.code, w.ids[:0]
	if st.held.n > 0 {
		w.fill()
	}
	if st.spareID >= 0 {
		r.spare.keep(&codec.Slice{SliceID: int(st.spareID), Data: w.spareData()}, w.memory)
	}
}

// fill puts what is held into the receiver's code.
func (w *repairWorld) fill() {
	st := w.st
	r := &st.receiver
	index, numSlices, lastBytes := w.completed(), r.numSlices, r.lastBytes
	if r.state == ReceiverReady {
		index--
		numSlices, lastBytes = r.previousSlices, (r.readSize-1)%erasure.SliceSize+1
	}
	r.code.Begin(numSlices, lastBytes, w.memory)
	forged := !w.isGenuine(index, numSlices, lastBytes)
	for _, id := range st.held.list(nil) {
		r.code.Add(id, w.data(index, id, numSlices, lastBytes, forged))
	}
	if r.state == ReceiverReady {
		r.code.Rebuild()
	} else {
		r.held = w.ids
	}
}

// asleep takes the receiver of a state apart again.
func (w *repairWorld) asleep() {
	st := w.st
	r := &st.receiver
	st.spareID = -1
	if r.state != ReceiverFailed {
		if r.spare.data != nil {
			st.spareID = int16(r.spare.id)
		} else {
			st.spareBad = false
		}
		r.spare.forget(w.memory)
		r.code.Release()
		w.code = r.code
	}
	r.code, r.held, r.memory = erasure.Decoder{}, nil, nil
}

// An ack needs to know only how many are held.
func (w *repairWorld) wake(whole bool) {
	if whole {
		w.awake()
		return
	}
	w.ids = w.st.held.list(w.ids[:0])
	w.st.receiver.held = w.ids
}

func (w *repairWorld) sleep(whole, ended bool) {
	w.st.receiver.held = nil
	if ended {
		w.st.held, w.st.spareBad = heldIDs{}, false
	}
	if whole {
		w.asleep()
	}
}

// data returns the bytes of a slice, genuine or forged.
func (w *repairWorld) data(index, id, numSlices, lastBytes int, forged bool) []byte {
	if forged {
		return forgedBytes(id, numSlices, lastBytes)
	}
	return w.encoded[index].Slice(id)
}

func (w *repairWorld) spareData() []byte {
	st := w.st
	r := &st.receiver
	return w.data(w.completed(), int(st.spareID), r.numSlices, r.lastBytes, st.spareBad || !w.receivesGenuine())
}

// Key takes everything of a folded state that can make a difference.
func (w *repairWorld) Key(st *repairState) explore.Key {
	k := repairSenderKey(st)
	mixRepairReceiver(&k, st)
	st.slices.Mix(&k)
	st.acks.Mix(&k)
	k.Mix(uint64(st.submitted)<<48|uint64(st.reported)<<40|uint64(st.delivered)<<32, uint64(st.forged)<<16|uint64(st.acked)<<8|uint64(st.restarted))
	return k
}

func repairSenderKey(st *repairState) (k explore.Key) {
	s, c := &st.sender, &st.sched
	k.Mix(uint64(s.state)<<48|uint64(s.chunkID)<<32|uint64(s.numSlices), uint64(s.sent)<<40|uint64(s.have)<<20|uint64(s.top))
	k.Mix(uint64(s.heardAt), uint64(c.numSlices)<<48|uint64(c.sent)<<32|uint64(c.have)<<16|uint64(c.top))
	k.MixBits(s.chunk != nil)
	return k
}

func repairReceiverKey(st *repairState) (k explore.Key) {
	mixRepairReceiver(&k, st)
	return k
}

func mixRepairReceiver(k *explore.Key, st *repairState) {
	r := &st.receiver
	k.Mix(uint64(r.state)<<16|uint64(r.chunkID), uint64(r.numSlices)<<48|uint64(r.lastBytes)<<32|uint64(r.top))
	k.Mix(uint64(r.progressAt), uint64(r.previousSlices)<<32|uint64(r.previousTop), uint64(r.readSize)<<32|uint64(r.heldSlices))
	h := &st.held
	k.Mix(uint64(h.n)<<48|uint64(h.ids[0])<<32|uint64(h.ids[1])<<16|uint64(h.ids[2]), uint64(uint16(st.spareID)))
	k.Mix(uint64(r.acks.At), uint64(r.acks.LastAt), uint64(r.acks.Unreported)<<32^uint64(uint32(r.acks.LastNew)))
	k.MixBits(r.acks.SentOne, r.acks.AfterGap, r.pending.Current, r.pending.Previous, r.pending.Hold, st.spareBad, r.compared)
}

// A packet in flight has the id of the slice or what the ack says.
func (w *repairWorld) packedAck(a codec.Ack) exPacket {
	return exPacket(a.ChunkID)<<16 | exPacket(a.NumSlices)<<12 | exPacket(a.Have)<<8 | exPacket(a.Top)
}

func packedSlice(s codec.Slice) exPacket {
	return exPacket(s.ChunkID)<<16 | exPacket(s.SliceID)
}

func (p exPacket) id() int { return int(p & 0xffff) }

func (w *repairWorld) ack(p exPacket) codec.Ack {
	return codec.Ack{ChunkID: p.chunkID(), NumSlices: int(p >> 12 & 15), Have: int(p >> 8 & 15), Top: int(p & 255)}
}

// slice returns a packet as the slice that it is.
func (w *repairWorld) slice(p exPacket) codec.Slice {
	e := w.encoded[p.chunkID()-w.first]
	return codec.Slice{ChunkID: p.chunkID(), SliceID: p.id(), NumSlices: e.NumSlices(), LastBytes: e.LastBytes(), Data: e.Slice(p.id())}
}

func (w *repairWorld) newSender() {
	st := w.st
	st.sender = repairSender{Sender: *newSender(codec.Repair, w.first, w.sched)}
	st.attach()
	st.sched = repairScheduler{}
	st.submitted, st.reported = 0, 0
	foldSender(&st.sender.Sender)
}

func (w *repairWorld) newReceiver() {
	st := w.st
	st.receiver = repairReceiver{Receiver: *check.Must(NewReceiver(ReceiverConfig{Kind: codec.Repair, FirstChunkID: w.first, Memory: w.memory})), receivedRank: receivedRank{shared: true}}
	st.attach()
	st.receiver.memory = nil
	st.delivered, st.held, st.spareID, st.spareBad = 0, heldIDs{}, -1, false
	foldReceiver(&st.receiver.Receiver, 0)
}

func (w *repairWorld) lend()     { *w.sched = w.st.sched }
func (w *repairWorld) takeBack() { w.st.sched = *w.sched }

// sendable: the next id can be sent, whatever it is.
func (w *repairWorld) sendable() core.Set { return core.FirstN(1) }

func (w *repairWorld) submit(i int) error {
	if i < 0 {
		return w.now.s.SubmitEncoded(present, erasure.Encode(nil))
	}
	return w.now.s.SubmitEncoded(present, w.encoded[i])
}

// send has the sender send the next id, or again the last one that it may: then another copy
// may arrive in its place. A full network loses it.
func (w *repairWorld) send(int) error {
	st := w.st
	w.sched.next = 1
	late := st.sender.sent == w.most
	if late {
		st.sender.sent, w.sched.sent = w.most-1, w.most-1
	}
	number := st.sender.sent
	s, ok := st.sender.Poll(present)
	if ok && st.slices.Len() < w.slices {
		p := packedSlice(s)
		if late {
			p = w.lacking(p)
		}
		st.slices.Add(p)
	}
	w.before.sender.sent, w.before.sched.sent = number, number
	err := w.afterSender(codec.Ack{})
	index := int(s.ChunkID - w.first)
	switch {
	case !ok:
		return errors.New("the next id is not sent (SND-9)")
	case s.SliceID != number || s.ChunkID != st.sender.chunkID || !w.isGenuine(index, s.NumSlices, s.LastBytes) || !bytes.Equal(s.Data, w.encoded[index].Slice(s.SliceID)):
		return fmt.Errorf("the slice sent as id %d of chunk %d is not the slice of number %d (SND-14, SND-18)", s.SliceID, s.ChunkID, number)
	}
	return err
}

// lacking returns the highest id of the chunk in flight that adds to what the receiver holds
// of it; else the slice that would be sent.
func (w *repairWorld) lacking(out exPacket) exPacket {
	st := w.st
	s, r := &st.sender, &st.receiver
	if r.chunkID != s.chunkID || r.state != ReceiverReceiving || r.numSlices != s.numSlices {
		return out
	}
	for id := w.most - 1; id >= 0; id-- {
		if w.adds(id) {
			return packedSlice(codec.Slice{ChunkID: s.chunkID, SliceID: id})
		}
	}
	return out
}

func (w *repairWorld) sliceArrives(s codec.Slice, forged bool) error {
	st := w.st
	r := &st.receiver
	if r.state != ReceiverReady || s.ChunkID != r.chunkID {
		w.awake() // else it is held
	}
	hadSpare := r.spare.data != nil
	r.HandleSlice(present, s)
	if !hadSpare && r.spare.data != nil {
		st.spareBad = forged
	}
	return w.afterSlice(s, forged)
}

// spoils reports whether a forged slice would end a genuine chunk: it replaces its form, or is
// stored in it. A chunk of one slice that is complete with it has then been delivered.
func (w *repairWorld) spoils(f forgery) bool {
	st := w.st
	r, s := &st.receiver, w.forgedSlice(f)
	if s.ChunkID != r.chunkID || r.state == ReceiverReady {
		return false
	}
	if !w.isGenuine(f.chunk, s.NumSlices, s.LastBytes) {
		return r.state == ReceiverReceiving && halfPassed(&r.Receiver)
	}
	return r.state != ReceiverReceiving || r.numSlices != s.NumSlices || r.lastBytes != s.LastBytes || !st.held.has(s.SliceID) && w.adds(s.SliceID)
}

// adds reports whether an id is independent of what the receiver holds.
func (w *repairWorld) adds(id int) bool {
	st := w.st
	ids := st.held.list(nil)
	return rankOf(st.receiver.numSlices, append(ids, id)...) > len(ids)
}

// foreignAcks are acks that are none of the sender's, each for another reason.
func (w *repairWorld) foreignAcks() []codec.Ack {
	st := w.st
	s := &st.sender
	k := max(s.numSlices, 1)
	return []codec.Ack{
		{ChunkID: s.chunkID + 1, NumSlices: k, Have: k, Top: s.sent},
		{ChunkID: s.chunkID, NumSlices: k + 1, Have: 1, Top: s.sent},
		{ChunkID: s.chunkID, NumSlices: k, Have: k, Top: s.sent + 1},
		{ChunkID: s.chunkID, NumSlices: k, Have: 1, Top: 0},
		{ChunkID: s.chunkID, NumSlices: k, Have: k + 1, Top: s.sent},
	}
}

func (w *repairWorld) checkSender() error {
	st := w.st
	s, c := &st.sender, &st.sched
	switch {
	case s.state != SenderSending && s.chunk != nil:
		return errors.New("a chunk is kept, though none is in flight")
	case s.state == SenderIdle && s.numSlices != 0:
		return errors.New("num_slices is not 0 in IDLE")
	case s.state != SenderSending:
		return nil
	case s.chunk != w.encoded[st.submitted-1] || s.numSlices != w.sizes[st.submitted-1]:
		return errors.New("the chunk in flight is not the one submitted")
	case s.have > s.top || s.top > s.sent || s.have >= s.numSlices:
		return fmt.Errorf("sent %d, acked %d below %d of %d slices", s.sent, s.have, s.top, s.numSlices)
	case c.numSlices != s.numSlices || c.sent != s.sent || c.have != s.have || c.top != s.top:
		return fmt.Errorf("the scheduler knows %+v (SND-12)", *c)
	}
	return nil
}

// checkAcked: what the sender knows to have arrived has (SAFE-4).
func (w *repairWorld) checkAcked() error {
	st := w.st
	s, r := &st.sender, &st.receiver
	if st.acked != 0 || w.sameNumber() || !w.atOneChunk() {
		return nil
	}
	have, top := int(st.held.n), r.top
	if r.state != ReceiverReceiving || !w.receivesGenuine() {
		have, top = 0, 0
	}
	if s.have > have || s.top > top {
		return fmt.Errorf("acked %d below %d, but the receiver has %d below %d (SAFE-4)", s.have, s.top, have, top)
	}
	return nil
}

// sameNumber reports whether a slice was forged that differs in last_bytes only: acks do not
// say that, so the sender takes those of a chunk that is forged for its own.
func (w *repairWorld) sameNumber() bool {
	st := w.st
	for i, f := range w.forged {
		if st.forged>>i&1 == 1 && f.chunk >= 0 && f.chunk < len(w.sizes) && f.numSlices == w.sizes[f.chunk] && f.lastBytes != 0 {
			return true
		}
	}
	return false
}

func (w *repairWorld) checkReceiver() error {
	st := w.st
	r, held := &st.receiver, st.held.list(nil)
	switch {
	case r.state == ReceiverReceiving && (len(held) == 0 || len(held) >= r.numSlices || rankOf(r.numSlices, held...) != len(held)):
		return fmt.Errorf("RECEIVING with %v of %d slices", held, r.numSlices)
	case r.state == ReceiverReceiving && r.top <= held[len(held)-1]:
		return fmt.Errorf("top is %d with %v", r.top, held)
	case r.state != ReceiverReceiving && r.top != 0:
		return fmt.Errorf("%v with a chunk below %d", r.state, r.top)
	}
	return nil
}

func (w *repairWorld) checkSenderStep(row core.Row, a codec.Ack) error {
	before, s := &w.before.sender, &w.st.sender
	switch row {
	case "T1":
		if s.sent != 0 || s.have != 0 || s.top != 0 {
			return fmt.Errorf("a chunk starts with sent %d, acked %d below %d (SND-10)", s.sent, s.have, s.top)
		}
	case "T13":
		if s.sent != before.sent+1 || s.have != before.have || s.top != before.top {
			return errors.New("sending a slice changes more than that (SND-14)")
		}
	case "T10", "T15":
		if s.sent != 0 || s.have != 0 || s.top != 0 || row == "T10" && (a.Have != before.numSlices || a.Top > before.sent) {
			return fmt.Errorf("%v with an ack of %+v leaves sent %d, acked %d below %d", row, a, s.sent, s.have, s.top)
		}
	case "T9":
		if s.have != max(before.have, a.Have) || s.top != max(before.top, a.Top) || s.sent != before.sent || a.Have > a.Top || a.Top > s.sent {
			return fmt.Errorf("acked %d below %d and an ack of %+v become %d below %d (SAFE-3)", before.have, before.top, a, s.have, s.top)
		}
	default:
		if repairSenderKey(w.st) != repairSenderKey(&w.before) {
			return fmt.Errorf("%v changes the sender", row)
		}
	}
	return nil
}

// wantedOfRepair works out what a slice must do in w.before.
func (w *repairWorld) wantedOfRepair(s codec.Slice, forged bool) wanted {
	st, want := &w.before, w.wantedOf(s)
	switch want.answer {
	case ofPrevious:
		return w.wantedOfSpare(s, forged)
	case noAnswer, ofHold:
		return want
	}
	var ids []int
	if !want.begins {
		ids = st.held.list(nil)
	}
	rank := rankOf(s.NumSlices, append(ids, s.SliceID)...)
	want.adds = rank > len(ids)
	if want.completes = rank == s.NumSlices; want.completes {
		want.answer = ofPrevious
		if st.spareID >= 0 && st.spareBad {
			want.mismatches++
		}
	}
	return want
}

// wantedOfSpare: in READY the first repair slice that was not needed is compared.
func (w *repairWorld) wantedOfSpare(s codec.Slice, forged bool) wanted {
	st := &w.before
	want := wanted{answer: ofPrevious}
	sameSize := (s.NumSlices-1)*erasure.SliceSize+s.LastBytes == st.receiver.readSize
	want.compared = st.receiver.state == ReceiverReady && !st.receiver.compared && s.SliceID >= s.NumSlices && sameSize && !st.held.has(s.SliceID)
	if want.compared && forged {
		want.mismatches = 1
	}
	return want
}

// afterSlice checks the arrival of a slice, and takes the receiver apart.
func (w *repairWorld) afterSlice(s codec.Slice, forged bool) error {
	st := w.st
	before, r := &w.before.receiver, &st.receiver
	want := w.wantedOfRepair(s, forged)
	if want.begins {
		st.held = heldIDs{}
	}
	if want.adds {
		st.held.add(s.SliceID)
	}
	row, progress, dueAt, mismatches, checked := r.row, r.progressAt, r.acks.At, int(r.Stats().Inconsistent), r.compared
	held, rebuilt := r.held, want.completes && !w.rebuilt(s)
	w.asleep()
	foldReceiver(&r.Receiver, present)
	if err := w.took(row, before.state, r.state); err != nil || st.restarted != 0 || w.blind {
		return err
	}
	if err := w.checkAnswer(want, dueAt); err != nil {
		return fmt.Errorf("%v: %w", row, err)
	}
	switch top := max(before.top, s.SliceID+1); {
	case want.adds != (progress == present):
		return fmt.Errorf("%v: adds %v, but progress_at %d (RCV-11)", row, want.adds, progress-present)
	case mismatches != want.mismatches || want.compared && !checked:
		return fmt.Errorf("%v: %d spare equations are wrong, not %d", row, mismatches, want.mismatches)
	case rebuilt:
		return fmt.Errorf("%v: the chunk differs from the submitted one (SAFE-1)", row)
	case want.completes:
		if r.state != ReceiverReady || r.chunkID != s.ChunkID+1 || r.previousTop != top {
			return fmt.Errorf("%v: the chunk is not complete, or its top %d not %d (RCV-12)", row, r.previousTop, top)
		}
	case want.answer == ofCurrent:
		if want.begins {
			top = s.SliceID + 1
		}
		if len(held) != int(st.held.n) || r.numSlices != s.NumSlices || r.top != top {
			return fmt.Errorf("%v: %v of %d slices are held below %d, not %v below %d (RCV-11)", row, held, r.numSlices, r.top, st.held.list(nil), top)
		}
	case !w.undisturbed():
		return fmt.Errorf("%v changes what is received (SAFE-5, RCV-4, RCV-7, RCV-13, RCV-14)", row)
	}
	return nil
}

// rebuilt reports whether the code has rebuilt the chunk that was submitted.
func (w *repairWorld) rebuilt(s codec.Slice) bool {
	st := w.st
	all := bytes.Buffer{}
	for _, p := range st.receiver.code.Rebuild() {
		all.Write(p[:])
	}
	chunk := w.chunks[min(int(s.ChunkID-w.first), len(w.chunks)-1)]
	return bytes.HasPrefix(all.Bytes(), chunk)
}

// undisturbed reports whether the receiver still has what it had, acks and spare equations
// aside.
func (w *repairWorld) undisturbed() bool {
	was, is := w.before, *w.st
	for _, st := range []*repairState{&was, &is} {
		r := &st.receiver
		r.acks, r.pending, r.heldSlices, r.compared = acktimer.Timer{}, PendingAcks{}, 0, false
	}
	return repairReceiverKey(&was) == repairReceiverKey(&is)
}

func (w *repairWorld) receiverUnchanged(event core.Row) error {
	if repairReceiverKey(w.st) != repairReceiverKey(&w.before) {
		return fmt.Errorf("%v changes the receiver", event)
	}
	return nil
}

func (w *repairWorld) previousAck(a *codec.Ack) {
	a.Have, a.Top = a.NumSlices, w.before.receiver.previousTop
}

func (w *repairWorld) currentAck(a *codec.Ack) {
	a.Have, a.Top = int(w.before.held.n), w.before.receiver.top
}

func (w *repairWorld) texts() (sender, receiver string) {
	s := &w.st.sender
	return fmt.Sprintf("sent %d, acked %d below %d", s.sent, s.have, s.top), fmt.Sprintf("held %v, top %d", w.st.held.list(nil), w.st.receiver.top)
}

// rankOf is the rank of ids by plain elimination.
func rankOf(k int, ids ...int) int {
	d := repairoracle.NewDecoder(int64(k), 1)
	for _, id := range ids {
		d.Add(int64(id), nil)
	}
	return int(d.Rank())
}
