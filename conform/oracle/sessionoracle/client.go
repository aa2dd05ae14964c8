package sessionoracle

import (
	"bytes"
	"slices"
)

// The constants of both ends, in microseconds.
const (
	LinkInterval = 250_000
	LinkFast     = 2_000_000 // how long LINK_INTERVAL holds
	LinkSlow     = 1_000_000
	ProofSpacing = 10_000
	CookieUse    = 4_000_000
	RefuseWait   = 1_000_000
	KeptMost     = 32 // challenges

	tenth = 100_000 // the unit of a timeout
)

// never is later than every time.
const never = 1<<63 - 1

// The states of a client.
const (
	StateLinking   = "LINKING"
	StateOpen      = "OPEN"
	StateRelinking = "RELINKING"
	StateClosed    = "CLOSED"
)

// The reasons of a REFUSED.
const (
	ReasonFull = iota + 1
	ReasonIdentity
	ReasonVersion
	ReasonProtocol
	ReasonMode
	ReasonFormat
	ReasonVariant
	ReasonClosed
	ReasonReplaced
)

// Random is what there is of random bytes, which are taken in their order. A machine panics
// with ErrRandom where there are none left.
type Random struct{ Left []byte }

// ErrRandom says that the random bytes of a trace are used up.
const ErrRandom = "session: no random bytes are left"

// draw takes n bytes.
func (r *Random) draw(n int) (b []byte) {
	if len(r.Left) < n {
		panic(ErrRandom)
	}
	b, r.Left = slices.Clone(r.Left[:n]), r.Left[n:]
	return b
}

// challenge is one that is kept.
type challenge struct {
	stamp   int64
	cookie  []byte
	takenAt int64
	proved  bool
}

// Ended is why a client is CLOSED. Without a reason it is a time-out, or the application
// closed it.
type Ended struct {
	Timeout bool
	Reason  int64
	Proven  bool
}

// Client is a client: table I. Its offer is a LINK whose nonce and resume it sets itself.
type Client struct {
	state  string
	now    int64
	key    []byte
	random *Random

	offer      Message
	firstAt    int64 // when it was made
	beganAt    int64 // of this nonce
	linkAt     int64
	challenges []*challenge
	provedAt   int64 // the latest PROOF, of any nonce
	hint       int64 // a reason; 0: none
	hintAt     int64

	linked  Message // the first one that was right
	keys    Keys
	heardAt int64
	spoke   bool
	ended   Ended

	confirmed bool // a valid datagram of the link came
}

// NewClient returns a client that begins now.
func NewClient(offer Message, key []byte, random *Random, now int64) *Client {
	c := &Client{state: StateLinking, now: now, key: key, random: random, offer: offer, firstAt: now, provedAt: -1 << 60}
	c.offer.Type = TypeLink
	c.renew()
	return c
}

// State, Offer, Ended, Confirmed and Linked are what the application learns. Linked is the message that
// made the link, with its keys.
func (c *Client) State() string           { return c.state }
func (c *Client) Confirmed() bool         { return c.confirmed }
func (c *Client) Offer() Message          { return c.offer }
func (c *Client) Ended() Ended            { return c.ended }
func (c *Client) Linked() (Message, Keys) { return c.linked, c.keys }

// renew is RENEW.
func (c *Client) renew() {
	c.offer.Nonce, c.offer.Resume = c.random.draw(16), c.linked.Link
	c.challenges, c.hint = nil, 0
	c.beganAt, c.linkAt = c.now, c.now
}

func (c *Client) begin(now int64) { c.now = max(c.now, now) }

// row names a row of LINKING, OPEN, RELINKING or CLOSED.
func (c *Client) row(linking, open, relinking, closed string) string {
	return map[string]string{StateLinking: linking, StateOpen: open, StateRelinking: relinking, StateClosed: closed}[c.state]
}

// timeoutAt is when the client has timed out.
func (c *Client) timeoutAt() int64 {
	if c.state == StateLinking {
		return c.firstAt + tenth*c.offer.Timeout
	}
	return c.heardAt + tenth*c.linked.Timeout
}

// silentAt is when it takes the silence for a sign.
func (c *Client) silentAt() int64 {
	if c.state != StateOpen || !c.spoke {
		return never
	}
	return c.heardAt + tenth*c.linked.Timeout*3/10
}

