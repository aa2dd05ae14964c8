package inspect

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/session"
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
	LeftOut  int        `json:"lines_left_out"`
	Chunks   []*Chunk   `json:"chunks"` // in the order in which they began
	Silences []Silence  `json:"silences,omitempty"`
	Refused  []Refusals `json:"refused,omitempty"`
	Ended    string     `json:"ended"`
	Verdict  string     `json:"verdict"` // who was at fault, in a sentence

	began, last time.Time
	heard       [2]time.Time // the latest datagram of each end
	unanswered  [2]int       // datagrams since then of the other
	counters    [2]numbers   // of envelopes
	packets     [2]numbers
	said        map[string]bool // messages of the handshake
	nonce       session.Nonce   // of the latest LINK
	linked      bool            // here: the numbers of both ends begin with 0
	resumed     bool            // a connection that began elsewhere
	refused     bool
	closed      bool
	unknown     int  // datagrams
	sure        bool // a datagram has what does not fit by chance: a crc, a message of the handshake, a record of a chunk
	encrypted   int
	large       [2]int // encrypted datagrams that are large enough for a full slice
	trips       [2][]time.Duration
	least       [2]time.Duration
	numbered    []bool // of each silence: the end's datagrams before it had numbers
	open        map[chunkKey]*Chunk
}

// End is one of the two.
type End struct {
	Address    string `json:"address"`
	Datagrams  int    `json:"datagrams"`
	Bytes      int64  `json:"bytes"`
	Duplicates int    `json:"duplicates"` // datagrams that the capture has twice
	Loss       Loss   `json:"loss"`       // of what it sent
	Trips      Trips  `json:"round_trip"` // from where the capture was made to the other end and back
}

// Line is an event with its time from the beginning.
type Line struct {
	Seconds float64 `json:"seconds"`
	End     int     `json:"end"`
	Text    string  `json:"text"`
}

// Silence is a time in which an end sent nothing and the other did.
type Silence struct {
	End     int     `json:"end"`
	From    float64 `json:"from_seconds"`
	Seconds float64 `json:"seconds"`
	Ignored int     `json:"datagrams_of_the_other"`
	Unseen  int     `json:"unseen"` // numbers of its datagrams that it sent meanwhile, but that did not come here
}

// Refusals counts the datagrams of an end that no decoder takes.
type Refusals struct {
	End       int     `json:"end"` // that sent them
	Code      string  `json:"code"`
	Sentence  string  `json:"sentence"`
	Datagrams int     `json:"datagrams"`
	First     float64 `json:"first_seconds"`
}

const (
	leastSilence = 500 * time.Millisecond // what is shorter is left out
	mostLines    = 200                    // of a story
)

// newStory returns the story that begins with a datagram.
func newStory(c *Captured) *Story {
	s := &Story{began: c.At, Protocol: c.Result.Protocol, open: map[chunkKey]*Chunk{}, said: map[string]bool{}, Chunks: []*Chunk{}, Lines: []Line{}}
	s.Ends[0].Address, s.Ends[1].Address = c.From.String(), c.To.String()
	s.heard = [2]time.Time{c.At, c.At}
	return s
}

