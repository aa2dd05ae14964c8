package statemachine

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// receiverSystem is a real receiver, and the time.
type receiverSystem struct {
	receiver *Receiver
	now      Micros
}

// receiverAnswer is what can be seen of a receiver after a command.
type receiverAnswer struct {
	now      Micros
	slice    codec.Slice // that it was given
	acks     []codec.Ack
	read     []byte
	refusal  error
	state    ReceiverState
	chunkID  uint16
	received map[int]bool
	deadline Micros
}

func (a receiverAnswer) String() string {
	text := fmt.Sprintf("at %d: %v, chunk %d", a.now, a.state, a.chunkID)
	if a.slice.NumSlices > 0 {
		text += fmt.Sprintf(", was given slice %d of %d of chunk %d", a.slice.SliceID, a.slice.NumSlices, a.slice.ChunkID)
	}
	for _, ack := range a.acks {
		text += fmt.Sprintf(", acks chunk %d %s", ack.ChunkID, ackBits(ack))
	}
	if a.read != nil {
		text += fmt.Sprintf(", %d bytes read", len(a.read))
	}
	return text
}

func (s *receiverSystem) answer() receiverAnswer {
	return receiverAnswer{now: s.now, state: s.receiver.State(), chunkID: s.receiver.ChunkID(),
		received: members(s.receiver.Received().Has), deadline: s.receiver.Deadline()}
}

// receiverModel is a receiver by the specification's words.
type receiverModel struct {
	state      ReceiverState
	chunkID    uint16
	numSlices  int
	have       map[int][]byte
	previous   int // slices of the chunk before
	held       int
	ready      []byte
	progressAt Micros
	owed       map[string]Micros // acks that are due, and by when (AKT-2)
}

func (m *receiverModel) owe(what string, by Micros) {
	if before, due := m.owed[what]; !due || by < before {
		m.owed[what] = by
	}
}

func (m *receiverModel) ids() map[int]bool {
	return members(func(id int) bool { return m.have[id] != nil })
}

func (m *receiverModel) see(a receiverAnswer) error {
	if !sameSet(a.received, m.ids()) {
		return fmt.Errorf("received (RCV-11, RCV-15) is %v, and should be %v", a.received, m.ids())
	}
	return firstOf(want("state", a.state, m.state), want("chunk id (RCV-12)", a.chunkID, m.chunkID))
}

// receiverSlice gives a slice: chunks 2 before to 1 after the current, of which
// each has its own number of slices, or a forged one.
var receiverSlice = &verb[*receiverSystem, receiverAnswer, *receiverModel]{
	weight: 10,
	limits: args{7, 4, 8},
	say: func(a args) string {
		return fmt.Sprintf("slice %d, chunk %+d%s", a[1], nearby(a[0]), []string{"", ", forged"}[a[2]/7])
	},
	run: func(s *receiverSystem, a args) receiverAnswer {
		chunkID := s.receiver.ChunkID() + uint16(nearby(a[0]))
		n := 1 + int(chunkID)%4 + a[2]/7
		slice := slicesOf(chunkID, chunkOf(1024*n-1000, uint32(chunkID)))[a[1]%n]
		s.receiver.HandleSlice(s.now, slice)
		answer := s.answer()
		answer.slice = slice
		return answer
	},
	judge: func(m *receiverModel, _ args, a receiverAnswer) error {
		m.take(a.slice, a.now)
		if m.see(a) == nil && len(m.owed) > 0 && m.state != ReceiverFailed && a.deadline > a.now+answerWithin {
			return fmt.Errorf("no ack is due before %d (LIVE-1)", a.deadline)
		}
		return m.see(a)
	},
}

// nearby is the current chunk, mostly, or one before or after.
func nearby(arg int) int { return []int{0, 0, 0, 0, -1, -2, 1}[arg] }

// take: a slice arrives (RCV-3 to RCV-8).
func (m *receiverModel) take(s codec.Slice, now Micros) {
	switch {
	case m.state == ReceiverFailed:
		return
	case s.ChunkID == m.chunkID-1 && s.NumSlices == m.previous:
		m.owe("previous", now+answerWithin)
		return
	case s.ChunkID != m.chunkID:
		return
	case m.state == ReceiverReady:
		m.held = s.NumSlices
		m.owe("hold", now+answerWithin)
		return
	case m.numSlices != 0 && m.numSlices != s.NumSlices:
		if now-m.progressAt < modelGiveUp/2 {
			return
		}
		m.numSlices = 0
	}
	if m.numSlices == 0 {
		m.state, m.numSlices, m.have = ReceiverReceiving, s.NumSlices, map[int][]byte{}
		delete(m.owed, "hold")
	}
	m.owe("current", now+answerWithin)
	if m.have[s.SliceID] == nil {
		m.have[s.SliceID] = bytes.Clone(s.Data)
		m.progressAt = now
	}
	if len(m.have) == m.numSlices {
		m.complete(now)
	}
}

