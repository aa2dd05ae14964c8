package channelsim

import (
	"bytes"
	"fmt"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
)

// What the judge knows of the document: how many packets must be acked behind one, and
// REPORT_SPACING.
const (
	overtaken = 2
	soon      = 5 * core.Millisecond
)

// named16 returns the sequences that a report names, as they are on the wire.
func named16(r *protocol.Record) (list []uint16) {
	for _, g := range r.Groups {
		list = append(list, g.Start)
		for i := range uint16(32) {
			if g.Bits>>i&1 == 1 {
				list = append(list, g.Start-1-i)
			}
		}
	}
	return list
}

// modulo returns what the wire has of a number.
func modulo(n core.Number, space core.Space) core.Number {
	size := core.Number(1) << space
	return (n%size + size) % size
}

// Judge watches the two ends of a reliable channel from outside, and knows what was sent,
// what arrived and what was read. It checks the properties of section 10 at every event. Of
// the machines it is given nothing but their records, what the sender has released, and
// whether they have failed.
type Judge struct {
	cfg      protocol.Config
	messages map[core.Number]*judged // by sequence, all that were accepted
	counts   Counts
	sender   judgedSender
	receiver judgedReceiver
}

// judged is a sequence, and what became of it.
type judged struct {
	first, end core.Number // of its message
	data       []byte      // its own
	message    []byte      // the whole
	diesAt     core.Micros

	transmissions       int
	packet              core.Number // of the latest transmission
	at                  core.Micros
	mayAgain            bool // a reason to send it again has come since
	came, read, skipped bool
}

// judgedSender is what is known of the sender.
type judgedSender struct {
	now                  core.Micros
	path                 protocol.Path
	next, sent, released core.Number
	limit                core.Number // by the reports that arrived
	newestReport         core.Number // the number of its packet
	heardAt, saidAt      core.Micros
	fresh                map[core.Number]int // by packet
	failed               bool
}

// Counts are what a Judge has counted.
type Counts struct {
	Accepted     int // sequences
	Transmitted  int // of these, each time
	Probes       int // STATUS records
	Reports      int
	Read         int // messages and skipped sequences
	Skipped      int // sequences
	BytesReports int
}

// NewJudge returns the judge of a new channel. Of the configuration no field may be 0 but the
// numbers and the kind.
func NewJudge(cfg protocol.Config) *Judge {
	first := cfg.First
	return &Judge{
		cfg: cfg, messages: map[core.Number]*judged{},
		sender: judgedSender{
			next: first, sent: first, released: first, limit: first + core.Number(cfg.Window),
			newestReport: core.NoNumber, fresh: map[core.Number]int{},
		},
		receiver: judgedReceiver{tail: first, base: first, top: first, lastReport: -core.Second},
	}
}

// violates returns an error about a property.
func violates(property, format string, args ...any) error {
	return fmt.Errorf("%s: %s", property, fmt.Sprintf(format, args...))
}

