package connectionoracle

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// The constants of section 8.3.
const (
	mostBetweenHoles = 16
	firstCredit      = 64
	mostCredit       = 256
	initialWindow    = 32
	trialWait        = 1_000_000
	named32          = 32
	mostIDs          = 8192
)

// witness is the variables of section 8.3.
type witness struct {
	seed   []byte // empty: no number is left out
	draws  int64
	until  int64
	holes  map[int64]bool
	lanes  []*transmitted
	repair bool
	credit int64
	acked  map[int64]bool // in an event before

	pathFrom, tried int64
	arrived         bool  // a transmission of this path
	heldUntil       int64 // no slice is sent before
}

// transmitted is what was sent on a lane.
type transmitted struct {
	chunk         int64 // the latest, from 0 on; -1: none
	count         int64 // its slices
	transmissions []transmission
	believed      map[int64]bool
	onCredit      int64
}

type transmission struct{ number, slice int64 }

func newWitness(cfg *Config) *witness {
	w := &witness{seed: cfg.Seed, repair: cfg.Repair, credit: firstCredit, holes: map[int64]bool{}, acked: map[int64]bool{}}
	for range cfg.Lanes {
		w.lanes = append(w.lanes, &transmitted{chunk: -1})
	}
	return w
}

// draw is CXM-18.
func (w *witness) draw() {
	mac := hmac.New(sha256.New, w.seed)
	_ = binary.Write(mac, binary.LittleEndian, w.draws/32)
	w.until = 1 + int64(mac.Sum(nil)[w.draws%32])%mostBetweenHoles
	w.draws++
}

// sent notes a packet with a slice.
func (w *witness) sent(now, number int64, r Record) {
	l := w.lanes[r.Lane]
	if l.chunk < 0 || l.chunk%65536 != r.Packet.ChunkID {
		*l = transmitted{chunk: l.chunk + 1, count: r.Packet.NumSlices, believed: map[int64]bool{}}
	}
	l.transmissions = append(l.transmissions, transmission{number, r.Packet.SliceID})
	if w.tried++; !w.arrived && w.tried >= initialWindow {
		w.heldUntil = now + trialWait*[]int64{1, 2, 4}[min(w.tried-initialWindow, 2)]
	}
}

// heavy notes a packet with a slice or messages. leaves says that the number behind it is skipped.
func (w *witness) heavy(number int64) (leaves bool) {
	if len(w.seed) == 0 {
		return false
	}
	if w.until == 0 {
		w.draw()
	}
	if w.until--; w.until == 0 {
		w.holes[number+1] = true
		return true
	}
	return false
}

// end ends an event, in which these numbers were acked.
func (w *witness) end(acked []int64, isResting bool) {
	for _, number := range acked {
		w.acked[number] = true
		for _, l := range w.lanes {
			if slices.ContainsFunc(l.transmissions, func(t transmission) bool { return t.number == number }) {
				w.credit = min(w.credit+1, mostCredit)
				w.arrived = w.arrived || number >= w.pathFrom
			}
		}
	}
	if w.arrived || w.tried < initialWindow {
		w.heldUntil = 0
	}
	for _, l := range w.lanes {
		if isResting {
			l.transmissions = nil
		}
	}
}

// lies is CXM-19 to CXM-21.
func (w *witness) lies(p *packetoracle.Endpoint, a packetoracle.Arrived, records []Record) bool {
	if a.Means < -1 || w.holes[a.Means] && p.Keeps(a.Means) {
		return true
	}
	for n := range int64(named32) {
		number := a.Means - n
		if a.Bits>>n&1 == 1 && (number < 0 || w.holes[number] && p.Keeps(number)) {
			return true
		}
	}
	return slices.ContainsFunc(records, func(r Record) bool { return r.Type == ChunkAck && w.ackLies(a, r) })
}

func (w *witness) ackLies(a packetoracle.Arrived, r Record) bool {
	l, p := w.lanes[r.Lane], r.Packet
	b := (l.chunk - p.ChunkID + 65536*2) % 65536
	switch {
	case l.chunk < 0 || b > l.chunk || b >= 32768:
		return true
	case b > 0 || !l.counts():
		return false
	case p.NumSlices != l.count:
		return true
	case w.repair:
		if p.Top > int64(len(l.transmissions)) || p.Top > 0 && w.is(a, l.transmissions[p.Top-1]) == absent {
			return true
		}
		return p.Have > w.count(a, l, p.Top, proven)+w.count(a, l, p.Top, open)
	}
	for id, acked := range p.Acked {
		if acked && !l.believed[int64(id)] && w.best(a, l, int64(id)) == absent {
			return true
		}
	}
	return false
}

func (l *transmitted) counts() bool {
	return len(l.transmissions) > 0 && len(l.transmissions) < mostIDs
}

// What a transmission is (CXM-21).
const (
	absent = iota
	open
	proven
)

func (w *witness) is(a packetoracle.Arrived, t transmission) int {
	behind := a.Means - t.number
	switch {
	case w.acked[t.number]:
		return proven
	case behind >= named32:
		return open
	case behind >= 0 && a.Bits>>behind&1 == 1:
		return proven
	}
	return absent
}

// best is the best that a transmission of a slice is.
func (w *witness) best(a packetoracle.Arrived, l *transmitted, id int64) (best int) {
	for _, t := range l.transmissions {
		if t.slice == id {
			best = max(best, w.is(a, t))
		}
	}
	return best
}

// count is how many transmissions below top are something.
func (w *witness) count(a packetoracle.Arrived, l *transmitted, top int64, what int) (n int64) {
	for _, t := range l.transmissions[:top] {
		if w.is(a, t) == what {
			n++
		}
	}
	return n
}

// believe is CXM-22: what the sender is given of an ack.
func (w *witness) believe(a packetoracle.Arrived, r Record) oracle.Packet {
	l, p := w.lanes[r.Lane], r.Packet
	if l.chunk%65536 != p.ChunkID || !l.counts() {
		return p
	}
	if w.repair {
		for sure := w.count(a, l, p.Top, proven); ; {
			if p.Have <= sure+l.onCredit || w.credit == 0 {
				p.Have = min(p.Have, sure+l.onCredit)
				return p
			}
			w.credit--
			l.onCredit++
		}
	}
	p.Acked = slices.Clone(p.Acked)
	for id, acked := range p.Acked {
		id := int64(id)
		if !acked || l.believed[id] {
			continue
		}
		switch w.best(a, l, id) {
		case proven:
			l.believed[id] = true
		case open:
			if w.credit > 0 {
				w.credit--
				l.believed[id] = true
			}
		}
		p.Acked[id] = l.believed[id]
	}
	return p
}