// Stories returns what the ends of each pair of addresses said to each other, in the order in which they began.
// A connection that begins anew has a story of its own.
func Stories(list []Captured) (all []*Story) {
	all = []*Story{} // in JSON none are a list, too
	of := map[[2]netip.AddrPort]*Story{}
	for i := range list {
		c := &list[i]
		s, end := of[[2]netip.AddrPort{c.From, c.To}], 0
		if s == nil {
			s, end = of[[2]netip.AddrPort{c.To, c.From}], 1
		}
		if s == nil || s.endsWith(c) {
			s, end = newStory(c), 0
			delete(of, [2]netip.AddrPort{c.To, c.From})
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

// endsWith reports whether a datagram begins another connection: it asks for one, not for this one again, and
// this one has had data.
func (s *Story) endsWith(c *Captured) bool {
	m := c.Result.holds.message
	return m != nil && m.Kind == session.KindLink && m.Resume == 0 && m.Nonce != s.nonce && len(s.counters[0].seen)+len(s.counters[1].seen) > 0
}

// since returns a time in seconds from the beginning.
func (s *Story) since(at time.Time) float64 { return at.Sub(s.began).Seconds() }

func (s *Story) line(at time.Time, end int, format string, args ...any) {
	if len(s.Lines) == mostLines {
		s.LeftOut++
		return
	}
	s.Lines = append(s.Lines, Line{s.since(at), end, fmt.Sprintf(format, args...)})
}

// add adds the next datagram, which an end sent.
func (s *Story) add(c *Captured, end int) {
	s.last = c.At
	e := &s.Ends[end]
	e.Datagrams++
	e.Bytes += int64(c.Result.Size)
	silences, newest := len(s.Silences), s.newest(end)
	s.hear(c.At, end)
	s.take(c, end)
	if len(s.Silences) > silences {
		s.numbered = append(s.numbered, newest >= 0)
	}
	if len(s.Silences) > silences && newest >= 0 {
		s.Silences[silences].Unseen = int(max(0, s.newest(end)-newest-1))
	}
}

// take takes what a datagram holds.
func (s *Story) take(c *Captured, end int) {
	h := &c.Result.holds
	if s.Protocol == Unknown {
		s.Protocol = c.Result.Protocol
	}
	switch {
	case c.Result.Again():
		s.Ends[end].Duplicates++
		return
	case c.Result.Refused != nil:
		s.refuse(c, end)
		return
	case c.Result.Protocol == Unknown:
		s.unknown++
		return
	}
	s.sure = s.sure || h.opened || len(h.chunks) > 0 || h.closed != nil || h.message != nil && h.message.Kind >= session.KindLink
	if s.Plain == nil {
		s.Plain = c.Result.Lane
	}
	if h.message != nil && !s.message(c, end) {
		return
	}
	if h.packet != nil {
		s.packet(c.At, end, h.packet)
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

// newest returns the newest number of an end, or -1 if it has none.
func (s *Story) newest(end int) int64 {
	for _, n := range []*numbers{&s.counters[end], &s.packets[end]} {
		if len(n.seen) > 0 {
			return n.newest
		}
	}
	return -1
}

// hear notes a silence that ends, and counts for the other end.
func (s *Story) hear(at time.Time, end int) {
	s.endSilence(at, end)
	s.heard[end], s.unanswered[end] = at, 0
	s.unanswered[1-end]++
}

func (s *Story) endSilence(at time.Time, end int) {
	if quiet := at.Sub(s.heard[end]); quiet >= leastSilence && s.unanswered[end] >= 2 {
		s.Silences = append(s.Silences, Silence{End: end, From: s.since(s.heard[end]), Seconds: quiet.Seconds(), Ignored: s.unanswered[end]})
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

// message takes a message of the handshake, or counts an envelope, and reports whether it is new.
func (s *Story) message(c *Captured, end int) (isNew bool) {
	m := c.Result.holds.message
	switch m.Kind {
	case session.KindLink:
		s.nonce = m.Nonce
	case session.KindLinked:
		s.linked = s.linked || !s.resumed
	case session.KindProof:
		s.resumed = s.resumed || m.Resume != 0
	case session.KindRefused:
		s.refused = true
		s.Ended = fmt.Sprintf("%s refused the connection: %v", s.name(end), m.Reason)
	case session.KindCRC, session.KindMAC, session.KindAEAD:
		return s.count(c, end)
	}
	text := c.Result.Summary
	if key := fmt.Sprint(end, text); s.said[key] {
		text += ", again"
	} else {
		s.said[key] = true
	}
	s.line(c.At, end, "%s", text)
	return true
}

// count looks at the counter of an envelope, of which the low bits are enough here.
func (s *Story) count(c *Captured, end int) (isNew bool) {
	h := &c.Result.holds
	if !h.opened && len(h.chunks) == 0 && h.message.Kind == session.KindAEAD {
		s.encrypted++
		if c.Result.Size > codec.SliceSize {
			s.large[end]++
		}
	}
	return s.counters[end].add(c.At, uint64(h.message.Counter), 32, s.linked)
}

// foreign reports whether most of what the ends sent is of another protocol: a part of that looks like packets or
// data by chance.
func (s *Story) foreign() bool {
	other := s.unknown
	for end := range s.packets {
		if len(s.counters[end].seen) == 0 { // numbers of packets that do not go on are no numbers
			other += s.packets[end].again
		}
	}
	return !s.sure && 2*other > s.Ends[0].Datagrams+s.Ends[1].Datagrams
}

// finish makes what needs the whole capture.
func (s *Story) finish() {
	s.Seconds = s.since(s.last)
	if s.foreign() {
		s.Protocol, s.Plain, s.Refused, s.Silences = Unknown, nil, nil, nil
		s.Lines, s.LeftOut, s.Ended, s.Verdict = []Line{}, 0, "the capture ends", s.unknownText()
		return
	}
	for end := range s.heard {
		s.endSilence(s.last, end)
	}
	for end := range s.Ends {
		e := &s.Ends[end]
		e.Loss, e.Trips = s.losses(end), tripsOf(s.trips[end])
		if e.Duplicates += s.counters[end].again; len(s.counters[end].seen) == 0 {
			e.Duplicates += s.packets[end].again
		}
	}
	if s.Ended == "" {
		s.Ended = s.openEnd()
	}
	s.Verdict = s.verdict()
}