// first returns the error of the first check that fails.
func first(checks ...error) error {
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// unless returns an error about a property, unless it is so.
func unless(is bool, property, format string, args ...any) error {
	if is {
		return nil
	}
	return violates(property, format, args...)
}

// Path says what the sender's host knows of the path from now on.
func (j *Judge) Path(p protocol.Path) { j.sender.path = p }

// Sent says that a message was given to the sender, and with which code it was refused, if it was.
func (j *Judge) Sent(now core.Micros, message []byte, lifetime core.Micros, refused core.Code) error {
	s := &j.sender
	s.now = max(s.now, now)
	count := core.Number((len(message) + j.cfg.Data - 1) / j.cfg.Data)
	size := count >= 1 && count <= core.Number(min(j.cfg.Group, j.cfg.Window))
	room := s.next+count-s.released <= core.Number(j.cfg.SendQueue)
	if refused != "" {
		why := map[core.Code]bool{"message_size": !size, "queue_full": !room, "failed": s.failed}
		return unless(why[refused], "CHS-9", "a message of %d bytes is refused: %s", len(message), refused)
	}
	if s.next == s.released {
		s.heardAt, s.saidAt = s.now, s.now
	}
	diesAt := core.Never
	if lifetime > 0 {
		diesAt = s.now + lifetime
	}
	for i := range count {
		data := message[int(i)*j.cfg.Data:]
		j.messages[s.next+i] = &judged{
			first: s.next, end: s.next + count, data: bytes.Clone(data[:min(len(data), j.cfg.Data)]), message: bytes.Clone(message), diesAt: diesAt,
		}
	}
	s.next += count
	j.counts.Accepted += int(count)
	return unless(size && room && !s.failed, "CHT-BND-1", "a message of %d bytes is accepted, %d are kept", len(message), s.next-s.released)
}

// Composed says which records of the channel the sender put into a packet.
func (j *Judge) Composed(now core.Micros, number core.Number, records ...protocol.Record) error {
	s := &j.sender
	s.now = max(s.now, now)
	for i := range records {
		s.saidAt = s.now
		if err := j.record(number, &records[i]); err != nil {
			return err
		}
	}
	return unless(s.fresh[number] <= j.cfg.Fresh, "CHN-6", "packet %d carries %d new sequences", number, s.fresh[number])
}

// sequence returns what a sender means by the bits of a sequence: one that is not released.
func (j *Judge) sequence(bits uint16) core.Number {
	return j.sender.released + modulo(core.Number(bits)-j.sender.released, j.cfg.SequenceBits)
}

// record checks a record of the sender.
func (j *Judge) record(number core.Number, r *protocol.Record) error {
	s, n := &j.sender, j.sequence(r.Sequence)
	if r.Type == protocol.TypeStatus {
		j.counts.Probes++
		for i := s.released; i < s.sent; i++ {
			j.messages[i].mayAgain = true
		}
		return unless(n == s.sent, "CHT-SAFE-6", "STATUS says %d, sent is %d", n, s.sent)
	}
	end := n + 1
	if r.Type == protocol.TypeSkip {
		end = n + core.Number(r.Count)
	}
	if end > s.next || end > s.limit {
		return violates("CHT-SAFE-6", "a record of %d to %d, accepted are those below %d, the limit is %d", n, end-1, s.next, s.limit)
	}
	for ; n < end; n++ {
		if err := first(j.honest(n, r), j.again(n, number)); err != nil {
			return err
		}
	}
	return nil
}

// honest checks that a record says of a sequence what is so (CHT-SAFE-6).
func (j *Judge) honest(n core.Number, r *protocol.Record) error {
	m, gone := j.messages[n], j.messages[n].diesAt <= j.sender.now
	switch r.Type {
	case protocol.TypeSkip:
		return unless(gone, "CHT-SAFE-6", "%d is skipped, but its lifetime has not ended", n)
	case protocol.TypeMessage:
		return unless(!gone && m.end == m.first+1 && bytes.Equal(r.Data, m.data), "CHT-SAFE-6", "MESSAGE %d with %q, was %q of %d, gone %v", n, r.Data, m.data, m.end-m.first, gone)
	}
	right := r.Count == int(m.end-m.first) && r.Index == int(n-m.first) && bytes.Equal(r.Data, m.data)
	return unless(!gone && right, "CHT-SAFE-6", "FRAGMENT %d, %d of %d with %q, was %d of %d with %q, gone %v", n, r.Index, r.Count, r.Data, n-m.first, m.end-m.first, m.data, gone)
}

// again notes a transmission, and checks that there was a reason for it (CHT-BND-4).
func (j *Judge) again(n, number core.Number) error {
	s, m := &j.sender, j.messages[n]
	if n >= s.sent {
		s.sent = n + 1
		s.fresh[number]++
	} else if !m.mayAgain {
		return violates("CHT-BND-4", "%d is sent again in packet %d, after %d, without a reason", n, number, m.packet)
	}
	j.counts.Transmitted++
	m.transmissions++
	m.packet, m.at, m.mayAgain = number, s.now, false
	return nil
}

// Heard says that a report arrived at the sender.
func (j *Judge) Heard(now core.Micros, number, ack core.Number, r *protocol.Record) {
	s := &j.sender
	s.now = max(s.now, now)
	if number <= s.newestReport || s.failed {
		return
	}
	hold := 250 * core.Millisecond
	if s.path.Measured {
		hold = s.path.SRTT + max(s.path.SRTT/4, 10*core.Millisecond)
	}
	for n := s.released; n < s.sent; n++ {
		m := j.messages[n]
		by, age := core.Number(overtaken), s.now-m.at
		if m.transmissions > 1 {
			by = 1
		}
		if age >= max(s.path.Patience, s.path.SRTT/2) && (age >= hold || ack >= m.packet+by) {
			m.mayAgain = true
		}
	}
	s.newestReport, s.heardAt = number, s.now
	s.limit = max(s.limit, j.sequence(r.Sequence)+core.Number(r.Room))
}

// Released says that the sender keeps nothing below a sequence (CHT-SAFE-4).
func (j *Judge) Released(base core.Number) error {
	s := &j.sender
	if base < s.released || base > j.receiver.base {
		return violates("CHT-SAFE-4", "released is all below %d, after %d, but %d has not come", base, s.released, j.receiver.base)
	}
	s.released = base
	return nil
}

// longestSilence is after how long a sender that waits sends a probe at the latest (CHS-4).
func (s *judgedSender) longestSilence() core.Micros {
	if !s.path.Measured {
		return 250 * core.Millisecond
	}
	return max(2*s.path.SRTT, 250*core.Millisecond)
}

// Polled says that the sender was polled until it said nothing, whether there was room for
// every record that it can have, and whether it has failed.
func (j *Judge) Polled(now core.Micros, room, failed bool) error {
	s := &j.sender
	s.now = max(s.now, now)
	waits, silent := s.released < s.next, s.now-s.heardAt
	was := s.failed
	s.failed = failed
	switch {
	case was || !failed && !waits:
		return nil
	case failed:
		return unless(waits && silent >= j.cfg.GiveUp, "CHT-LIVE-3", "the sender fails %d us after a report", silent)
	case silent >= j.cfg.GiveUp:
		return violates("CHT-LIVE-2", "the sender waits for %d us without a report", silent)
	}
	return unless(!room || s.now-s.saidAt < s.longestSilence(), "CHT-LIVE-4", "the sender waits and says nothing for %d us", s.now-s.saidAt)
}

// Settled checks that all is over: every sequence was read and is released (CHT-LIVE-1).
func (j *Judge) Settled() error {
	s, r := &j.sender, &j.receiver
	return unless(r.tail == s.next && s.released == s.next, "CHT-LIVE-1", "accepted are those below %d, read those below %d, released those below %d", s.next, r.tail, s.released)
}

// Counts returns what was counted.
func (j *Judge) Counts() Counts { return j.counts }
