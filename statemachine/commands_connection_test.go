package statemachine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// connectionSystem is a real sender and a real receiver, and all that is on the
// way between them.
type connectionSystem struct {
	sender   *Sender
	receiver *Receiver
	now      Micros
	slices   []codec.Slice
	acks     []codec.Ack
}

// connectionAnswer is what can be seen of both ends after a command.
type connectionAnswer struct {
	now, began             Micros // the time after it, and for fair weather before it
	chunk                  []byte // that was submitted
	refusal                error
	slice                  codec.Slice // that arrived
	ack                    codec.Ack   // that arrived
	slicesOut              []codec.Slice
	acksOut                []codec.Ack
	reads                  [][]byte
	nothing                bool // what was asked for is not there
	sender                 SenderState
	receiver               ReceiverState
	completed, assembled   int64 // chunks at the sender, at the receiver
	acked                  codec.Bitset
	senderDue, receiverDue Micros
}

func (a connectionAnswer) String() string {
	text := fmt.Sprintf("at %d: %v, %v", a.now, a.sender, a.receiver)
	if a.slice.NumSlices > 0 {
		text += fmt.Sprintf(", slice %d of chunk %d arrives", a.slice.SliceID, a.slice.ChunkID)
	}
	if a.ack.NumSlices > 0 {
		text += fmt.Sprintf(", ack %s of chunk %d arrives", ackBits(a.ack), a.ack.ChunkID)
	}
	for _, s := range a.slicesOut {
		text += fmt.Sprintf(", sends slice %d of chunk %d", s.SliceID, s.ChunkID)
	}
	for _, ack := range a.acksOut {
		text += fmt.Sprintf(", acks chunk %d %s", ack.ChunkID, ackBits(ack))
	}
	for _, chunk := range a.reads {
		text += fmt.Sprintf(", %d bytes read", len(chunk))
	}
	return text
}

func (s *connectionSystem) answer() connectionAnswer {
	return connectionAnswer{now: s.now, sender: s.sender.State(), receiver: s.receiver.State(),
		completed: s.sender.Stats().Chunks, assembled: s.receiver.Stats().Chunks, acked: s.sender.Acked(),
		senderDue: s.sender.Deadline(), receiverDue: s.receiver.Deadline()}
}

// polls lets both machines say what they have to say.
func (s *connectionSystem) polls() (out []codec.Slice, acks []codec.Ack) {
	out = slices.Collect(slicesOut(s.sender, s.now))
	acks = slices.Collect(acksOut(s.receiver, s.now))
	s.slices, s.acks = append(s.slices, out...), append(s.acks, acks...)
	return out, acks
}

// connectionModel counts chunks from 0 on; sets of their slices are all it knows.
type connectionModel struct {
	firstID                         uint16
	submitted                       [][]byte
	completed, assembled, delivered int          // chunks at the sender, at the receiver, read
	has, acked                      map[int]bool // of the chunk that arrives, of the one in flight
	senderFailed, receiverFailed    bool
	heardAt, progressAt             Micros
}

type connectionVerb = verb[*connectionSystem, connectionAnswer, *connectionModel]

func (m *connectionModel) sending() bool {
	return !m.senderFailed && m.completed < len(m.submitted)
}

func (m *connectionModel) numSlices(chunk int) int { return (len(m.submitted[chunk]) + 1023) / 1024 }

// chunk returns which chunk an id stands for, -1 for a stranger's. No run has so
// many that ids repeat.
func (m *connectionModel) chunk(id uint16) int {
	if n := int(id - m.firstID); n < len(m.submitted) {
		return n
	}
	return -1
}

// see compares both ends with the model: what it says about them must be so after
// each command.
func (m *connectionModel) see(a connectionAnswer) error {
	sender, receiver := SenderIdle, ReceiverWaiting
	switch {
	case m.senderFailed:
		sender = SenderFailed
	case m.sending():
		sender = SenderSending
	}
	switch {
	case m.receiverFailed:
		receiver = ReceiverFailed
	case m.delivered < m.assembled:
		receiver = ReceiverReady
	case len(m.has) > 0:
		receiver = ReceiverReceiving
	}
	err := firstOf(
		want("the sender", a.sender, sender), want("the receiver", a.receiver, receiver),
		want("chunks complete at the sender (SAFE-2)", int(a.completed), m.completed),
		want("chunks complete at the receiver (SAFE-1)", int(a.assembled), m.assembled))
	if err == nil && m.sending() && !sameSet(members(a.acked.Has), m.acked) {
		return fmt.Errorf("acked (SAFE-3, SAFE-4) is %v, and should be %v", members(a.acked.Has), m.acked)
	}
	return err
}

