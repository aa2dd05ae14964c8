package explore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
)

// The alternating bit protocol: a message goes out with a bit until an ack with that
// bit comes; the receiver takes a message with the bit that it expects, and acks every
// message with its bit. Four messages, one packet in flight each way.

type state struct {
	acked, delivered uint8
	data, acks       explore.Bag[uint32] // bits
	owed             int8                // the bit of the ack that is due; -1: none
	resends          uint8               // that nobody looks at
}

type move uint8

const (
	send move = iota
	dataArrives
	dataLost
	ack
	ackArrives
	ackLost
	ackTwice
	poke // an ack of another bit arrives
)

func (m move) String() string {
	return [...]string{"send", "data arrives", "data lost", "ack", "ack arrives", "ack lost", "ack twice", "poke"}[m]
}

// world is the protocol, with a mistake.
type world struct{ mistake string }

const messages = 4

func (w *world) Start() state { return state{owed: -1} }

func (w *world) Key(s *state) (k explore.Key) {
	k.Mix(uint64(s.acked), uint64(uint8(s.owed)))
	if w.mistake != "a field is not in the key" {
		k.Mix(uint64(s.delivered))
	}
	k.MixBits(s.acked > s.delivered, s.owed >= 0)
	s.data.Mix(&k)
	s.acks.Mix(&k)
	return k
}

func (w *world) Options(s *state, list []explore.Option[move]) []explore.Option[move] {
	can := func(m move, fair bool, rank uint8) {
		list = append(list, explore.Option[move]{Move: m, Fair: fair, Benign: rank})
	}
	sendRank := uint8(3)
	if w.mistake == "the sender sends without end" {
		sendRank = 1
	}
	if s.acked < messages && (w.mistake != "nothing is sent again" || s.delivered == s.acked && s.data.Len() == 0 && s.owed < 0) {
		can(send, true, sendRank)
	}
	for range s.data.Distinct() {
		can(dataArrives, true, 1)
		can(dataLost, false, 0)
	}
	if s.owed >= 0 {
		can(ack, true, 2)
	}
	for range s.acks.Distinct() {
		can(ackArrives, true, 1)
		can(ackLost, false, 0)
		if s.acks.Len() < explore.MaxBag {
			can(ackTwice, false, 0)
		}
	}
	return append(list, explore.Option[move]{Move: poke, Idle: true})
}

func (w *world) Apply(s *state, m move) error {
	switch m {
	case send:
		if s.data.Len() == 0 { // else it is lost
			s.data.Add(uint32(s.acked % 2))
		}
		if w.mistake == "a field is folded away, but not in the state" {
			s.resends = min(s.resends+1, 3)
		}
	case dataArrives:
		return w.arrives(s, uint8(s.data.Take(0)))
	case dataLost:
		s.data.Take(0)
	case ack:
		if s.acks.Len() == 0 {
			s.acks.Add(uint32(s.owed))
		}
		s.owed = -1
	case ackArrives:
		if uint8(s.acks.Take(0)) == s.acked%2 && s.acked < messages {
			s.acked++
		}
	case ackLost:
		s.acks.Take(0)
	case ackTwice:
		s.acks.Add(s.acks.At(0))
	case poke:
		if w.mistake == "any ack counts" && s.acked < messages {
			s.acked++
		}
	}
	return nil
}

func (w *world) arrives(s *state, bit uint8) error {
	isNew := bit == s.delivered%2 || w.mistake == "the bit does not count"
	if isNew {
		s.delivered++
	}
	if isNew || w.mistake != "a duplicate is not acked" {
		s.owed = int8(bit)
	}
	if w.mistake == "a step is wrong" && s.delivered == 2 {
		return errors.New("the second message is wrong")
	}
	return nil
}

func (w *world) Check(s *state) error {
	if ahead := int(s.delivered) - int(s.acked); ahead < 0 || ahead > 1 {
		return fmt.Errorf("%d delivered, %d acked", s.delivered, s.acked)
	}
	return nil
}

func (w *world) Ended(s *state) bool { return s.acked == messages }

func (w *world) Text(before, after *state, m move) string {
	return fmt.Sprintf("%v: %d delivered, then %d", m, before.delivered, after.delivered)
}

func (w *world) Describe(s *state) string { return fmt.Sprintf("%d acked", s.acked) }

func run(mistake string, states int) *explore.Result {
	return explore.Run[state, move](&world{mistake}, explore.Limits{States: states, Livelocks: true})
}

