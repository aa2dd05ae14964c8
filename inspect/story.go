package inspect

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/session"
)

// Captured is a datagram of a capture.
type Captured struct {
	At       time.Time
	From, To netip.AddrPort
	Result   Result
}

// Story is what two ends said to each other, as far as a capture shows it.
type Story struct {
	Ends     [2]End     `json:"ends"` // the first to speak is 0
	Seconds  float64    `json:"seconds"`
	Protocol Protocol   `json:"protocol"`
	Plain    *Lane      `json:"plain,omitempty"` // of plain chunks: the lane of the first datagram that is taken
	Lines    []Line     `json:"lines"`           // what happened, in order
	Chunks   []*Chunk   `json:"chunks"`          // in the order in which they began
	RTT      Trips      `json:"round_trip"`
	Silences []Silence  `json:"silences,omitempty"`
	Refused  []Refusals `json:"refused,omitempty"`
	Ended    string     `json:"ended"`
	Verdict  string     `json:"verdict"` // who was at fault, in a sentence

	began, last time.Time
	heard       [2]time.Time // the latest datagram of each end
	unanswered  [2]int       // datagrams since then of the other
	seen        [2]map[uint64]bool
	next        [2]uint64
	linked      bool
	refused     bool
	closed      bool
	encrypted   int
	large       [2]int // encrypted datagrams that are large enough for a full slice
	trips       []time.Duration
	open        map[chunkKey]*Chunk
}

// End is one of the two.
type End struct {
	Address    string `json:"address"`
	Datagrams  int    `json:"datagrams"`
	Bytes      int64  `json:"bytes"`
	Missing    int    `json:"missing"`    // counters of its datagrams that the capture does not have
	Duplicates int    `json:"duplicates"` // datagrams that the capture has twice
}

// Line is an event with its time from the beginning.
type Line struct {
	Seconds float64 `json:"seconds"`
	End     int     `json:"end"`
	Text    string  `json:"text"`
}

// Trips are round trips: from a slice, sent once, to the first ack that has it.
type Trips struct {
	Samples int     `json:"samples"`
	Least   float64 `json:"least_ms"`
	Median  float64 `json:"median_ms"`
	Most    float64 `json:"most_ms"`
}

// Silence is a time in which an end sent nothing and the other did.
type Silence struct {
	End     int     `json:"end"`
	From    float64 `json:"from_seconds"`
	Seconds float64 `json:"seconds"`
	Ignored int     `json:"datagrams_of_the_other"`
}

// Refusals counts the datagrams of an end that no decoder takes.
type Refusals struct {
	End       int     `json:"end"` // that sent them
	Code      string  `json:"code"`
	Sentence  string  `json:"sentence"`
	Datagrams int     `json:"datagrams"`
	First     float64 `json:"first_seconds"`
}

// Chunk is a chunk on its way.
type Chunk struct {
	End       int     `json:"end"` // that sends it
	Lane      int     `json:"lane"`
	ID        uint16  `json:"chunk"`
	Slices    int     `json:"slices"`
	Repair    bool    `json:"repair"` // repair slices
	Began     float64 `json:"began_seconds"`
	Completed float64 `json:"completed_seconds,omitempty"` // when the first ack that says so was seen
	Complete  bool    `json:"complete"`
	Sent      int     `json:"sent"`             // transmissions
	Extra     int     `json:"extra"`            // repair slices
	Resent    Resent  `json:"resent"`           // why
	Have      int     `json:"acked"`            // by the latest ack
	Lost      int     `json:"lost"`             // transmissions that the acks show to be lost
	Acks      int     `json:"acks"`             //
	AcksSame  int     `json:"acks_that_repeat"` // that say nothing new

	times map[int][]time.Time // of each slice
	order []int               // transmissions
	acked map[int]time.Time   // when an ack first had the slice
	top   int
	key   chunkKey
}

// Resent counts slices that were sent again, by the reason that the capture shows.
type Resent struct {
	Lost       int `json:"lost"`        // later ones had been acked
	Timeout    int `json:"timeout"`     // nothing that was sent later had been acked
	HadAlready int `json:"had_already"` // an ack that has it had gone by: that ack was lost or late
}

