package channels

import (
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
)

// Judge watches both ends of a channel from outside, and knows what was sent, and no rule. It checks
// that each message is read once, as it was, in its order where there is one; that none is skipped which lives;
// and that what is released has come (CHT-SAFE-1 to CHT-SAFE-5, CHT-BND-1).
type Judge struct {
	config   TalkConfig
	receiver *channel.Receiver
	sent     []*message // by sequence, from the first one on
	now      int64
	next     int64 // 1 + the last that was sent
	tail     int64 // all below was read
	base     int64 // of the sender
	limit    int64
	Texts    []string // what was sent
	Read     []Got
	Records  [8]int // records that the sender sent, by type
	Reports  int
}

// message is what one or more sequences have.
type message struct {
	first, end int64
	data       conform.Bytes
	diesAt     conform.Opt[int64]
	read       map[int64]bool // by sequence: true, or false if it was skipped
}

func newJudge(c TalkConfig, r *channel.Receiver) *Judge {
	return &Judge{config: c, receiver: r, next: c.First, tail: c.First, base: c.First}
}

// Saw judges what either machine did.
func (j *Judge) Saw(at int64, e conform.Event, step conform.Step) error {
	switch s := step.(type) {
	case SenderStep:
		return j.sender(at, e, s)
	case ReceiverStep:
		if s.Report.Is {
			j.Reports++
		}
		if s.Read.Is {
			return j.read(s.Read.V)
		}
	}
	return nil
}

func (j *Judge) sender(at int64, e conform.Event, s SenderStep) error {
	if _, is := e.(SenderPath); !is { // of which the machine does not get the time
		j.now = max(j.now, at)
	}
	if e, is := e.(Send); is && !s.Refused.Is {
		j.Texts = append(j.Texts, string(e.Data))
		j.accepted(e)
	}
	for _, r := range s.Records {
		j.Records[r[0]]++
	}
	switch {
	case s.Base < j.base || s.Limit < j.limit:
		return fmt.Errorf("base %d, limit %d fall to %d, %d", j.base, j.limit, s.Base, s.Limit)
	case s.Base > int64(j.receiver.Base()):
		return fmt.Errorf("CHT-SAFE-4: released is all below %d, but %d has not come", s.Base, j.receiver.Base())
	case j.next-s.Base > j.config.SendQueue:
		return fmt.Errorf("CHT-BND-1: %d are kept", j.next-s.Base)
	}
	j.base, j.limit = s.Base, s.Limit
	return nil
}

func (j *Judge) accepted(e Send) {
	size := int64(len(e.Data))
	m := &message{first: j.next, end: j.next + (size+j.config.Data-1)/j.config.Data, data: e.Data, diesAt: conform.If(j.now+e.Lifetime.V, e.Lifetime.Is), read: map[int64]bool{}}
	for ; j.next < m.end; j.next++ {
		j.sent = append(j.sent, m)
	}
}

// read judges what is read. Sequences on the wire are told from the lowest that was not read.
func (j *Judge) read(got Got) error {
	n := j.tail + int64(got.Sequence-uint16(j.tail))
	if n >= j.next {
		return fmt.Errorf("CHT-SAFE-2: %d is read, which was never sent", n)
	}
	m := j.sent[n-j.config.First]
	end := m.end
	switch {
	case j.config.Kind == "ordered" && n != j.tail:
		return fmt.Errorf("CHT-SAFE-1: %d is read, next is %d", n, j.tail)
	case got.Skipped && !(m.diesAt.Is && m.diesAt.V <= j.now):
		return fmt.Errorf("CHT-SAFE-3: %d is skipped, but its lifetime has not ended", n)
	case got.Skipped:
		end = n + 1
	case n != m.first || got.Data != m.data:
		return fmt.Errorf("CHT-SAFE-5: %d is read as %d bytes, sent were %d from %d", n, len(got.Data), len(m.data), m.first)
	}
	for ; n < end; n++ {
		if _, before := m.read[n]; before {
			return fmt.Errorf("CHT-SAFE-2: %d is read again", n)
		}
		m.read[n] = !got.Skipped
	}
	for ; j.tail < j.next; j.tail++ {
		m := j.sent[j.tail-j.config.First]
		if _, is := m.read[j.tail]; !is {
			break
		}
	}
	j.Read = append(j.Read, got)
	return nil
}

// settled is CHT-LIVE-1.
func (j *Judge) settled() error {
	if j.tail != j.next || j.base != j.next {
		return fmt.Errorf("CHT-LIVE-1: sent are those below %d, read those below %d, released those below %d", j.next, j.tail, j.base)
	}
	return nil
}
