package statemachine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// namedState is a state of the whole: the real machines, by value, what is in flight,
// and what an observer who sees both ends has counted.
type namedState struct {
	sender       namedSender   // its scheduler is the explorer's; what that knows is in sched
	receiver     namedReceiver // its slices are shared between states and never written to
	sched        namedScheduler
	slices, acks explore.Bag[exPacket]
	exCounts
}

// namedSender and namedReceiver are machines with their ledgers, by value.
type namedSender struct {
	Sender
	sentSet
}

type namedReceiver struct {
	Receiver
	receivedSet
}

func (st *namedState) parts() exParts {
	return exParts{&st.sender.Sender, &st.receiver.Receiver, &st.slices, &st.acks, &st.exCounts}
}

// attach gives the machines their ledgers, for an event; detach takes them away.
func (st *namedState) attach() {
	st.sender.ledger, st.receiver.ledger = &st.sender.sentSet, &st.receiver.receivedSet
}

func (st *namedState) detach() { st.sender.ledger, st.receiver.ledger = nil, nil }

// namedScheduler stands for all conforming schedulers: at every poll the explorer has it
// return nothing, or any of the slices that were not reported to it as acked.
type namedScheduler struct {
	NoPath
	unacked core.Set
	next    int // -1: nothing
}

func (s *namedScheduler) Begin(f Flight)                  { s.unacked, s.next = core.FirstN(f.NumSlices), -1 }
func (s *namedScheduler) Acked(_ core.Micros, p Progress) { s.unacked = s.unacked.Minus(p.News) }
func (s *namedScheduler) Held(core.Micros)                {}
func (s *namedScheduler) Deadline() core.Micros           { return core.Never }
func (s *namedScheduler) Stats() ScheduleStats            { return ScheduleStats{} }

func (s *namedScheduler) Next(core.Micros) (int, bool) {
	id := s.next
	s.next = -1
	return id, id >= 0
}

// namedWorld is the explore.World of named slices.
type namedWorld struct {
	exWorld
	st     *namedState // the one that is looked at
	before namedState

	// Scratch.
	sched   *namedScheduler
	pages   []*[codec.SliceSize]byte // every content that a slice has had, once
	scratch [codec.SliceSize]byte
}

func newNamedWorld(sc scenario) *namedWorld {
	w := &namedWorld{exWorld: newExWorld(sc), sched: &namedScheduler{}}
	w.ofKind, w.was = w, w.before.parts()
	return w
}

func (w *namedWorld) look(st *namedState) *namedWorld {
	w.st, w.now = st, st.parts()
	return w
}

// Start returns two new machines.
func (w *namedWorld) Start() (st namedState) {
	w.look(&st)
	w.newSender()
	w.newReceiver()
	st.detach()
	return st
}

func (w *namedWorld) Options(st *namedState, list []explore.Option[exMove]) []explore.Option[exMove] {
	return w.look(st).options(list)
}

// Apply makes a move: st becomes the state after it, folded.
func (w *namedWorld) Apply(st *namedState, m exMove) error {
	w.before = *st
	st.attach()
	err := w.look(st).applyMove(m)
	st.detach()
	if w.blind {
		return nil
	}
	return err
}

func (w *namedWorld) Check(st *namedState) error     { return w.look(st).check() }
func (w *namedWorld) Ended(st *namedState) bool      { return w.look(st).ended() }
func (w *namedWorld) Describe(st *namedState) string { return w.look(st).describe() }
func (w *namedWorld) Text(before, after *namedState, m exMove) string {
	return w.look(before).text(after.parts(), m)
}

// Key takes everything of a folded state that can make a difference.
func (w *namedWorld) Key(st *namedState) explore.Key {
	k := namedSenderKey(st)
	w.mixReceiver(&k, &st.receiver)
	st.slices.Mix(&k)
	st.acks.Mix(&k)
	k.Mix(uint64(st.submitted)<<32 | uint64(st.reported)<<24 | uint64(st.delivered)<<16 | uint64(st.forged)<<8 | uint64(st.restarted))
	return k
}

func namedSenderKey(st *namedState) (k explore.Key) {
	s := &st.sender
	k.Mix(uint64(s.state)<<16|uint64(s.chunkID), uint64(len(s.chunk))<<16|uint64(s.numSlices))
	k.Mix(uint64(s.heardAt))
	for _, set := range []core.Set{s.sent, s.acked, st.sched.unacked} {
		k.Mix(set[:]...)
	}
	return k
}

func (w *namedWorld) receiverKey(r *namedReceiver) (k explore.Key) {
	w.mixReceiver(&k, r)
	return k
}

