package tcp

import (
	"slices"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// Figures of kcp-go, in milliseconds where they are times, with NoDelay(1, 10, 2, 1) and
// windows of 1024.
const (
	turboWindow   = 1024
	turboInterval = 10
	turboTick     = turboInterval * core.Millisecond
	turboResend   = 2
	turboFirstRTO = 200
	turboLeastRTO = 30
	turboMostRTO  = 60_000
	turboAckSize  = 24 // bytes of an ack; as many as fit go in a datagram
	turboMTU      = 1400
	turboDone     = -1 // fastack of what was sent again and waits for its timer
)

// millis is a time as kcp-go counts it.
func millis(t core.Micros) int64 { return int64(t / core.Millisecond) }

// turboSegment is segment of kcp-go.
type turboSegment struct {
	sent, got     bool
	at            int64 // ms: when it was sent for the last time
	rto, resendAt int64 // ms
	skips         int   // fastack: acks of what was sent no earlier and has a higher number
}

// turboData is the message of a datagram with data.
type turboData struct{ number, sent int64 }

// turboAck says which segment arrived, and when that was sent.
type turboAck struct{ number, sent int64 }

// turboAcks is the message of a datagram of acks.
type turboAcks struct {
	next int64 // all below have arrived
	list []turboAck
}

// turboSender is a KCP whose congestion control is off: a window of 1024 segments, each sent
// again when two acks skip it or its timer runs out. Its application always has more.
type turboSender struct {
	config              Config
	una, next           int64
	segments            []turboSegment // una to next - 1
	smoothed, variation int64          // ms
	rto                 int64          // ms
	out                 []turboData    // what flushes sent
	tickAt              core.Micros
}

func newTurboSender(c Config) *turboSender { return &turboSender{config: c, rto: turboFirstRTO} }

// Handle implements flows.End: Input of KCP.
func (s *turboSender) Handle(now core.Micros, d flows.Datagram) bool {
	m := d.Message.(*turboAcks)
	moved, skipped := s.forget(m.next), false
	for _, a := range m.list {
		skipped = s.acked(a) || skipped
	}
	s.sample(millis(now) - m.list[len(m.list)-1].sent)
	if moved || skipped {
		s.flush(now)
	}
	return false
}

// forget is parse_una.
func (s *turboSender) forget(next int64) (moved bool) {
	for ; s.una < min(next, s.next); s.una++ {
		s.segments = s.segments[1:]
		moved = true
	}
	return moved
}

// acked is parse_ack and parse_fastack. It reports whether a segment was skipped often
// enough.
func (s *turboSender) acked(a turboAck) (skipped bool) {
	if a.number < s.una || a.number >= s.next {
		return false
	}
	s.segments[a.number-s.una].got = true
	for i := range s.segments[:a.number-s.una] {
		if f := &s.segments[i]; f.at <= a.sent && f.skips != turboDone {
			f.skips++
			skipped = skipped || f.skips >= turboResend
		}
	}
	return skipped
}

// sample is update_ack.
func (s *turboSender) sample(r int64) {
	if s.smoothed == 0 {
		s.smoothed, s.variation = r, r/2
	} else {
		d := r - s.smoothed
		s.smoothed += d >> 3
		weight := 2
		if r < s.smoothed-s.variation {
			weight = 5
		}
		s.variation += (max(d, -d) - s.variation) >> weight
	}
	s.rto = min(max(s.smoothed+max(turboInterval, 4*s.variation), turboLeastRTO), turboMostRTO)
}

// flush is flush of KCP. It returns when the next one is due, as far as this one knows.
func (s *turboSender) flush(now core.Micros) (next core.Micros) {
	fresh := s.fill()
	current := millis(now)
	wait := int64(turboInterval)
	for i := range s.segments {
		f := &s.segments[i]
		if f.got {
			continue
		}
		if f.due(current, s.rto, fresh) {
			f.sent, f.at = true, current
			s.out = append(s.out, turboData{s.una + int64(i), current})
		}
		if left := f.resendAt - current; left > 0 {
			wait = min(wait, left)
		}
	}
	return now + core.Micros(wait)*core.Millisecond
}

// fill moves new segments into the window. It reports whether there were any.
func (s *turboSender) fill() (fresh bool) {
	for s.next < s.una+turboWindow && (s.config.Total == 0 || s.next < s.config.Total) {
		s.segments = append(s.segments, turboSegment{})
		s.next++
		fresh = true
	}
	return fresh
}

// due reports whether a segment is sent now, and sets its timer if so: for the first time,
// when it was skipped twice, or once if nothing new is sent, or when its timer has run out,
// which adds half a timeout to its own.
func (f *turboSegment) due(current, rto int64, fresh bool) bool {
	skipped := f.skips >= turboResend || f.skips > 0 && !fresh
	switch {
	case !f.sent:
		f.rto = rto
	case skipped:
		f.skips, f.rto = turboDone, rto
	case current >= f.resendAt:
		f.skips, f.rto = 0, f.rto+rto/2
	default:
		return false
	}
	f.resendAt = current + f.rto
	return true
}

// Poll implements flows.End.
func (s *turboSender) Poll(now core.Micros) (flows.Datagram, bool) {
	if now >= s.tickAt {
		s.tickAt = s.flush(now)
	}
	if len(s.out) == 0 {
		return flows.Datagram{}, false
	}
	data := s.out[0]
	s.out = s.out[1:]
	return flows.Datagram{Size: s.config.Size, Data: true, Message: &data}, true
}

// Deadline implements flows.End.
func (s *turboSender) Deadline() core.Micros { return s.tickAt }

// turboReceiver acks all on its next tick, or as soon as the acks fill a datagram.
type turboReceiver struct {
	got    pieces
	list   []turboAck
	out    []flows.Datagram
	tickAt core.Micros
}

func newTurboReceiver() *turboReceiver { return &turboReceiver{tickAt: core.Never} }

// Handle implements flows.End.
func (r *turboReceiver) Handle(now core.Micros, d flows.Datagram) bool {
	m := d.Message.(*turboData)
	r.list = append(r.list, turboAck(*m))
	news := m.number < r.got.next+turboWindow && r.got.add(m.number)
	if r.tickAt == core.Never {
		r.tickAt = (now/turboTick + 1) * turboTick
	}
	if len(r.list) >= turboMTU/turboAckSize {
		r.flush()
	}
	return news
}

// flush sends the acks. Those of what all below next covers are left out, but the last.
func (r *turboReceiver) flush() {
	var kept []turboAck
	for i, a := range r.list {
		if a.number >= r.got.next || i == len(r.list)-1 {
			kept = append(kept, a)
		}
	}
	for part := range slices.Chunk(kept, turboMTU/turboAckSize) {
		r.out = append(r.out, flows.Datagram{Size: turboAckSize * len(part), Message: &turboAcks{r.got.next, part}})
	}
	r.list, r.tickAt = nil, core.Never
}

// Poll implements flows.End.
func (r *turboReceiver) Poll(now core.Micros) (flows.Datagram, bool) {
	if now >= r.tickAt {
		r.flush()
	}
	if len(r.out) == 0 {
		return flows.Datagram{}, false
	}
	d := r.out[0]
	r.out = r.out[1:]
	return d, true
}

// Deadline implements flows.End.
func (r *turboReceiver) Deadline() core.Micros { return r.tickAt }
