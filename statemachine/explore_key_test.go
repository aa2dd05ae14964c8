package statemachine

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// exKey stands for a state, of a million million of which no two have the same
// but with a probability below 10^-14.
type exKey [2]uint64

func (k *exKey) mix(word uint64) {
	k[0] = (k[0] ^ word) * 0x9e3779b97f4a7c15
	k[0] ^= k[0] >> 32
	k[1] = (k[1] ^ word) * 0xd6e8feb86659fd93
	k[1] ^= k[1] >> 29
}

func (k *exKey) mixSet(b codec.Bitset) {
	k.mix(b[0])
	k.mix(b[1] ^ b[2]<<1 ^ b[3]<<2)
}

func (k *exKey) mixBits(bits ...bool) {
	var word uint64
	for _, b := range bits {
		word <<= 1
		if b {
			word |= 1
		}
	}
	k.mix(word)
}

// mixSender takes every variable of a folded sender that can make a difference.
func (k *exKey) mixSender(s *Sender, sched *anyScheduler) {
	k.mix(uint64(s.state)<<16 | uint64(s.chunkID))
	k.mix(uint64(len(s.chunk))<<16 | uint64(s.numSlices))
	k.mixSet(s.sent)
	k.mixSet(s.acked)
	k.mixSet(sched.unacked)
	k.mix(uint64(s.heardFromAt))
}

// mixReceiver does the same for a folded receiver. Its slices are compared by
// where they are, since equal ones are kept once.
func (k *exKey) mixReceiver(r *Receiver, number func(*[codec.SliceSize]byte) int) {
	k.mix(uint64(r.state)<<16 | uint64(r.chunkID))
	k.mix(uint64(r.numSlices)<<32 | uint64(r.previousSlices))
	k.mixSet(r.received)
	k.mix(uint64(r.progressAt))
	for _, page := range r.slices {
		k.mix(uint64(number(page)))
	}
	k.mix(uint64(len(r.slices)))
	k.mix(uint64(r.lastBytes)<<32 | uint64(r.readSize))
	k.mix(uint64(r.acks.at))
	k.mix(uint64(r.acks.lastAt))
	k.mix(uint64(r.acks.unreported)<<32 ^ uint64(r.acks.lastNew))
	k.mixBits(r.acks.sentOne, r.acks.afterGap, r.pending.current, r.pending.previous, r.pending.hold)
	k.mix(uint64(r.heldSlices))
}

func (k *exKey) mixChannel(c *exChannel) {
	k.mix(uint64(c.n))
	k.mix(uint64(c.packets[0])<<32 | uint64(c.packets[1]))
	k.mix(uint64(c.packets[2])<<32 | uint64(c.packets[3]))
}

// key returns the key of a folded state.
func (e *explorer) key(st *exState) exKey {
	k := e.senderKey(st)
	k.mixReceiver(&st.receiver, e.pageNumber)
	k.mixChannel(&st.slices)
	k.mixChannel(&st.acks)
	k.mix(uint64(st.submitted)<<32 | uint64(st.reported)<<24 | uint64(st.delivered)<<16 | uint64(st.forged)<<8 | uint64(st.restarted))
	return k
}

func (e *explorer) senderKey(st *exState) (k exKey) {
	k.mixSender(&st.sender, &st.sched)
	return k
}

func (e *explorer) receiverKey(st *exState) (k exKey) {
	k.mixReceiver(&st.receiver, e.pageNumber)
	return k
}

// States with the same key are the same, in every variable of the machines. A
// variable that a machine gets one day must be in the key, or be folded away.
func TestExploreTakesNoTwoStatesForOne(t *testing.T) {
	e := newExplorer(scenario{first: 65535, sizes: []int{sizeOf(3), sizeOf(1)}, slices: 1, acks: 1,
		giveUps: true, forged: []forgery{{0, 0, 2}}, limit: 100_000})
	e.keep = map[uint32]exState{}
	if e.visitAll(); e.problem != nil {
		t.Fatal(e.story())
	}
	must(t, len(e.keep) == len(e.from), "all states are kept")
}

// compare makes sure that a state is the one that was found with its key.
func (e *explorer) compare(st *exState, n uint32, m exMove) {
	if was := e.keep[n]; !reflect.DeepEqual(*st, was) {
		e.problem = &problem{fmt.Sprintf("two states have the same key:\n%+v\n%+v", was, *st), e.parent, &m}
	}
}
