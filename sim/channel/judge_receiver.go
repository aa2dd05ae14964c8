package channel

import (
	"bytes"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/seq"
)

// judgedReceiver is what is known of the receiver.
type judgedReceiver struct {
	now              machine.Micros
	tail             seq.Number // all below was read
	base             seq.Number // all below has come
	top              seq.Number // 1 + the highest that is known to exist
	progressAt       machine.Micros
	lastReport       machine.Micros
	owes             bool // a record has come, or the limit has moved, since the last report
	failed           bool
	reports, largest int
}

// Arrived says that a record of the sender arrived at the receiver, which means a sequence
// and those behind it in a SKIP.
func (j *Judge) Arrived(now machine.Micros, n seq.Number, r *protocol.Record) {
	v := &j.receiver
	v.now = max(v.now, now)
	v.owes = true
	end := n + 1
	if r.Type == protocol.TypeSkip {
		end = n + seq.Number(r.Count)
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
func (j *Judge) limit() seq.Number { return j.receiver.tail + seq.Number(j.cfg.Window) }

// came says which sequences have come.
func (j *Judge) came(n, end seq.Number) {
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
		v.owes = true
	}
	if m.Skipped {
		return unless(known.diesAt <= j.sender.now, "CHT-SAFE-3", "%d is skipped, but its lifetime has not ended", n)
	}
	return unless(n == known.first && bytes.Equal(m.Data, known.message), "CHT-SAFE-5", "%d is read as %d bytes, sent were %d from %d", n, len(m.Data), len(known.message), known.first)
}

// Reported says which report the receiver put into a packet. It must be true, and there must be a reason for it
// (CHT-SAFE-4, CHT-BND-2).
func (j *Judge) Reported(now machine.Micros, r *protocol.Record) error {
	v := &j.receiver
	v.now = max(v.now, now)
	since := v.now - v.lastReport
	v.lastReport = v.now
	v.reports++
	missing := v.base < v.top
	if since < soon || !v.owes && !missing {
		return violates("CHT-BND-2", "a report %d us after another, something came %v, something is missing %v", since, v.owes, missing)
	}
	v.owes = false
	at := func(bits uint16) seq.Number { return v.base + modulo(seq.Number(bits)-v.base, j.cfg.SequenceBits) }
	if base := at(r.Sequence); base != v.base || base+seq.Number(r.Room) != j.limit() {
		return violates("CHT-SAFE-4", "a report of base %d, room %d; base is %d, limit %d", base, r.Room, v.base, j.limit())
	}
	named := named16(r)
	for _, bits := range named {
		n := at(bits)
		if n >= v.top || j.messages[n] != nil && j.messages[n].came {
			return violates("CHT-SAFE-4", "a report names %d, which came or may not exist", n)
		}
	}
	if size := reportHead + groupSize*len(r.Groups); size > 199 {
		return violates("CHT-BND-2", "a report of %d bytes", size)
	}
	return nil
}

// ReceiverPolled says that the receiver was polled until it said nothing, and whether it has failed.
func (j *Judge) ReceiverPolled(now machine.Micros, failed bool) error {
	v := &j.receiver
	v.now = max(v.now, now)
	was := v.failed
	v.failed = failed
	late := v.base < v.top && v.now-v.progressAt >= j.cfg.GiveUp
	return unless(was || late == failed, "CHT-LIVE-2", "something is missing %v, for %d us; failed %v", v.base < v.top, v.now-v.progressAt, failed)
}
