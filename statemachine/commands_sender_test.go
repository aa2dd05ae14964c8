package statemachine

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// senderSystem is a real sender, and the time.
type senderSystem struct {
	sender *Sender
	now    Micros
}

// senderAnswer is what can be seen of a sender after a command.
type senderAnswer struct {
	now      Micros
	refusal  error
	ack      codec.Ack // that it was given
	chunk    []byte    // that it was given
	slices   []codec.Slice
	state    SenderState
	chunkID  uint16
	acked    map[int]bool
	deadline Micros
}

func (a senderAnswer) String() string {
	text := fmt.Sprintf("at %d: %v, chunk %d", a.now, a.state, a.chunkID)
	if a.refusal != nil {
		text += fmt.Sprintf(", %v", a.refusal)
	}
	for _, s := range a.slices {
		text += fmt.Sprintf(", sends slice %d", s.SliceID)
	}
	return text
}

func (s *senderSystem) answer() senderAnswer {
	return senderAnswer{now: s.now, state: s.sender.State(), chunkID: s.sender.ChunkID(),
		acked: members(s.sender.Acked().Has), deadline: s.sender.Deadline()}
}

// senderModel is a sender by the specification's words.
type senderModel struct {
	state       SenderState
	chunkID     uint16
	chunk       []byte
	numSlices   int
	sent, acked map[int]bool
	heardAt     Micros
	busyAt      Micros // the latest slice, news or START (SCH-2)
}

const (
	modelGiveUp  = 10 * Second
	modelSilence = 5 * Second // SCH-2
)

// see compares what can be seen after each command.
func (m *senderModel) see(a senderAnswer) error {
	err := firstOf(want("state", a.state, m.state), want("chunk id (CID-2)", a.chunkID, m.chunkID))
	switch {
	case err != nil:
		return err
	case m.state != SenderSending:
		return want("deadline (SND-16)", a.deadline, Never)
	case !sameSet(a.acked, m.acked):
		return fmt.Errorf("acked (SND-12, SAFE-3) is %v, and should be %v", a.acked, m.acked)
	case a.deadline > m.heardAt+modelGiveUp:
		return fmt.Errorf("deadline %d is later than giving up (SND-16)", a.deadline)
	}
	return nil
}

var submitSizes = []int{1, 3000, 1025, 5000, 0, codec.MaxChunkSize + 1}

var senderSubmit = &verb[*senderSystem, senderAnswer, *senderModel]{
	weight: 3,
	limits: args{len(submitSizes), 250},
	say:    func(a args) string { return fmt.Sprintf("submit %d bytes", submitSizes[a[0]]) },
	run: func(s *senderSystem, a args) senderAnswer {
		chunk := chunkOf(submitSizes[a[0]], uint32(a[1]))
		err := s.sender.Submit(s.now, chunk)
		answer := s.answer()
		answer.refusal, answer.chunk = err, chunk
		return answer
	},
	judge: func(m *senderModel, _ args, a senderAnswer) error {
		size := len(a.chunk)
		var refusal error
		switch {
		case m.state == SenderFailed:
			refusal = ErrGaveUp
		case m.state == SenderSending:
			refusal = ErrBusy
		case size < 1 || size > 262144:
			refusal = ErrChunkSize
		default:
			m.state, m.chunk, m.numSlices = SenderSending, bytes.Clone(a.chunk), (size+1023)/1024
			m.sent, m.acked = map[int]bool{}, map[int]bool{}
			m.heardAt, m.busyAt = a.now, a.now
		}
		if !errors.Is(a.refusal, refusal) || refusal == nil && a.refusal != nil {
			return fmt.Errorf("submit answers %v, and should answer %v (SND-1)", a.refusal, refusal)
		}
		return m.see(a)
	},
}

var waits = []Micros{0, 1, 2 * ms, 300 * ms, 6 * Second, 10 * Second}