func TestARightProtocolIsExplored(t *testing.T) {
	r := run("", 1000)
	check.Same(t, "problem", r.Err, nil)
	check.That(t, r.States > 50 && r.Transitions > 3*r.States && r.Depth >= 4*messages, "all of it was visited: "+r.String())
	again := explore.RunComparing[state, move](&world{}, explore.Limits{States: 1000})
	check.Equal(t, "states, compared with each other", again.States, r.States)
	check.Same(t, "problem", again.Err, nil)
}

// Each kind of problem is found, with the shortest run that leads to it.
func TestProblemsAreFound(t *testing.T) {
	for _, c := range []struct{ mistake, err, trace string }{
		{"nothing is sent again", "a stall", "1  send: 0 delivered, then 0\n   2  data arrives: 0 delivered, then 1\n   3  ack: 1 delivered, then 1\n   4  ack lost: 1 delivered, then 1\n      then: 0 acked"},
		{"a duplicate is not acked", "a stall", "ack lost"},
		{"the sender sends without end", "a livelock", "then: 0 acked"},
		{"the bit does not count", "2 delivered, 0 acked", "2  data arrives: 0 delivered, then 1\n   3  send: 1 delivered, then 1\n   4  data arrives: 1 delivered, then 2"},
		{"a step is wrong", "the second message is wrong", "data arrives: 1 delivered, then 2\n      then: 1 acked"},
		{"any ack counts", "this should change nothing", "1  poke: 0 delivered, then 0\n      then: 1 acked"},
	} {
		r := run(c.mistake, 1000)
		if r.Err == nil || !strings.Contains(r.Err.Error(), c.err) || !strings.Contains(r.Trace, c.trace) {
			t.Errorf("%s: %v, want %q, after\n%s\nwant\n%s", c.mistake, r.Err, c.err, r.Trace, c.trace)
		}
	}
	r := run("", 50)
	check.That(t, r.Err != nil && strings.Contains(r.Err.Error(), "more than 50 states"), "there is a limit")
}

// A start that is wrong, and one from which nothing happens.
func TestTheStartIsCheckedToo(t *testing.T) {
	r := explore.Run[state, move](&stuck{world{}, true}, explore.Limits{States: 10})
	check.That(t, r.Err != nil && strings.Contains(r.Trace, "then: 7 acked"), "the start is wrong")
	r = explore.Run[state, move](&stuck{world{}, false}, explore.Limits{States: 10})
	check.That(t, r.Err != nil && strings.Contains(r.Err.Error(), "a stall"), "there is no way from the start")
}

type stuck struct {
	world
	wrong bool
}

func (w *stuck) Start() state {
	if w.wrong {
		return state{acked: 7}
	}
	return w.world.Start()
}

func (w *stuck) Options(*state, []explore.Option[move]) []explore.Option[move] { return nil }

// Two states with one key are found when all states are compared.
func TestKeysAreCompared(t *testing.T) {
	for _, mistake := range []string{"a field is not in the key", "a field is folded away, but not in the state"} {
		w := &world{mistake}
		r := explore.RunComparing[state, move](w, explore.Limits{States: 1000})
		if r.Err == nil || !strings.Contains(r.Err.Error(), "the same key") {
			t.Errorf("%s: %v", mistake, r.Err)
		}
	}
}

// A bag is what is in flight, whatever the order in which it came.
func TestBag(t *testing.T) {
	var a, b explore.Bag[uint64]
	for _, p := range []uint64{7, 3, 9, 3} {
		a.Add(p)
	}
	for _, p := range []uint64{3, 9, 3, 7} {
		b.Add(p)
	}
	check.That(t, a == b, "the order does not count")
	check.Equal(t, "places of distinct packets", slices.Collect(a.Distinct()), []int{0, 2, 3})
	check.Equal(t, "the third", a.Take(2), 7)
	check.Equal(t, "packets", []uint64{a.At(0), a.At(1), a.At(2)}, []uint64{3, 3, 9})
	var keyA, keyB explore.Key
	a.Mix(&keyA)
	b.Mix(&keyB)
	check.That(t, keyA != keyB && a.Len() == 3, "a packet was taken")
	for i := range a.Distinct() {
		check.Equal(t, "the first", i, 0)
		break
	}
}

// Each bit and each word counts, and so does their order.
func TestKeysDiffer(t *testing.T) {
	seen := map[explore.Key]bool{}
	for _, words := range [][]uint64{nil, {0}, {0, 0}, {1}, {1, 0}, {0, 1}, {1 << 63}, {1 << 63, 1}} {
		var k explore.Key
		k.Mix(words...)
		check.That(t, !seen[k], fmt.Sprint("a key of its own: ", words))
		seen[k] = true
	}
	keys := map[explore.Key]bool{}
	for i := range 16 {
		var k explore.Key
		k.MixBits(i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0)
		keys[k] = true
	}
	check.Equal(t, "keys of four bits", len(keys), 16)
}