// complete: RCV-12.
func (m *receiverModel) complete(now Micros) {
	m.ready = nil
	for id := range m.numSlices {
		m.ready = append(m.ready, m.have[id]...)
	}
	m.state, m.previous, m.numSlices, m.have = ReceiverReady, m.numSlices, 0, nil
	m.chunkID++
	delete(m.owed, "current")
	m.owe("previous", now)
}

var receiverPolls = &verb[*receiverSystem, receiverAnswer, *receiverModel]{
	weight: 6,
	limits: args{2 * len(waits)},
	say:    senderPoll.say,
	run: func(s *receiverSystem, a args) receiverAnswer {
		if a[0] < len(waits) {
			s.now += waits[a[0]]
		} else if d := s.receiver.Deadline(); d != Never {
			s.now = max(s.now, d)
		}
		var out []codec.Ack
		for range endless {
			ack, ok := s.receiver.Poll(s.now)
			if !ok {
				break
			}
			out = append(out, ack)
		}
		answer := s.answer()
		answer.acks = out
		return answer
	},
	judge: func(m *receiverModel, _ args, a receiverAnswer) error {
		if m.state == ReceiverReceiving && a.now-m.progressAt >= modelGiveUp {
			m.state, m.numSlices, m.have, m.owed = ReceiverFailed, 0, nil, nil
		}
		for _, ack := range a.acks {
			if err := m.out(ack); err != nil {
				return err
			}
		}
		for what, by := range m.owed {
			if by <= a.now {
				return fmt.Errorf("the ack of the %s chunk is due since %d, and does not come (LIVE-1)", what, by)
			}
		}
		if a.deadline <= a.now {
			return fmt.Errorf("the deadline %d has passed (RCV-17)", a.deadline)
		}
		return m.see(a)
	},
}

// out: an ack goes out. It must be due, and tell the truth (RCV-16, ACK-2).
func (m *receiverModel) out(a codec.Ack) error {
	for _, due := range []struct {
		what      string
		chunkID   uint16
		numSlices int
		has       map[int]bool
	}{
		{"previous", m.chunkID - 1, m.previous, members(func(id int) bool { return id < m.previous })},
		{"current", m.chunkID, m.numSlices, m.ids()},
		{"hold", m.chunkID, m.held, map[int]bool{}},
	} {
		if _, is := m.owed[due.what]; is {
			delete(m.owed, due.what)
			if a.ChunkID != due.chunkID || a.NumSlices != due.numSlices || !sameSet(members(a.Acked.Has), due.has) {
				return fmt.Errorf("acks %v of %d slices of chunk %d; due is %s, %v of %d slices (RCV-16)",
					members(a.Acked.Has), a.NumSlices, a.ChunkID, due.what, due.has, due.numSlices)
			}
			return nil
		}
	}
	return fmt.Errorf("an ack of chunk %d goes out, though none is due (ACQ-2)", a.ChunkID)
}

var receiverRead = &verb[*receiverSystem, receiverAnswer, *receiverModel]{
	weight: 3,
	say:    func(args) string { return "read" },
	run: func(s *receiverSystem, _ args) receiverAnswer {
		read, err := s.receiver.Read(s.now, nil)
		answer := s.answer()
		answer.read, answer.refusal = read, err
		return answer
	},
	judge: func(m *receiverModel, _ args, a receiverAnswer) error {
		if m.state != ReceiverReady {
			return firstOf(want("refusal", a.refusal, ErrNothingToRead), m.see(a))
		}
		m.state = ReceiverWaiting
		if a.refusal != nil || !bytes.Equal(a.read, m.ready) {
			return fmt.Errorf("read gives %d bytes, %v, and not the chunk's %d (SAFE-1)", len(a.read), a.refusal, len(m.ready))
		}
		return m.see(a)
	},
}

// The receiver does what its model says, whichever slices come and whenever it is
// read (section 8).
func TestCommandsToTheReceiver(t *testing.T) {
	for _, first := range []uint16{0, 65534} {
		s := suite[*receiverSystem, receiverAnswer, *receiverModel]{
			verbs: []*verb[*receiverSystem, receiverAnswer, *receiverModel]{receiverSlice, receiverPolls, receiverRead},
			newSystem: func() *receiverSystem {
				return &receiverSystem{receiver: NewReceiver(ReceiverConfig{FirstChunkID: first})}
			},
			newModel: func() *receiverModel {
				return &receiverModel{chunkID: first, owed: map[string]Micros{}}
			},
		}
		s.check(t)
	}
}