type chunkKey struct {
	end, lane int
	id        uint16
}

const (
	// silent is the shortest silence that is told.
	silent = 500 * time.Millisecond
	// told is how many lines a story has at most.
	told = 200
)

// newStory returns the story that begins with a datagram.
func newStory(c *Captured) *Story {
	s := &Story{began: c.At, Protocol: c.Result.Protocol, open: map[chunkKey]*Chunk{}, seen: [2]map[uint64]bool{{}, {}}, Chunks: []*Chunk{}, Lines: []Line{}}
	s.Ends[0].Address, s.Ends[1].Address = c.From.String(), c.To.String()
	s.heard = [2]time.Time{c.At, c.At}
	return s
}

// Stories tells what the ends of each pair of addresses said to each other, in the order in which they began.
func Stories(list []Captured) (all []*Story) {
	of := map[[2]netip.AddrPort]*Story{}
	for i := range list {
		c := &list[i]
		s, end := of[[2]netip.AddrPort{c.From, c.To}], 0
		if s == nil {
			s, end = of[[2]netip.AddrPort{c.To, c.From}], 1
		}
		if s == nil {
			s, end = newStory(c), 0
			of[[2]netip.AddrPort{c.From, c.To}] = s
			all = append(all, s)
		}
		s.add(c, end)
	}
	for _, s := range all {
		s.finish()
	}
	return all
}

// since returns a time in seconds from the beginning.
func (s *Story) since(at time.Time) float64 { return at.Sub(s.began).Seconds() }

func (s *Story) line(at time.Time, end int, format string, args ...any) {
	if len(s.Lines) < told {
		s.Lines = append(s.Lines, Line{s.since(at), end, fmt.Sprintf(format, args...)})
	}
}

// add adds the next datagram, which an end sent.
func (s *Story) add(c *Captured, end int) {
	s.last = c.At
	e := &s.Ends[end]
	e.Datagrams++
	e.Bytes += int64(c.Result.Size)
	s.hear(c.At, end)
	h := &c.Result.holds
	if s.Protocol == Unknown {
		s.Protocol = c.Result.Protocol
	}
	switch {
	case c.Result.Refused != nil && c.Result.Refused.Sentence == "CXE-24":
		e.Duplicates++
		return
	case c.Result.Refused != nil:
		s.refuse(c, end)
		return
	case c.Result.Protocol == Unknown:
		return
	}
	if s.Plain == nil {
		s.Plain = c.Result.Lane
	}
	if h.message != nil {
		s.message(c, end)
	}
	for i := range h.chunks {
		s.chunk(c.At, end, &h.chunks[i])
	}
	if h.closed != nil && !s.closed {
		s.closed = true
		s.line(c.At, end, "closes the connection, code %d%s", h.closed.Code, quoted(h.closed.Text))
		s.Ended = fmt.Sprintf("%s closed the connection, code %d%s", s.name(end), h.closed.Code, quoted(h.closed.Text))
	}
}

func quoted(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf(", %q", text)
}

func (s *Story) name(end int) string { return s.Ends[end].Address }

// hear notes a silence that ends, and counts for the other end.
func (s *Story) hear(at time.Time, end int) {
	s.endSilence(at, end)
	s.heard[end], s.unanswered[end] = at, 0
	s.unanswered[1-end]++
}

func (s *Story) endSilence(at time.Time, end int) {
	if quiet := at.Sub(s.heard[end]); quiet >= silent && s.unanswered[end] >= 2 {
		s.Silences = append(s.Silences, Silence{end, s.since(s.heard[end]), quiet.Seconds(), s.unanswered[end]})
	}
}

// refuse counts a datagram that no decoder takes.
func (s *Story) refuse(c *Captured, end int) {
	r := c.Result.Refused
	for i := range s.Refused {
		if k := &s.Refused[i]; k.End == end && k.Sentence == r.Sentence && k.Code == string(r.Code) {
			k.Datagrams++
			return
		}
	}
	s.Refused = append(s.Refused, Refusals{end, string(r.Code), r.Sentence, 1, s.since(c.At)})
	s.line(c.At, end, "sends what is refused: %s", r.Text)
}