// senderPoll lets time go by, or goes on to the deadline, and polls.
var senderPoll = &verb[*senderSystem, senderAnswer, *senderModel]{
	weight: 6,
	limits: args{2 * len(waits)},
	say: func(a args) string {
		if a[0] < len(waits) {
			return fmt.Sprintf("poll after %d us", waits[a[0]])
		}
		return "poll at the deadline"
	},
	run: func(s *senderSystem, a args) senderAnswer {
		if a[0] < len(waits) {
			s.now += waits[a[0]]
		} else if d := s.sender.Deadline(); d != Never {
			s.now = max(s.now, d)
		}
		var out []codec.Slice
		for range endless {
			p, ok := s.sender.Poll(s.now)
			if !ok {
				break
			}
			out = append(out, p)
		}
		answer := s.answer()
		answer.slices = out
		return answer
	},
	judge: func(m *senderModel, _ args, a senderAnswer) error {
		if m.state == SenderSending && a.now-m.heardAt >= modelGiveUp {
			m.state, m.chunk = SenderFailed, nil
		}
		if len(a.slices) > 256 || len(a.slices) > 0 && m.state != SenderSending {
			return fmt.Errorf("%d slices go out, in %v", len(a.slices), m.state)
		}
		for _, s := range a.slices {
			if err := m.out(s, a.now); err != nil {
				return err
			}
		}
		if m.state == SenderSending && (a.now-m.busyAt >= modelSilence || a.deadline <= a.now) {
			return fmt.Errorf("nothing goes out, nothing since %d, deadline %d (SCH-2, SCH-3)", m.busyAt, a.deadline)
		}
		return m.see(a)
	},
}

// out: a slice goes out.
func (m *senderModel) out(s codec.Slice, now Micros) error {
	switch from := 1024 * s.SliceID; {
	case s.ChunkID != m.chunkID || s.NumSlices != m.numSlices || s.SliceID < 0 || s.SliceID >= m.numSlices:
		return fmt.Errorf("slice %d of %d of chunk %d goes out", s.SliceID, s.NumSlices, s.ChunkID)
	case m.acked[s.SliceID]:
		return fmt.Errorf("slice %d goes out, though it is acked (SCH-1)", s.SliceID)
	case !bytes.Equal(s.Data, m.chunk[from:min(from+1024, len(m.chunk))]):
		return fmt.Errorf("slice %d has other bytes than the chunk (SLC-4)", s.SliceID)
	}
	m.sent[s.SliceID] = true
	m.busyAt = now
	return nil
}

// senderAck gives an ack: of the right chunk and number of slices, mostly; its
// bits are any, also of slices that were never sent.
var senderAck = &verb[*senderSystem, senderAnswer, *senderModel]{
	weight: 6,
	limits: args{32, 6, 6},
	say: func(a args) string {
		return fmt.Sprintf("ack %s, chunk %+d, slices %+d", firstBits(uint64(a[0]), 5), strange(a[1]), strange(a[2]))
	},
	run: func(s *senderSystem, a args) senderAnswer {
		ack := codec.Ack{ChunkID: s.sender.ChunkID() + uint16(strange(a[1])), NumSlices: s.sender.NumSlices() + strange(a[2])}
		ack.Acked[0] = uint64(a[0])
		ack.Acked = ack.Acked.Intersect(codec.FirstN(ack.NumSlices))
		s.sender.HandleAck(s.now, ack)
		answer := s.answer()
		answer.ack = ack
		return answer
	},
	judge: func(m *senderModel, _ args, a senderAnswer) error {
		if m.state != SenderSending || a.ack.ChunkID != m.chunkID || a.ack.NumSlices != m.numSlices {
			return m.see(a) // foreign, or nobody waits for it (SND-5)
		}
		news := 0
		for id := range m.sent {
			if a.ack.Acked.Has(id) && !m.acked[id] {
				m.acked[id] = true
				news++
			}
		}
		if hold := a.ack.Acked.Empty() && len(m.acked) == 0; news > 0 || hold {
			m.heardAt = a.now
		}
		if news > 0 {
			m.busyAt = a.now
		}
		if len(m.acked) == m.numSlices {
			m.state, m.chunk, m.numSlices = SenderIdle, nil, 0
			m.chunkID++
		}
		return m.see(a)
	},
}

// strange is 0 most of the time.
func strange(arg int) int { return []int{0, 0, 0, 0, 1, -1}[arg] }

// The sender does what its model allows, whatever is asked of it and whichever
// acks come (section 7).
func TestCommandsToTheSender(t *testing.T) {
	for _, p := range []Profile{Fixed(0), Burst(), Article(500_000)} {
		s := suite[*senderSystem, senderAnswer, *senderModel]{
			verbs: []*verb[*senderSystem, senderAnswer, *senderModel]{senderSubmit, senderPoll, senderAck},
			newSystem: func() *senderSystem {
				return &senderSystem{sender: NewSender(SenderConfig{FirstChunkID: 65534, Scheduler: NewBase(p)})}
			},
			newModel: func() *senderModel { return &senderModel{chunkID: 65534} },
		}
		s.check(t)
	}
}
