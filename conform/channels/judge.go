package channels

import (
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
)

// Judge watches both ends of a channel from outside, and knows the messages that were sent, and no rule. It checks
// that each message is read once, as it was, in its order where there is one; that none is skipped which lives;
// and that what is released has come (CHT-SAFE-1 to CHT-SAFE-5, CHT-BND-1).
type Judge struct {
	*Ledger
	config   TalkConfig
	receiver *channel.Receiver
	now      int64
	base     int64 // of the sender
	limit    int64
	Texts    []string // of the messages sent
	Got      []Got
	Records  [8]int // records that the sender sent, by type
	Reports  int
}

func newJudge(c TalkConfig, r *channel.Receiver) *Judge {
	return &Judge{Ledger: NewLedger(c.Kind == "ordered", c.Data, c.First), config: c, receiver: r, base: c.First}
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
			j.Got = append(j.Got, s.Read.V)
			n := j.tail + int64(s.Read.V.Sequence-uint16(j.tail)) // told from the lowest that was not read
			return j.Read(j.now, n, string(s.Read.V.Data), s.Read.V.Skipped)
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
		diesAt := int64(Lives)
		if e.Lifetime.Is {
			diesAt = j.now + e.Lifetime.V
		}
		j.Sent(string(e.Data), diesAt)
	}
	for _, r := range s.Records {
		j.Records[r[0]]++
	}
	switch {
	case s.Base < j.base || s.Limit < j.limit:
		return fmt.Errorf("base %d, limit %d fall to %d, %d", j.base, j.limit, s.Base, s.Limit)
	case s.Base > int64(j.receiver.Base()):
		return fmt.Errorf("CHT-SAFE-4: released is all below %d, but %d has not come", s.Base, j.receiver.Base())
	case j.Next()-s.Base > j.config.SendQueue:
		return fmt.Errorf("CHT-BND-1: %d are kept", j.Next()-s.Base)
	}
	j.base, j.limit = s.Base, s.Limit
	return nil
}

// settled is CHT-LIVE-1.
func (j *Judge) settled() error {
	if next := j.Next(); j.tail != next || j.base != next {
		return fmt.Errorf("CHT-LIVE-1: sent are those below %d, read those below %d, released those below %d", next, j.tail, j.base)
	}
	return nil
}