// message takes a message of the handshake, or counts an envelope.
func (s *Story) message(c *Captured, end int) {
	m := c.Result.holds.message
	switch m.Kind {
	case session.KindLinked:
		s.linked = true
	case session.KindRefused:
		s.refused = true
		s.Ended = fmt.Sprintf("%s refused the connection: %v", s.name(end), m.Reason)
	case session.KindCRC, session.KindMAC, session.KindAEAD:
		s.count(c, end)
		return
	}
	s.line(c.At, end, "%s", c.Result.Summary)
}

// count looks at the counter of an envelope, of which the low bits are enough here.
func (s *Story) count(c *Captured, end int) {
	h := &c.Result.holds
	counter := uint64(h.message.Counter)
	e := &s.Ends[end]
	if !h.opened && len(h.chunks) == 0 && h.message.Kind == session.KindAEAD {
		s.encrypted++
		if c.Result.Size > codec.SliceSize {
			s.large[end]++
		}
	}
	switch {
	case s.seen[end][counter]:
		e.Duplicates++
	case counter >= s.next[end]:
		e.Missing += int(min(counter-s.next[end], 1<<20))
		s.next[end] = counter + 1
	case e.Missing > 0:
		e.Missing-- // it came late
	}
	s.seen[end][counter] = true
}

// chunk takes a slice or an ack.
func (s *Story) chunk(at time.Time, end int, c *laneChunk) {
	if c.ack {
		if k := s.open[chunkKey{1 - end, c.lane, c.id}]; k != nil && k.Slices == c.slices {
			s.ack(at, k, c)
		}
		return
	}
	key := chunkKey{end, c.lane, c.id}
	k := s.open[key]
	if k == nil || k.Slices != c.slices {
		k = &Chunk{End: end, Lane: c.lane, ID: c.id, Slices: c.slices, Repair: c.repair, Began: s.since(at), times: map[int][]time.Time{}, acked: map[int]time.Time{}, key: key}
		s.open[key] = k
		s.Chunks = append(s.Chunks, k)
		s.line(at, end, "begins chunk %d on lane %d, %d slices", k.ID, k.Lane, k.Slices)
	}
	k.send(at, c.slice)
}

// send counts a transmission of a slice, and why it is not the first.
func (k *Chunk) send(at time.Time, slice int) {
	k.Sent++
	if slice >= k.Slices {
		k.Extra++
	}
	if before := k.times[slice]; len(before) > 0 {
		switch _, had := k.acked[slice]; {
		case k.Complete || had:
			k.Resent.HadAlready++
		case k.laterAcked(before[len(before)-1]):
			k.Resent.Lost++
		default:
			k.Resent.Timeout++
		}
	}
	k.times[slice] = append(k.times[slice], at)
	k.order = append(k.order, slice)
}

// laterAcked reports whether an ack has a slice that was sent after a time.
func (k *Chunk) laterAcked(sent time.Time) bool {
	for slice := range k.acked {
		if times := k.times[slice]; len(times) > 0 && times[0].After(sent) {
			return true
		}
	}
	return false
}

// ack takes an ack of a chunk.
func (s *Story) ack(at time.Time, k *Chunk, c *laneChunk) {
	k.Acks++
	before, topBefore := k.Have, k.top
	k.Have, k.top = max(k.Have, c.have), max(k.top, c.top)
	for slice, times := range k.times {
		if _, had := k.acked[slice]; had || c.acked == nil || !c.acked(slice) {
			continue
		}
		k.acked[slice] = at
		if len(times) == 1 {
			s.trips = append(s.trips, at.Sub(times[0]))
		}
	}
	if times := k.times[c.top-1]; c.repair && c.top > topBefore && len(times) == 1 {
		s.trips = append(s.trips, at.Sub(times[0]))
	}
	if c.repair {
		k.Lost = max(k.Lost, k.top-k.Have)
	}
	if before == k.Have && topBefore == k.top {
		k.AcksSame++
	}
	if c.have == c.slices && !k.Complete {
		k.Complete, k.Completed = true, s.since(at)
		if !c.repair {
			k.Lost = k.Resent.Lost + k.Resent.Timeout
		}
		s.line(at, 1-k.End, "has all of chunk %d on lane %d, %.3f s after it began%s", k.ID, k.Lane, k.Completed-k.Began, k.costs())
	}
}