var connectionSubmit = &connectionVerb{
	weight: 4,
	limits: args{len(submitSizes)},
	say:    senderSubmit.say,
	run: func(s *connectionSystem, a args) connectionAnswer {
		chunk := chunkOf(submitSizes[a[0]], uint32(s.sender.ChunkID()))
		err := s.sender.Submit(s.now, chunk)
		answer := s.answer()
		answer.chunk, answer.refusal = chunk, err
		return answer
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error {
		taken := !m.senderFailed && !m.sending() && len(a.chunk) >= 1 && len(a.chunk) <= 262144
		if taken {
			m.submitted, m.acked, m.heardAt = append(m.submitted, a.chunk), map[int]bool{}, a.now
		}
		return firstOf(want("whether it is taken (SND-1)", a.refusal == nil, taken), m.see(a))
	},
}

// connectionPolls lets time go by, or goes on to the earlier deadline, and polls
// both ends.
var connectionPolls = &connectionVerb{
	weight: 8,
	limits: args{3 * len(waits)},
	say:    senderPoll.say,
	run: func(s *connectionSystem, a args) connectionAnswer {
		if a[0] < len(waits) {
			s.now += waits[a[0]]
		} else if d := min(s.sender.Deadline(), s.receiver.Deadline()); d != Never {
			s.now = max(s.now, d)
		}
		out, acks := s.polls()
		answer := s.answer()
		answer.slicesOut, answer.acksOut = out, acks
		return answer
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error {
		m.giveUp(a.now)
		for _, s := range a.slicesOut {
			if n := m.chunk(s.ChunkID); n != m.completed || m.acked[s.SliceID] {
				return fmt.Errorf("slice %d of chunk %d goes out; acked is %v of chunk %d (SCH-1)", s.SliceID, n, m.acked, m.completed)
			}
		}
		for _, ack := range a.acksOut {
			if err := m.truth(ack); err != nil {
				return err
			}
		}
		if min(a.senderDue, a.receiverDue) <= a.now {
			return fmt.Errorf("deadlines %d and %d have passed (SCH-3)", a.senderDue, a.receiverDue)
		}
		return m.see(a)
	},
}

// giveUp: SND-9, RCV-9.
func (m *connectionModel) giveUp(now Micros) {
	if m.sending() && now-m.heardAt >= modelGiveUp {
		m.senderFailed = true
	}
	if len(m.has) > 0 && now-m.progressAt >= modelGiveUp {
		m.receiverFailed, m.has = true, nil
	}
}

// truth: an ack has the bits of the slices that are here, and no others (ACK-2).
func (m *connectionModel) truth(a codec.Ack) error {
	bits := members(a.Acked.Has)
	switch n := m.chunk(a.ChunkID); {
	case n >= 0 && n == m.assembled-1 && len(bits) == m.numSlices(n) && a.NumSlices == len(bits):
		return nil
	case n >= 0 && n == m.assembled && sameSet(bits, m.has) && a.NumSlices == m.numSlices(n):
		return nil
	}
	return fmt.Errorf("ack %v of %d slices of chunk %d: the receiver has %d chunks and %v (ACK-2, RCV-16)",
		bits, a.NumSlices, m.chunk(a.ChunkID), m.assembled, m.has)
}

// connectionSlice: one of the slices on the way arrives, wherever it stands, and
// may stay on the way to arrive again.
var connectionSlice = &connectionVerb{
	weight: 12,
	limits: args{8, 3},
	say:    func(a args) string { return arrivalOf("slice", a) },
	run: func(s *connectionSystem, a args) connectionAnswer {
		if len(s.slices) == 0 {
			answer := s.answer()
			answer.nothing = true
			return answer
		}
		i := a[0] % len(s.slices)
		arrives := s.slices[i]
		if a[1] != 1 {
			s.slices = slices.Delete(s.slices, i, i+1)
		}
		s.receiver.HandleSlice(s.now, arrives)
		answer := s.answer()
		answer.slice = arrives
		return answer
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error {
		if a.nothing {
			return m.see(a)
		}
		return firstOf(m.arrives(a.slice, a), m.see(a))
	},
}

func arrivalOf(what string, a args) string {
	return fmt.Sprintf("%s %d arrives%s", what, a[0], []string{"", ", and stays", ""}[a[1]])
}

// arrives: the slice of the chunk that is to come counts, unless one waits to be
// read; of that chunk, the one before and one too early an ack is due (LIVE-1).
func (m *connectionModel) arrives(s codec.Slice, a connectionAnswer) error {
	n := m.chunk(s.ChunkID)
	if m.receiverFailed {
		return nil
	}
	if (n == m.assembled || n == m.assembled-1) && a.receiverDue > a.now+answerWithin {
		return fmt.Errorf("slice %d of chunk %d arrives, and no ack is due (LIVE-1)", s.SliceID, n)
	}
	if n != m.assembled || m.delivered < m.assembled {
		return nil
	}
	if !m.has[s.SliceID] {
		m.has[s.SliceID], m.progressAt = true, a.now
	}
	if len(m.has) == m.numSlices(n) {
		m.assembled, m.has = m.assembled+1, map[int]bool{}
	}
	return nil
}

var connectionAck = &connectionVerb{
	weight: 8,
	limits: args{8, 3},
	say:    func(a args) string { return arrivalOf("ack", a) },
	run: func(s *connectionSystem, a args) connectionAnswer {
		if len(s.acks) == 0 {
			answer := s.answer()
			answer.nothing = true
			return answer
		}
		i := a[0] % len(s.acks)
		arrives := s.acks[i]
		if a[1] != 1 {
			s.acks = slices.Delete(s.acks, i, i+1)
		}
		s.sender.HandleAck(s.now, arrives)
		answer := s.answer()
		answer.ack = arrives
		return answer
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error {
		if !a.nothing && m.sending() && m.chunk(a.ack.ChunkID) == m.completed {
			m.heard(members(a.ack.Acked.Has), a.now)
		}
		return m.see(a)
	},
}

// heard: an ack of the chunk in flight arrives. The bits of a true one are all of
// slices that were sent.
func (m *connectionModel) heard(bits map[int]bool, now Micros) {
	before := len(m.acked)
	for id := range bits {
		m.acked[id] = true
	}
	if len(m.acked) > before || len(m.acked) == 0 {
		m.heardAt = now // news, or a hold
	}
	if len(m.acked) == m.numSlices(m.completed) {
		m.completed++
	}
}

// connectionLoses: one of the slices, or of the acks, on the way is lost, or all.
var connectionLoses = &connectionVerb{
	weight: 4,
	limits: args{8, 2, 2},
	say: func(a args) string {
		what := []string{"slice", "ack"}[a[1]]
		if a[2] == 1 {
			return "all " + what + "s are lost"
		}
		return fmt.Sprintf("%s %d is lost", what, a[0])
	},
	run: func(s *connectionSystem, a args) connectionAnswer {
		if a[1] == 0 {
			s.slices = without(s.slices, a)
		} else {
			s.acks = without(s.acks, a)
		}
		return s.answer()
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error { return m.see(a) },
}

func without[T any](list []T, a args) []T {
	if a[2] == 1 || len(list) == 0 {
		return nil
	}
	i := a[0] % len(list)
	return slices.Delete(list, i, i+1)
}

// connectionStranger: packets of a chunk far away, and of a later one, arrive at
// both ends. Nothing changes.
var connectionStranger = &connectionVerb{
	weight: 1,
	limits: args{3, 3},
	say:    func(a args) string { return fmt.Sprintf("a stranger's packets, chunk %+d", farAway[a[0]]) },
	run: func(s *connectionSystem, a args) connectionAnswer {
		id := s.sender.ChunkID() + uint16(farAway[a[0]])
		s.receiver.HandleSlice(s.now, slicesOf(id, chunkOf(3000, 1))[a[1]])
		s.sender.HandleAck(s.now, fullAck(id, s.sender.NumSlices()))
		s.sender.HandleAck(s.now, fullAck(s.sender.ChunkID(), 7))
		return s.answer()
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error { return m.see(a) },
}

var farAway = []int{2, 32768, -300}

var connectionRead = &connectionVerb{
	weight: 4,
	say:    func(args) string { return "read" },
	run: func(s *connectionSystem, _ args) connectionAnswer {
		var reads [][]byte
		chunk, err := s.receiver.Read(s.now, nil)
		if err == nil {
			reads = append(reads, chunk)
		}
		answer := s.answer()
		answer.reads, answer.refusal = reads, err
		return answer
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error {
		if m.delivered == m.assembled {
			return firstOf(want("refusal", a.refusal, ErrNothingToRead), m.see(a))
		}
		return firstOf(m.reads(a.reads), m.see(a))
	},
}

// reads: what is read is the next of what was submitted (SAFE-1).
func (m *connectionModel) reads(chunks [][]byte) error {
	if len(chunks) == 0 {
		return errors.New("nothing is delivered, though a chunk is READY (SAFE-5)")
	}
	for _, c := range chunks {
		if m.delivered >= len(m.submitted) || !bytes.Equal(c, m.submitted[m.delivered]) {
			return fmt.Errorf("%d bytes are delivered that are not chunk %d (SAFE-1)", len(c), m.delivered)
		}
		m.delivered++
	}
	return nil
}

// connectionHeals: the weather turns fair until the sender has nothing left to do.
// All that was submitted is delivered, unless an end had given up (LIVE-2).
var connectionHeals = &connectionVerb{
	weight: 2,
	say:    func(args) string { return "fair weather" },
	run: func(s *connectionSystem, _ args) connectionAnswer {
		var reads [][]byte
		began := s.now
		s.polls() // it may be late already
		for range 500 {
			for _, p := range s.slices {
				s.receiver.HandleSlice(s.now, p)
			}
			for _, a := range s.acks {
				s.sender.HandleAck(s.now, a)
			}
			s.slices, s.acks = nil, nil
			if chunk, err := s.receiver.Read(s.now, nil); err == nil {
				reads = append(reads, chunk)
			}
			if s.polls(); len(s.slices)+len(s.acks) > 0 {
				continue
			}
			if d := min(s.sender.Deadline(), s.receiver.Deadline()); d == Never {
				break
			} else {
				s.now = max(s.now, d)
			}
			s.polls()
		}
		answer := s.answer()
		answer.reads, answer.began = reads, began
		return answer
	},
	judge: func(m *connectionModel, _ args, a connectionAnswer) error {
		m.giveUp(a.began + modelSilence) // before that the next slice goes out
		if m.senderFailed || m.receiverFailed {
			m.adopt(a)
			return nil
		}
		if left := len(m.submitted) - m.delivered; left != len(a.reads) {
			return fmt.Errorf("in fair weather %d chunks are delivered of %d, and the sender is %v (LIVE-2)", len(a.reads), left, a.sender)
		} else if left > 0 {
			if err := m.reads(a.reads); err != nil {
				return err
			}
		}
		m.completed, m.assembled = len(m.submitted), len(m.submitted)
		m.has = map[int]bool{}
		return m.see(a)
	},
}

// adopt takes over how a connection ended that had failed, or could just fail.
func (m *connectionModel) adopt(a connectionAnswer) {
	m.senderFailed, m.receiverFailed = a.sender == SenderFailed, a.receiver == ReceiverFailed
	m.acked, m.heardAt = members(a.acked.Has), a.now
	m.completed, m.assembled = int(a.completed), int(a.assembled)
	m.has, m.delivered = map[int]bool{}, m.assembled
}

// Both ends together do what their model says, whatever users and the network do
// (sections 7, 8, 11).
func TestCommandsToAConnection(t *testing.T) {
	for _, p := range []Profile{Fixed(0), Burst()} {
		s := suite[*connectionSystem, connectionAnswer, *connectionModel]{
			verbs: []*connectionVerb{connectionSubmit, connectionPolls, connectionSlice, connectionAck,
				connectionLoses, connectionStranger, connectionRead, connectionHeals},
			newSystem: func() *connectionSystem {
				return &connectionSystem{
					sender:   NewSender(SenderConfig{FirstChunkID: 65534, Scheduler: NewBase(p)}),
					receiver: NewReceiver(ReceiverConfig{FirstChunkID: 65534}),
				}
			},
			newModel: func() *connectionModel { return &connectionModel{firstID: 65534, has: map[int]bool{}} },
		}
		s.check(t)
	}
}