// refusedAt is when a refusal stands.
func (c *Client) refusedAt() int64 {
	if c.state != StateLinking || c.hint == 0 {
		return never
	}
	return c.hintAt + RefuseWait
}

// interval is INTERVAL.
func (c *Client) interval(at int64) int64 {
	if at-c.beganAt < LinkFast {
		return LinkInterval
	}
	return LinkSlow
}

// toProve is the challenge that the PROOF answers which is due, or nil.
func (c *Client) toProve(at int64) *challenge {
	for _, one := range c.challenges {
		if !one.proved && at-one.takenAt < CookieUse && at-c.provedAt >= ProofSpacing {
			return one
		}
	}
	if len(c.challenges) == 0 {
		return nil
	}
	last := c.challenges[len(c.challenges)-1]
	if at-last.takenAt < CookieUse && at-c.provedAt >= c.interval(at) {
		return last
	}
	return nil
}

// Poll is the event poll. datagram is nil if there is none.
func (c *Client) Poll(now int64) (row string, datagram []byte) {
	c.begin(now)
	isLinking := c.state == StateLinking || c.state == StateRelinking
	switch {
	case c.state == StateClosed:
		return "I38", nil
	case c.now >= c.timeoutAt():
		row = c.row("I1", "I15", "I24", "")
		c.fail(Ended{Timeout: c.hint == 0, Reason: c.hint})
		return row, nil
	case c.now >= c.refusedAt():
		c.fail(Ended{Reason: c.hint})
		return "I2", nil
	case c.now >= c.silentAt():
		c.state = StateRelinking
		c.renew()
		return "I16", nil
	case isLinking && c.toProve(c.now) != nil:
		return c.row("I3", "", "I25", ""), c.prove(c.toProve(c.now))
	case isLinking && c.now >= c.linkAt:
		c.linkAt = c.now + c.interval(c.now)
		b, err := Encode(c.offer)
		if err != nil {
			panic(err) // the configuration is right
		}
		return c.row("I4", "", "I26", ""), b
	}
	return c.row("I5", "I17", "I27", ""), nil
}

// fail is FAIL.
func (c *Client) fail(why Ended) { c.state, c.ended = StateClosed, why }

// proofKey is the key of the proofs of the present offer.
func (c *Client) proofKey() []byte {
	if c.offer.Resume != 0 {
		return c.keys.Resume
	}
	return c.key
}

// prove is PROVE.
func (c *Client) prove(one *challenge) []byte {
	one.proved, c.provedAt = true, c.now
	m := c.offer
	m.Type, m.Stamp, m.Cookie = TypeProof, one.stamp, one.cookie
	m.Proof = ProofOf(c.proofKey(), m, nil, 0, nil)
	b, err := Encode(m)
	if err != nil {
		panic(err)
	}
	return b
}

// Receive takes a datagram. What is no message of a server takes no row.
func (c *Client) Receive(now int64, datagram []byte) (row string, err error) {
	c.begin(now)
	m, err := Decode(datagram)
	if err != nil {
		return "", err
	}
	return c.receive(m), nil
}

func (c *Client) receive(m Message) (row string) {
	isOurs := bytes.Equal(m.Nonce, c.offer.Nonce)
	switch m.Type {
	case TypeChallenge:
		return c.challenge(m, isOurs)
	case TypeLinked:
		return c.receiveLinked(m, isOurs)
	case TypeRefused:
		return c.refused(m, isOurs)
	}
	return ""
}

func (c *Client) challenge(m Message, isOurs bool) string {
	isKept := slices.ContainsFunc(c.challenges, func(one *challenge) bool { return one.stamp == m.Stamp && bytes.Equal(one.cookie, m.Cookie) })
	if c.state == StateOpen || c.state == StateClosed || !isOurs || isKept {
		return c.row("I7", "I18", "I29", "I39")
	}
	if len(c.challenges) == 0 {
		c.hint = 0
	}
	c.challenges = append(c.challenges, &challenge{stamp: m.Stamp, cookie: m.Cookie, takenAt: c.now})
	if others := c.challenges[:len(c.challenges)-1]; len(others) == KeptMost {
		dropped := max(0, slices.IndexFunc(others, func(one *challenge) bool { return !one.proved }))
		c.challenges = slices.Delete(slices.Clone(c.challenges), dropped, dropped+1)
	}
	return c.row("I6", "", "I28", "")
}