// costs says what a chunk took beside its slices.
func (k *Chunk) costs() string {
	s := fmt.Sprintf("; %d slices sent for %d", k.Sent, k.Slices)
	if k.Extra > 0 {
		s += fmt.Sprintf(", %d of them repair slices", k.Extra)
	}
	if n := k.Resent.Lost + k.Resent.Timeout + k.Resent.HadAlready; n > 0 {
		s += fmt.Sprintf(", %d again (%d lost, %d after a time-out, %d that the receiver had)", n, k.Resent.Lost, k.Resent.Timeout, k.Resent.HadAlready)
	}
	return s
}

// finish makes what needs the whole capture.
func (s *Story) finish() {
	s.Seconds = s.since(s.last)
	for end := range s.heard {
		s.endSilence(s.last, end)
	}
	s.RTT = trips(s.trips)
	if s.Ended == "" {
		s.Ended = s.openEnd()
	}
	s.Verdict = s.verdict()
}

func trips(list []time.Duration) (t Trips) {
	if len(list) == 0 {
		return t
	}
	slices.Sort(list)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return Trips{len(list), ms(list[0]), ms(list[len(list)/2]), ms(list[len(list)-1])}
}

// openEnd says how it stands at the end of the capture.
func (s *Story) openEnd() string {
	whole, part := 0, 0
	for _, k := range s.Chunks {
		if k.Complete {
			whole++
		} else {
			part++
		}
	}
	switch {
	case s.encrypted > 0:
		return fmt.Sprintf("the capture ends; %d datagrams are encrypted, and no key was given; by their sizes %s sent %d full slices, and %s %d",
			s.encrypted, s.name(0), s.large[0], s.name(1), s.large[1])
	case part > 0:
		return fmt.Sprintf("the capture ends with %d chunks complete and %d under way", whole, part)
	case whole > 0:
		return fmt.Sprintf("the capture ends with all %d chunks complete", whole)
	}
	return "the capture ends"
}

// verdict says who was at fault: the first of these that is so.
func (s *Story) verdict() string {
	a, b := &s.Ends[0], &s.Ends[1]
	lost, sent := 0, 0
	for _, k := range s.Chunks {
		lost, sent = lost+k.Lost, sent+k.Sent
	}
	switch {
	case s.refused:
		return s.Ended + "."
	case b.Datagrams == 0:
		return fmt.Sprintf("%s never answered %s, which sent %d datagrams: it is not there, hears another address, or refuses what comes.", b.Address, a.Address, a.Datagrams)
	case s.mostlyRefused() >= 0:
		end := s.mostlyRefused()
		return fmt.Sprintf("most of what %s sent is refused: see what is refused above; a wrong --protocol-id, --lanes or protocol is likely.", s.name(end))
	case !s.closed && s.silentEnd() >= 0:
		end := s.silentEnd()
		return fmt.Sprintf("%s fell silent and said nothing more, while %s went on.", s.name(end), s.name(1-end))
	case len(s.Silences) > 0:
		worst := slices.MaxFunc(s.Silences, func(x, y Silence) int { return int(1e6 * (x.Seconds - y.Seconds)) })
		return fmt.Sprintf("%s was silent for %.1f s, and then went on: it, or the path from it, stopped.", s.name(worst.End), worst.Seconds)
	case lost > 0:
		return fmt.Sprintf("nobody was at fault; the path lost %d of %d slices (%.1f %%).", lost, sent, 100*float64(lost)/float64(sent))
	}
	return "nobody was at fault."
}

// mostlyRefused returns the end of whose datagrams more than half were refused, or -1.
func (s *Story) mostlyRefused() int {
	var n [2]int
	for _, r := range s.Refused {
		n[r.End] += r.Datagrams
	}
	for end := range n {
		if 2*n[end] > s.Ends[end].Datagrams {
			return end
		}
	}
	return -1
}

// silentEnd returns the end whose silence lasts until the end of the capture, or -1.
func (s *Story) silentEnd() int {
	for _, q := range s.Silences {
		if q.From+q.Seconds >= s.Seconds && s.heard[q.End].Before(s.last) {
			return q.End
		}
	}
	return -1
}
