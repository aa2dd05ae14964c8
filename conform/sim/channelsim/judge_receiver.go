package channelsim

import (
	"bytes"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
)

// judgedReceiver is what is known of the receiver.
type judgedReceiver struct {
	now        core.Micros
	tail       core.Number // all below was read
	base       core.Number // all below has come
	top        core.Number // 1 + the highest that is known to exist
	progressAt core.Micros
	lastReport core.Micros
	owes       bool // a record has come, or the limit has moved, since the last report
	failed     bool
	answers    int // reports since something came or was read
}

// Arrived says that a record of the sender arrived at the receiver, which means a sequence
// and those behind it in a SKIP.
func (j *Judge) Arrived(now core.Micros, n core.Number, r *protocol.Record) {
	v := &j.receiver
	v.now = max(v.now, now)
	v.owes, v.answers = true, 0
	end := n + 1
	if r.Type == protocol.TypeSkip {
		end = n + core.Number(r.Count)
	}
	if v.failed || n >= j.limit() && r.Type != protocol.TypeStatus || end > j.limit() && r.Type == protocol.TypeSkip || n > j.limit() {
		return
	}
	wasMissing := v.base < v.top
	if r.Type == protocol.TypeStatus {
		v.top = max(v.top, n)
	} else {
		v.top = max(v.top, end)
		j.came(n, end)
	}
	if v.base < v.top && !wasMissing {
		v.progressAt = v.now
	}
}

// limit is up to where the receiver takes sequences.
func (j *Judge) limit() core.Number { return j.receiver.tail + core.Number(j.cfg.Window) }

// came says which sequences have come.
func (j *Judge) came(n, end core.Number) {
	v := &j.receiver
	for ; n < end; n++ {
		if m := j.messages[n]; !m.came {
			m.came = true
			v.progressAt = v.now
		}
	}
	for v.base < j.sender.next && j.messages[v.base].came {
		v.base++
	}
}

// Read says what was read (CHT-SAFE-1 to CHT-SAFE-3, CHT-SAFE-5).
func (j *Judge) Read(m protocol.Message) error {
	v, n := &j.receiver, m.Sequence
	known := j.messages[n]
	if known == nil {
		return violates("CHT-SAFE-2", "%d is read, which was never sent", n)
	}
	end := known.end
	if m.Skipped {
		end = n + 1
	}
	if j.cfg.Kind == protocol.Ordered && n != v.tail {
		return violates("CHT-SAFE-1", "%d is read, next is %d", n, v.tail)
	}
	for i := n; i < end; i++ {
		s := j.messages[i]
		if s.read || !s.came {
			return violates("CHT-SAFE-2", "%d is read, read before %v, came %v", i, s.read, s.came)
		}
		s.read, s.skipped = true, m.Skipped
	}
	for v.tail < j.sender.next && j.messages[v.tail].read {
		v.tail++
		v.owes, v.answers = true, 0
	}
	j.counts.Read++
	if m.Skipped {
		j.counts.Skipped++
		return unless(known.diesAt <= j.sender.now, "CHT-SAFE-3", "%d is skipped, but its lifetime has not ended", n)
	}
	property := map[bool]string{true: "CHT-SAFE-1", false: "CHT-SAFE-2"}[j.cfg.Kind == protocol.Ordered]
	if known.end > known.first+1 {
		property = "CHT-SAFE-5"
	}
	return unless(n == known.first && bytes.Equal(m.Data, known.message), property, "%d is read as %d bytes, sent were %d from %d", n, len(m.Data), len(known.message), known.first)
}

// mostAnswers is how many reports follow the last record that came (CHT-BND-3).
func (j *Judge) mostAnswers() int { return 5 + int(j.cfg.GiveUp/(250*core.Millisecond)) }

// Holds says how many bytes of memory the receiver has for data (CHT-BND-1). A window smaller
// than the document's may have a few more slots than sequences.
func (j *Judge) Holds(bytes int) error {
	return unless(bytes <= max(j.cfg.Window, 8)*j.cfg.Data, "CHT-BND-1", "the receiver holds %d bytes", bytes)
}

// Reported says which report the receiver put into a packet. It must be true, and there must
// be a reason for it (CHT-SAFE-4, CHT-BND-2, CHT-BND-3).
func (j *Judge) Reported(now core.Micros, r *protocol.Record) error {
	v := &j.receiver
	v.now = max(v.now, now)
	since, reason := v.now-v.lastReport, v.owes || v.base < v.top
	v.lastReport, v.owes = v.now, false
	v.answers++
	j.counts.Reports++
	j.counts.BytesReports += r.Size()
	return first(
		unless(since >= soon, "CHT-BND-2", "a report %d us after another", since),
		unless(reason && v.answers <= j.mostAnswers(), "CHT-BND-3", "report %d since a record came", v.answers),
		unless(r.Size() <= 199, "CHV-6", "a report of %d bytes", r.Size()),
		j.truthful(r),
	)
}

// truthful checks what a report says (CHT-SAFE-4).
func (j *Judge) truthful(r *protocol.Record) error {
	v := &j.receiver
	at := func(bits uint16) core.Number { return v.base + modulo(core.Number(bits)-v.base, j.cfg.SequenceBits) }
	if base := at(r.Sequence); base != v.base || base+core.Number(r.Room) != j.limit() {
		return violates("CHT-SAFE-4", "a report of base %d, room %d; base is %d, limit %d", base, r.Room, v.base, j.limit())
	}
	for _, bits := range named16(r) {
		if n := at(bits); n >= v.top || j.messages[n] == nil || j.messages[n].came {
			return violates("CHT-SAFE-4", "a report names %d, which came or may not exist", n)
		}
	}
	return nil
}

// ReceiverPolled says that the receiver was polled until it said nothing, and whether it has failed.
func (j *Judge) ReceiverPolled(now core.Micros, failed bool) error {
	v := &j.receiver
	v.now = max(v.now, now)
	was := v.failed
	v.failed = failed
	late := v.base < v.top && v.now-v.progressAt >= j.cfg.GiveUp
	return unless(was || late == failed, "CHT-LIVE-2", "something is missing %v, for %d us; failed %v", v.base < v.top, v.now-v.progressAt, failed)
}