// mixReceiver compares slices by where they are, since equal ones are kept once.
func (w *namedWorld) mixReceiver(k *explore.Key, r *namedReceiver) {
	k.Mix(uint64(r.state)<<16|uint64(r.chunkID), uint64(r.numSlices)<<32|uint64(r.previousSlices))
	k.Mix(r.received[:]...)
	k.Mix(uint64(r.progressAt))
	for _, page := range r.slices {
		k.Mix(uint64(w.pageNumber(page)))
	}
	k.Mix(uint64(len(r.slices)), uint64(r.lastSize)<<32|uint64(r.readSize))
	k.Mix(uint64(r.acks.At), uint64(r.acks.LastAt), uint64(r.acks.Unreported)<<32^uint64(r.acks.LastNew))
	k.MixBits(r.acks.SentOne, r.acks.AfterGap, r.pending.Current, r.pending.Previous, r.pending.Hold)
	k.Mix(uint64(r.heldSlices))
}

// page returns the one place where such content is kept.
func (w *namedWorld) page(content *[codec.SliceSize]byte) *[codec.SliceSize]byte {
	for _, p := range w.pages {
		if bytes.Equal(p[:], content[:]) {
			return p
		}
	}
	kept := *content
	w.pages = append(w.pages, &kept)
	return &kept
}

func (w *namedWorld) pageNumber(p *[codec.SliceSize]byte) int {
	for i, known := range w.pages {
		if known == p {
			return i + 1
		}
	}
	return 0
}

// A packet in flight has the number of slices, and the id of the slice or the bits of the ack.
func packed(chunkID uint16, numSlices, rest int) exPacket {
	return exPacket(chunkID)<<16 | exPacket(numSlices)<<8 | exPacket(rest)
}

func (p exPacket) numSlices() int { return int(p >> 8 & 255) }
func (p exPacket) rest() int      { return int(p & 255) }

func (w *namedWorld) packedAck(a codec.Ack) exPacket {
	return packed(a.ChunkID, a.NumSlices, int(a.Acked[0]))
}

func (w *namedWorld) ack(p exPacket) codec.Ack {
	return codec.Ack{ChunkID: p.chunkID(), NumSlices: p.numSlices(), Acked: core.Set{uint64(p.rest())}}
}

// slice returns a genuine packet as the slice that it is.
func (w *namedWorld) slice(p exPacket) codec.Slice {
	data := w.chunks[p.chunkID()-w.first][p.rest()*codec.SliceSize:]
	return codec.Slice{ChunkID: p.chunkID(), SliceID: p.rest(), NumSlices: p.numSlices(), Data: data[:min(len(data), codec.SliceSize)]}
}

// genuine reports whether a packet could be a slice of a chunk of this connection.
func (w *namedWorld) genuine(p exPacket) bool {
	return w.isGenuine(int(p.chunkID()-w.first), p.numSlices(), 0) && p.rest() < p.numSlices()
}

func (w *namedWorld) newSender() {
	w.st.sender = namedSender{Sender: *newSender(codec.Named, w.first, w.sched)}
	w.st.attach()
	w.st.sched = namedScheduler{next: -1}
	w.st.submitted, w.st.reported = 0, 0
	foldSender(w.now.s)
}

func (w *namedWorld) newReceiver() {
	w.st.receiver = namedReceiver{Receiver: *newReceiver(codec.Named, w.first)}
	w.st.attach()
	w.st.delivered = 0
	foldReceiver(w.now.r, 0)
}

func (w *namedWorld) lend() {
	*w.sched = w.st.sched
	w.sched.next = -1
}

func (w *namedWorld) takeBack() {
	w.st.sched = *w.sched
	w.st.sched.next = -1
}

func (w *namedWorld) sendable() core.Set { return w.st.sched.unacked }

func (w *namedWorld) submit(i int) error {
	if i < 0 {
		return w.now.s.Submit(present, nil)
	}
	return w.now.s.Submit(present, w.chunks[i])
}

// send has the sender send what its scheduler returns. A full network loses it.
func (w *namedWorld) send(id int) error {
	w.sched.next = id
	s, ok := w.now.s.Poll(present)
	p := packed(s.ChunkID, s.NumSlices, s.SliceID)
	if ok && w.genuine(p) && w.st.slices.Len() < w.slices {
		w.st.slices.Add(p)
	}
	err := w.afterSender(codec.Ack{})
	switch {
	case !ok:
		return fmt.Errorf("slice %d is not sent (SND-9)", id)
	case w.before.sender.acked.Has(id):
		return fmt.Errorf("slice %d is sent, though it is acked (SCH-1)", id)
	case s.SliceID != id || s.ChunkID != w.now.s.chunkID || !w.genuine(p) || !same(s.Data, w.slice(p).Data):
		return fmt.Errorf("the slice sent as %d of chunk %d is not slice %d as submitted (SND-14, SND-18)", s.SliceID, s.ChunkID, id)
	}
	return err
}

