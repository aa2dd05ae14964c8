package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/codec"
)

// Chunk is a chunk on its way.
type Chunk struct {
	End        int     `json:"end"` // that sends it
	Lane       int     `json:"lane"`
	ID         uint16  `json:"chunk"`
	Slices     int     `json:"slices"`
	Repair     bool    `json:"repair"` // repair slices
	Began      float64 `json:"began_seconds"`
	Completed  float64 `json:"completed_seconds,omitempty"` // when the first ack that says so was seen
	Complete   bool    `json:"complete"`
	Sent       int     `json:"sent"`             // transmissions that the capture has
	Extra      int     `json:"extra"`            // of them repair slices
	Resent     Resent  `json:"resent"`           // slices that it has more than once, and why
	Have       int     `json:"acked"`            // by the latest ack
	Judged     int     `json:"fate_known"`       // transmissions of which acks say whether they arrived
	Lost       int     `json:"lost"`             // of them
	LostBefore int     `json:"lost_before"`      // slices that did not come here when they were first sent
	Acks       int     `json:"acks"`             //
	AcksSame   int     `json:"acks_that_repeat"` // that say nothing new
	Again      []Again `json:"again,omitempty"`  // each slice that was sent again

	of      map[int][]int // of each slice, its transmissions
	order   []transmission
	judged  int          // below it, the fate of each transmission is known
	acked   map[int]bool // slices that an ack had
	top     int
	highest int  // slice id
	whole   bool // its beginning is here
	key     chunkKey
}

// Resent counts slices that were sent again, by the reason that the capture shows.
type Resent struct {
	Lost       int `json:"lost"`        // acks had later ones and not this one
	Timeout    int `json:"timeout"`     // no ack had what was sent later, for longer than a round trip
	Copies     int `json:"copies"`      // sooner than an ack could come: made in advance
	HadAlready int `json:"had_already"` // an ack that has it had gone by: that ack was lost or late
}

// Again is a slice that was sent again.
type Again struct {
	Seconds float64 `json:"seconds"`
	Slice   int     `json:"slice"`
	After   float64 `json:"after_ms"` // since it was sent last
	Why     string  `json:"why"`      // as the members of Resent
}

func (r *Resent) sum() int { return r.Lost + r.Timeout + r.Copies + r.HadAlready }

// transmission is a slice that was sent once.
type transmission struct {
	slice int
	at    time.Time
	fate  fate
}

type fate uint8

const (
	unclear fate = iota // of several, one arrived
	arrived
	gone
)

type chunkKey struct {
	end, lane int
	id        uint16
}

// overtaken is how far ahead others must be when a slice comes for the first time, so that its first
// transmission was lost before and not just late.
const overtaken = 3

// early is the slice below which the first one that the capture has must be, to have the beginning of a chunk.
const early = 16

// chunk takes a slice or an ack.
func (s *Story) chunk(at time.Time, end int, c *laneChunk) {
	if a := &c.Ack; c.Type == codec.TypeAck {
		if k := s.open[chunkKey{1 - end, c.lane, a.ChunkID}]; k != nil && k.Slices == a.NumSlices {
			s.ack(at, k, a)
		}
		return
	}
	slice := &c.Slice
	key := chunkKey{end, c.lane, slice.ChunkID}
	k := s.open[key]
	if k == nil || k.Slices != slice.NumSlices {
		k = &Chunk{End: end, Lane: c.lane, ID: slice.ChunkID, Slices: slice.NumSlices, Repair: slice.LastBytes > 0, Began: s.since(at), of: map[int][]int{}, acked: map[int]bool{}, highest: -1, key: key}
		k.whole = slice.SliceID < early
		s.open[key] = k
		s.Chunks = append(s.Chunks, k)
		does := "begins"
		if !k.whole {
			does = "goes on with"
		}
		s.line(at, end, "%s chunk %d on lane %d, %s", does, k.ID, k.Lane, count(k.Slices, "slice"))
	}
	s.send(at, k, slice.SliceID)
}

// again counts a slice that was sent again, and says why.
func (k *Chunk) again(at time.Time, last *transmission, shortest time.Duration) (why string) {
	switch {
	case k.Complete || k.acked[last.slice]:
		k.Resent.HadAlready++
		return "had_already"
	case last.fate == gone:
		k.Resent.Lost++
		return "lost"
	case at.Sub(last.at) < shortest:
		k.Resent.Copies++
		return "copies"
	}
	k.Resent.Timeout++
	return "timeout"
}

// send counts a transmission of a slice, and why it is not the first.
func (s *Story) send(at time.Time, k *Chunk, slice int) {
	k.Sent++
	if slice >= k.Slices {
		k.Extra++
	}
	if before := k.of[slice]; len(before) > 0 {
		last := &k.order[before[len(before)-1]]
		why := k.again(at, last, s.shortest())
		k.Again = append(k.Again, Again{s.since(at), slice, at.Sub(last.at).Seconds() * 1000, why})
	} else if k.whole && !k.Repair && k.highest-slice >= overtaken {
		k.LostBefore++
	}
	k.highest = max(k.highest, slice)
	k.of[slice] = append(k.of[slice], len(k.order))
	k.order = append(k.order, transmission{slice: slice, at: at})
}