// answers reports whether the proof of a message is right for a PROOF of a challenge that is
// kept and young enough.
func (c *Client) answers(key []byte, m Message) bool {
	return slices.ContainsFunc(c.challenges, func(one *challenge) bool {
		return one.proved && c.now-one.takenAt < CookieLife && bytes.Equal(m.Proof, ProofOf(key, m, OfferOf(c.offer), one.stamp, one.cookie))
	})
}

func (c *Client) receiveLinked(m Message, isOurs bool) string {
	row := c.row("I9", "I19", "I31", "I40")
	right := isOurs && c.answers(c.proofKey(), m)
	offered := m.Lanes <= c.offer.Lanes && m.Variant&^c.offer.Variants == 0 && m.Extensions&^c.offer.Extensions == 0 && m.Timeout <= c.offer.Timeout
	agreed := m.Lanes == c.linked.Lanes && m.Variant == c.linked.Variant && m.Extensions == c.linked.Extensions && m.Timeout == c.linked.Timeout
	switch {
	case c.state == StateLinking && right && offered:
		row = "I8"
		c.linked, c.keys = m, Derive(c.key, OfferOf(c.offer), m)
	case c.state == StateRelinking && right && agreed && m.Link == c.linked.Link && bytes.Equal(m.ServerNonce, c.linked.ServerNonce):
		row = "I30"
	default:
		return row
	}
	c.state, c.heardAt, c.spoke, c.hint, c.challenges = StateOpen, c.now, false, 0, nil
	return row
}

func (c *Client) refused(m Message, isOurs bool) string {
	isLinking := c.state == StateLinking || c.state == StateRelinking
	isProved := slices.ContainsFunc(c.challenges, func(one *challenge) bool { return one.proved })
	isUnproven := bytes.Equal(m.Proof, make([]byte, 16))
	isHint := m.Reason == ReasonVersion && len(c.challenges) == 0 || m.Reason == ReasonIdentity && isProved
	switch {
	case isLinking && isOurs && c.answers(c.key, m):
		row := c.row("I10", "", "I32", "")
		c.fail(Ended{Reason: m.Reason, Proven: true})
		return row
	case isLinking && isOurs && isUnproven && isHint:
		if c.hint == 0 {
			c.hint, c.hintAt = m.Reason, c.now
		}
		return c.row("I11", "", "I33", "")
	}
	return c.row("I12", "I20", "I34", "I41")
}

// Data says that a valid datagram of the link came.
func (c *Client) Data(now int64) (row string) {
	c.begin(now)
	if c.state == StateOpen || c.state == StateRelinking {
		c.heardAt, c.spoke, c.confirmed = c.now, false, true
	}
	return c.row("", "I21", "I35", "I42")
}

// Sent says that a datagram of the link was sent. It is no event.
func (c *Client) Sent(now int64) {
	c.begin(now)
	c.spoke = true
}

// Move is the event move.
func (c *Client) Move(now int64) (row string) {
	c.begin(now)
	if row = c.row("I13", "I22", "I36", "I43"); c.state == StateClosed {
		return row
	}
	if c.state == StateOpen {
		c.state = StateRelinking
	}
	c.renew()
	return row
}

// Close is the event close.
func (c *Client) Close(now int64) (row string) {
	c.begin(now)
	row = c.row("I14", "I23", "I37", "I44")
	c.state = StateClosed
	return row
}

// Deadline returns when the client must be polled, or never.
func (c *Client) Deadline() (at int64, ok bool) {
	if c.state == StateClosed {
		return 0, false
	}
	at = min(c.timeoutAt(), c.refusedAt(), c.silentAt())
	if c.state == StateOpen {
		return at, true
	}
	at = min(at, c.linkAt)
	for _, one := range c.challenges { // the first time at which a PROOF is due
		for _, t := range []int64{c.now, c.provedAt + ProofSpacing, c.provedAt + LinkInterval, c.provedAt + LinkSlow, c.beganAt + LinkFast, one.takenAt} {
			if t >= c.now && c.toProve(t) != nil {
				at = min(at, t)
			}
		}
	}
	return at, true
}
