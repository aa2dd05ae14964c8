package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"slices"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

// exState is a state of the whole: the real machines, by value, what is in flight, and what
// an observer who sees both ends has counted. What the receiver's code holds is kept as ids,
// in their order: their bytes follow from these, since a forged slice is only ever stored in
// a chunk of another form. Before an event of the receiver its code is made of them again.
type repairExState struct {
	sender    repairExSender // its scheduler is the explorer's; what that knows is in sched
	receiver  repairExReceiver
	sched     repairAnyScheduler
	held      heldIDs
	spareID   int16 // of the spare slice that the receiver keeps; -1: none
	spareBad  bool  // that was forged
	slices    explore.Bag[repairExPacket]
	acks      explore.Bag[repairExPacket]
	submitted uint8
	reported  uint8 // chunks that the sender said were delivered
	delivered uint8 // chunks that were read
	forged    uint8 // which forged slices have come
	acked     uint8 // which forged acks have
	restarted uint8 // which ends have
}

// repairExSender and repairExReceiver are machines with their ledgers, by value.
type repairExSender struct {
	Sender
	sentCount
}

type repairExReceiver struct {
	Receiver
	receivedRank
}

// attach gives the machines their ledgers, for an event; detach takes them away.
func (st *repairExState) attach() {
	st.sender.ledger, st.receiver.ledger = &st.sender.sentCount, &st.receiver.receivedRank
}

func (st *repairExState) detach() { st.sender.ledger, st.receiver.ledger = nil, nil }

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

// anyScheduler stands for all conforming schedulers: at every poll the explorer has it let
// the next id go out, or not. It knows what the sender told it.
type repairAnyScheduler struct {
	NoPath
	numSlices, sent, have, top, next int
}

func (s *repairAnyScheduler) Begin(f Flight)                  { *s = repairAnyScheduler{numSlices: f.NumSlices} }
func (s *repairAnyScheduler) Acked(_ core.Micros, p Progress) { s.have, s.top = p.Have, p.Top }
func (s *repairAnyScheduler) Held(core.Micros)                {}
func (s *repairAnyScheduler) Deadline() core.Micros           { return core.Never }
func (s *repairAnyScheduler) Stats() (none ScheduleStats)     { return none }

func (s *repairAnyScheduler) Next(core.Micros) (int, bool) {
	due := s.next
	s.next = 0
	s.sent += due
	return 0, due > 0
}

// awake makes the receiver of a state whole, for an event that may look at what is held.
func (w *repairExWorld) awake(st *repairExState) *repairExReceiver {
	r := &st.receiver
	if r.state == ReceiverFailed {
		return r
	}
	r.memory = w.memory
	w.ids = st.held.list(w.ids[:0])
	r.code, r.held = w.code, w.ids[:0]
	if st.held.n > 0 {
		w.fill(st)
	}
	if st.spareID >= 0 {
		r.spare.keep(&codec.Slice{SliceID: int(st.spareID), Data: w.spareData(st)}, w.memory)
	}
	return r
}

// fill puts what is held into the receiver's code.
func (w *repairExWorld) fill(st *repairExState) {
	r := &st.receiver
	index, numSlices, lastBytes := w.completed(st), r.numSlices, r.lastBytes
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
func (w *repairExWorld) asleep(st *repairExState) {
	r := &st.receiver
	st.spareID = -1
	if r.state != ReceiverFailed {
		if r.spare.data != nil {
			st.spareID = int16(r.spare.id)
		} else {
			st.spareBad = false
		}
		checked := r.spare.checked
		r.spare.forget(w.memory)
		r.spare.checked = checked
		r.code.Release()
		w.code = r.code
	}
	r.code, r.held, r.memory = erasure.Decoder{}, nil, nil
}

// isGenuine reports whether a form is that of a chunk of this connection.
func (w *repairExWorld) isGenuine(index, numSlices, lastBytes int) bool {
	return index >= 0 && index < len(w.chunks) && numSlices == w.sizes[index] && lastBytes == w.encoded[index].LastBytes()
}

var repairForgedData = chunktest.Chunk(erasure.SliceSize, 99)

// data returns the bytes of a slice, genuine or forged.
func (w *repairExWorld) data(index, id, numSlices, lastBytes int, forged bool) []byte {
	if forged {
		if numSlices == 1 || id == numSlices-1 {
			return repairForgedData[:lastBytes]
		}
		return repairForgedData
	}
	return w.encoded[index].Slice(id)
}

func (w *repairExWorld) spareData(st *repairExState) []byte {
	r := &st.receiver
	index := w.completed(st)
	return w.data(index, int(st.spareID), r.numSlices, r.lastBytes, st.spareBad || !w.isGenuine(index, r.numSlices, r.lastBytes))
}

// Key takes everything of a folded state that can make a difference.
func (w *repairExWorld) Key(st *repairExState) explore.Key {
	k := repairSenderKey(st)
	mixReceiver(&k, st)
	st.slices.Mix(&k)
	st.acks.Mix(&k)
	k.Mix(uint64(st.submitted)<<48|uint64(st.reported)<<40|uint64(st.delivered)<<32, uint64(st.forged)<<16|uint64(st.acked)<<8|uint64(st.restarted))
	return k
}

func repairSenderKey(st *repairExState) (k explore.Key) {
	s, c := &st.sender, &st.sched
	k.Mix(uint64(s.state)<<48|uint64(s.chunkID)<<32|uint64(s.numSlices), uint64(s.sent)<<40|uint64(s.have)<<20|uint64(s.top))
	k.Mix(uint64(s.heardAt), uint64(c.numSlices)<<48|uint64(c.sent)<<32|uint64(c.have)<<16|uint64(c.top))
	k.MixBits(s.chunk != nil)
	return k
}

func receiverKey(st *repairExState) (k explore.Key) {
	mixReceiver(&k, st)
	return k
}

func mixReceiver(k *explore.Key, st *repairExState) {
	r := &st.receiver
	k.Mix(uint64(r.state)<<16|uint64(r.chunkID), uint64(r.numSlices)<<48|uint64(r.lastBytes)<<32|uint64(r.top))
	k.Mix(uint64(r.progressAt), uint64(r.previousSlices)<<32|uint64(r.previousTop), uint64(r.readSize)<<32|uint64(r.heldSlices))
	h := &st.held
	k.Mix(uint64(h.n)<<48|uint64(h.ids[0])<<32|uint64(h.ids[1])<<16|uint64(h.ids[2]), uint64(uint16(st.spareID)))
	k.Mix(uint64(r.acks.At), uint64(r.acks.LastAt), uint64(r.acks.Unreported)<<32^uint64(uint32(r.acks.LastNew)))
	k.MixBits(r.acks.SentOne, r.acks.AfterGap, r.pending.Current, r.pending.Previous, r.pending.Hold, st.spareBad, r.spare.checked)
}