// gaps counts what is missing of repair slices, of which each is sent only once.
func (k *Chunk) gaps() {
	if k.Repair && k.whole {
		k.LostBefore = k.highest + 1 - len(k.of)
	}
}

// different returns how many slices there should be here, each counted once, of a chunk whose beginning is here.
func (k *Chunk) different() int {
	switch {
	case !k.whole:
		return 0
	case k.Repair:
		return k.highest + 1
	}
	return len(k.of)
}

// missing returns how many of the slices below one the capture does not have.
func (k *Chunk) missing(below int) int {
	have := len(k.of)
	for slice := below; slice <= k.highest; slice++ { // those that are under way
		if len(k.of[slice]) > 0 {
			have--
		}
	}
	return max(0, min(below, k.highest+1)-have)
}

// ack takes an ack of a chunk.
func (s *Story) ack(at time.Time, k *Chunk, a *codec.Ack) {
	k.Acks++
	if k.Complete || have(a) <= k.Have && a.Top <= k.top {
		k.AcksSame++
		return
	}
	if k.Repair {
		s.repairAck(at, k, a)
	} else {
		s.sliceAck(at, k, a)
	}
	k.Have, k.top = max(k.Have, have(a)), max(k.top, a.Top)
	k.gaps()
	if have(a) == a.NumSlices {
		k.Complete, k.Completed = true, s.since(at)
		s.line(at, 1-k.End, "has all of chunk %d on lane %d after %.3f s; %s", k.ID, k.Lane, k.Completed-k.Began, k.costs())
	}
}

// repairAck takes an ack that says how many slices arrived, of those below its top.
func (s *Story) repairAck(at time.Time, k *Chunk, a *codec.Ack) {
	if a.Top <= k.top {
		return
	}
	if sent := k.of[a.Top-1]; len(sent) == 1 {
		s.trip(k.End, at.Sub(k.order[sent[0]].at))
	}
	if k.whole {
		before := k.missing(a.Top)
		k.Judged = a.Top - before
		k.Lost = max(0, k.Judged-have(a))
	}
}

// sliceAck takes an ack that says which slices arrived. Those that were sent before one that it has, and
// that it does not have, are lost.
func (s *Story) sliceAck(at time.Time, k *Chunk, a *codec.Ack) {
	latest := k.judged
	for slice := range k.Slices {
		if k.acked[slice] || !a.Acked.Has(slice) {
			continue
		}
		k.acked[slice] = true
		if len(k.of[slice]) == 0 {
			continue
		}
		if i := k.arrive(slice, at, s.shortest()); i >= 0 {
			latest = max(latest, i+1)
			if len(k.of[slice]) == 1 {
				s.trip(k.End, at.Sub(k.order[i].at))
			}
		}
	}
	for ; k.judged < latest; k.judged++ {
		if t := &k.order[k.judged]; t.fate == unclear && !k.acked[t.slice] {
			t.fate = gone
			k.Judged, k.Lost = k.Judged+1, k.Lost+1
		}
	}
}

// arrive finds the transmission of a slice that arrived: the only one that was not lost and that is old
// enough for its ack. It returns -1 if that is not clear.
func (k *Chunk) arrive(slice int, at time.Time, shortest time.Duration) (index int) {
	sent, can := k.of[slice], -1
	for n := len(sent) - 1; n >= 0; n-- {
		t := &k.order[sent[n]]
		if n > 0 && at.Sub(t.at) < shortest*9/10 || t.fate == gone {
			continue
		}
		if can >= 0 {
			k.Judged++ // one of them arrived; of the others nothing is known
			return -1
		}
		can = sent[n]
	}
	if can < 0 { // it was overtaken, not lost
		can = sent[0]
		k.Judged, k.Lost = k.Judged-1, k.Lost-1
	}
	k.order[can].fate = arrived
	k.Judged++
	return can
}

// costs says what a chunk took beside its slices.
func (k *Chunk) costs() string {
	s := fmt.Sprintf("%s for %d", count(k.Sent, "slice"), k.Slices)
	if k.Extra > 0 {
		s += fmt.Sprintf(", %d of them repair slices", k.Extra)
	}
	if n := k.Resent.sum(); n > 0 {
		s += fmt.Sprintf("; %d again: %s", n, k.Resent)
	}
	if n := k.LostBefore; n > 0 {
		s += fmt.Sprintf("; %d had been lost before they came here", n)
	}
	return s
}

func (r Resent) String() string {
	var list []string
	for _, why := range []struct {
		n    int
		text string
	}{{r.Lost, "lost"}, {r.Timeout, "after a time-out"}, {r.Copies, "in advance"}, {r.HadAlready, "though an ack had it"}} {
		if why.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", why.n, why.text))
		}
	}
	return strings.Join(list, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