// same reports whether two slices are the same bytes at the same place.
func same(a, b []byte) bool { return len(a) == len(b) && &a[0] == &b[0] }

// What the receiver holds is always there.
func (w *namedWorld) wake(bool)        {}
func (w *namedWorld) sleep(bool, bool) {}

func (w *namedWorld) sliceArrives(s codec.Slice, _ bool) error {
	r := &w.st.receiver
	r.slices = append([]*[codec.SliceSize]byte(nil), r.slices...)
	if s.SliceID < len(r.slices) && r.slices[s.SliceID] != nil {
		w.scratch = *r.slices[s.SliceID]
		r.slices[s.SliceID] = &w.scratch
	}
	r.HandleSlice(present, s)
	if s.SliceID < len(r.slices) && r.slices[s.SliceID] != nil {
		r.slices[s.SliceID] = w.page(r.slices[s.SliceID])
	}
	return w.afterSlice(s)
}

// spoils reports whether a forgery would replace the number of slices of a genuine chunk.
func (w *namedWorld) spoils(forgery) bool {
	return w.now.r.state == ReceiverReceiving && halfPassed(w.now.r)
}

func (w *namedWorld) foreignAcks() []codec.Ack { return nil }

func (w *namedWorld) checkSender() error {
	s := &w.st.sender
	all := core.FirstN(s.numSlices)
	switch {
	case s.state != SenderSending && s.chunk != nil:
		return errors.New("a chunk is kept, though none is in flight")
	case s.state == SenderIdle && s.numSlices != 0:
		return errors.New("num_slices is not 0 in IDLE")
	case s.state != SenderSending:
		return nil
	case !same(s.chunk, w.chunks[w.st.submitted-1]):
		return errors.New("the chunk in flight is not the one submitted")
	case s.numSlices != w.sizes[w.st.submitted-1]:
		return fmt.Errorf("%d bytes are not %d slices (LIM-2)", len(s.chunk), s.numSlices)
	case !s.acked.Minus(s.sent).Empty() || !s.sent.Minus(all).Empty() || s.acked == all:
		return fmt.Errorf("sent %v, acked %v of %d slices (section 7.2)", s.sent, s.acked, s.numSlices)
	case w.st.sched.unacked != all.Minus(s.acked):
		return errors.New("the scheduler does not know what is acked (SND-12)")
	}
	return nil
}

// checkAcked: what the sender knows to have arrived has (SAFE-4).
func (w *namedWorld) checkAcked() error {
	if !w.atOneChunk() {
		return nil
	}
	has := w.st.receiver.received
	if w.now.r.state != ReceiverReceiving || !w.receivesGenuine() {
		has = core.Set{}
	}
	if acked := w.st.sender.acked; !acked.Minus(has).Empty() {
		return fmt.Errorf("acked %v, but the receiver has %v (SAFE-4)", acked, has)
	}
	return nil
}

func (w *namedWorld) checkReceiver() error {
	r := &w.st.receiver
	all := core.FirstN(r.numSlices)
	switch receiving := r.state == ReceiverReceiving; {
	case !receiving && (!r.received.Empty() || r.state == ReceiverFailed && r.slices != nil):
		return fmt.Errorf("%v with %v of %d slices (section 8.2)", r.state, r.received, r.numSlices)
	case r.state == ReceiverReady: // a complete chunk is here, whole (SAFE-5)
		index := w.completed() - 1
		return w.checkPages(index, core.FirstN(w.sizes[index]))
	case !receiving:
		return nil
	case r.received.Empty() || r.received == all || !r.received.Minus(all).Empty():
		return fmt.Errorf("RECEIVING with %v of %d slices (section 8.2)", r.received, r.numSlices)
	case r.acks.Unreported > r.received.Count():
		return fmt.Errorf("%d slices unreported of %v (AKT-3)", r.acks.Unreported, r.received)
	case !w.receivesGenuine():
		return nil
	}
	return w.checkPages(w.completed(), r.received)
}

