package inspect

import (
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/packet"
)

// Loss is what the path lost of what an end sent: on the way to where the capture was made, and behind it.
type Loss struct {
	Before Share `json:"before"` // numbers or slices that did not come here
	After  Share `json:"after"`  // the acks of the other end do not have them
}

// Share is how many of some things were lost.
type Share struct {
	What string `json:"what,omitempty"` // datagrams, packets or slices; nothing if the capture does not show it
	Lost int    `json:"lost"`
	Of   int    `json:"of"` // of which it is known
}

// Percent returns the share in percent.
func (s Share) Percent() float64 {
	if s.Of == 0 {
		return 0
	}
	return 100 * float64(s.Lost) / float64(s.Of)
}

// Percent returns what both parts of the path lost, in percent.
func (l Loss) Percent() float64 {
	return 100 - (100-l.Before.Percent())*(100-l.After.Percent())/100
}

// Trips are round trips between where the capture was made and an end.
type Trips struct {
	Samples int     `json:"samples"`
	Least   float64 `json:"least_ms"`
	Median  float64 `json:"median_ms"`
	Most    float64 `json:"most_ms"`
}

func tripsOf(list []time.Duration) (t Trips) {
	if len(list) == 0 {
		return t
	}
	slices.Sort(list)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return Trips{len(list), ms(list[0]), ms(list[len(list)/2]), ms(list[len(list)-1])}
}

// farthest is how far the numbers of an end can be from each other.
const farthest = 1 << 16

// numbers are those of the datagrams or packets of an end, which are sent with their low bits.
type numbers struct {
	first, newest int64
	seen          map[int64]time.Time
	arrived       map[int64]bool // what acks say of them
	again         int            // that were seen already
}

// whole returns the number with these low bits that is the nearest to the newest one.
func (n *numbers) whole(low uint64, bits int) int64 {
	turn := int64(1) << bits
	d := (int64(low) - n.newest) & (turn - 1)
	if d >= turn/2 {
		d -= turn
	}
	return n.newest + d
}

// add takes the next number, and reports whether it is new. The first one is where they begin, unless that is
// known to be 0.
func (n *numbers) add(at time.Time, low uint64, bits int, fromZero bool) (isNew bool) {
	if n.seen == nil {
		n.seen, n.arrived = map[int64]time.Time{}, map[int64]bool{}
		n.first, n.newest = int64(low), int64(low)
		if fromZero {
			n.first = 0
		}
	}
	k := n.whole(low, bits)
	if k-n.newest > farthest || n.newest-k > farthest {
		return true // it is forged
	}
	if _, had := n.seen[k]; had {
		n.again++
		return false
	}
	n.seen[k] = at
	n.first, n.newest = min(n.first, k), max(n.newest, k)
	return true
}

// share returns how many numbers the capture does not have.
func (n *numbers) share(what string) Share {
	if len(n.seen) == 0 {
		return Share{}
	}
	of := int(n.newest - n.first + 1)
	return Share{what, of - len(n.seen), of}
}

// acked takes what a header says of the packets, and returns the round trip of the newest, if it is new.
// A packet that went by before the newest one, and that the ack does not have, is lost until another has it.
func (n *numbers) acked(at time.Time, h packet.Header) (trip time.Duration, ok bool) {
	if len(n.seen) == 0 {
		return 0, false
	}
	ack := n.whole(uint64(h.Ack), 16)
	newest := n.seen[ack]
	for i := range 32 {
		k, has := ack-int64(i), h.AckBits>>i&1 == 1
		sent, seen := n.seen[k]
		before, known := n.arrived[k]
		if !seen || !has && (known || !sent.Before(newest)) {
			continue
		}
		n.arrived[k] = has
		if i == 0 && !before {
			trip, ok = at.Sub(sent), true
		}
	}
	return trip, ok
}

// ackedShare returns how many packets did not arrive of those of which acks say something.
func (n *numbers) ackedShare() Share {
	s := Share{Of: len(n.arrived)}
	if s.Of == 0 {
		return s
	}
	s.What = "packets"
	for _, arrived := range n.arrived {
		if !arrived {
			s.Lost++
		}
	}
	return s
}

// packet takes the header of a packet of an end, or the number of a fragment.
func (s *Story) packet(at time.Time, end int, p *packet.Packet) {
	if p.FragmentID > 0 {
		return
	}
	s.packets[end].add(at, uint64(p.Sequence), 16, s.linked)
	if trip, ok := s.packets[1-end].acked(at, p.Header); ok {
		s.trip(1-end, trip)
	}
}

// trip takes a round trip of what an end sent.
func (s *Story) trip(end int, d time.Duration) {
	if s.trips[end] = append(s.trips[end], d); s.least[end] == 0 || d < s.least[end] {
		s.least[end] = d
	}
}

// shortest returns the shortest round trip from end to end, as far as both parts are known.
func (s *Story) shortest() time.Duration { return s.least[0] + s.least[1] }

// losses says what the path lost of what an end sent: what numbers say is of all datagrams, what chunks
// say is of their slices.
func (s *Story) losses(end int) (l Loss) {
	counters, packets := &s.counters[end], &s.packets[end]
	switch {
	case len(counters.seen) > 0:
		l.Before, l.After = counters.share("datagrams"), packets.ackedShare()
	case len(packets.seen) > 0:
		l.Before, l.After = packets.share("packets"), packets.ackedShare()
	}
	for _, k := range s.Chunks {
		if k.End != end || len(counters.seen) > 0 {
			continue
		}
		k.gaps()
		l.Before.What, l.After.What = "slices", "slices"
		l.Before.Lost, l.Before.Of = l.Before.Lost+k.LostBefore, l.Before.Of+k.different()
		l.After.Lost, l.After.Of = l.After.Lost+k.Lost, l.After.Of+k.Judged
	}
	return l
}