// checkPages: the bytes held are the bytes sent.
func (w *namedWorld) checkPages(index int, received core.Set) error {
	r, chunk := &w.st.receiver, w.chunks[index]
	for id := range received.All() {
		want := chunk[id*codec.SliceSize:]
		want = want[:min(len(want), codec.SliceSize)]
		if id >= len(r.slices) || r.slices[id] == nil || !bytes.Equal(r.slices[id][:len(want)], want) {
			return fmt.Errorf("slice %d of chunk %d is not here as it was sent (SAFE-1)", id, w.first+uint16(index))
		}
	}
	return nil
}

func (w *namedWorld) checkSenderStep(row core.Row, a codec.Ack) error {
	before, s := &w.before.sender, &w.st.sender
	switch row {
	case "S1":
		if !s.sent.Empty() || !s.acked.Empty() {
			return fmt.Errorf("a chunk starts with sent %v, acked %v (SND-10)", s.sent, s.acked)
		}
	case "S13":
		if s.acked != before.acked || s.sent.Minus(before.sent).Count() > 1 || !before.sent.Minus(s.sent).Empty() {
			return errors.New("sending a slice changes more than that (SND-14)")
		}
	case "S9", "S10":
		if s.acked != before.acked.Union(a.Acked.Intersect(before.sent)) || s.sent != before.sent {
			return fmt.Errorf("acked %v and an ack of %v become %v (SAFE-3, SND-7)", before.acked, a.Acked, s.acked)
		}
	case "S15":
	default:
		if namedSenderKey(w.st) != namedSenderKey(&w.before) {
			return fmt.Errorf("%v changes the sender", row)
		}
	}
	return nil
}

// afterSlice checks the arrival of a slice.
func (w *namedWorld) afterSlice(s codec.Slice) error {
	r := &w.st.receiver
	row, progress, dueAt := r.row, r.progressAt, r.acks.At
	foldReceiver(w.now.r, present)
	if err := w.took(row, w.was.r.state, r.state); err != nil || w.st.restarted != 0 || w.blind {
		return err
	}
	want := w.wantedOfNamed(s)
	if err := w.checkAnswer(want, dueAt); err != nil {
		return fmt.Errorf("%v: %w", row, err)
	}
	switch {
	case want.adds != (progress == present):
		return fmt.Errorf("%v: stored %v, but progress_at %d (RCV-11)", row, want.adds, progress-present)
	case want.completes:
		if r.state != ReceiverReady || r.chunkID != s.ChunkID+1 || r.numSlices != 0 {
			return fmt.Errorf("%v: the chunk is not complete (RCV-12)", row)
		}
	case want.adds:
		if r.received != want.received || r.numSlices != s.NumSlices {
			return fmt.Errorf("%v: received %v of %d slices, not %v of %d (RCV-11)", row, r.received, r.numSlices, want.received, s.NumSlices)
		}
	case !w.undisturbed():
		return fmt.Errorf("%v changes what is received (SAFE-5, RCV-4, RCV-7, RCV-13, RCV-14)", row)
	}
	return nil
}

// wantedOfNamed works out what a slice must do in w.before.
func (w *namedWorld) wantedOfNamed(s codec.Slice) wanted {
	want := w.wantedOf(s)
	if want.answer != ofCurrent {
		return want
	}
	if !want.begins {
		want.received = w.before.receiver.received
	}
	want.adds = !want.received.Has(s.SliceID)
	want.received.Add(s.SliceID)
	if want.completes = want.received == core.FirstN(s.NumSlices); want.completes {
		want.answer = ofPrevious
	}
	return want
}

// undisturbed reports whether the receiver still has what it had, acks aside.
func (w *namedWorld) undisturbed() bool {
	was, is := w.before.receiver, w.st.receiver
	for _, r := range []*namedReceiver{&was, &is} {
		r.acks, r.pending, r.heldSlices = acktimer.Timer{}, PendingAcks{}, 0
	}
	return w.receiverKey(&was) == w.receiverKey(&is)
}

func (w *namedWorld) receiverUnchanged(event core.Row) error {
	if w.receiverKey(&w.st.receiver) != w.receiverKey(&w.before.receiver) {
		return fmt.Errorf("%v changes the receiver", event)
	}
	return nil
}

func (w *namedWorld) previousAck(a *codec.Ack) { a.Acked = core.FirstN(a.NumSlices) }
func (w *namedWorld) currentAck(a *codec.Ack)  { a.Acked = w.before.receiver.received }

func (w *namedWorld) texts() (sender, receiver string) {
	s, r := &w.st.sender, &w.st.receiver
	return fmt.Sprintf("acked %0*b", s.numSlices, s.acked[0]), fmt.Sprintf("received %0*b", r.numSlices, r.received[0])
}
