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
	Message
	derived Derived // once it was proved
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
	server []byte // its key, or nil
	random *Random

	offer      Message
	private    []byte
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
func NewClient(offer Message, key, server []byte, random *Random, now int64) *Client {
	c := &Client{state: StateLinking, now: now, key: key, server: server, random: random, offer: offer, firstAt: now, provedAt: -1 << 60}
	c.offer.Type = TypeProof
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
	c.private = c.random.draw(32)
	c.offer.Digest, c.offer.Share = DigestOf(LinkOf(c.offer.Nonce)), ShareOf(c.offer.Mode, c.private)
	c.offer.Extensions = c.offer.Extensions&^noExtension + int64(c.offer.Nonce[3])%2*0x1000
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
	hasNoProof := c.state == StateLinking || c.state == StateRelinking && !c.isKnown()
	if !hasNoProof || c.hint == 0 {
		return never
	}
	return c.hintAt + RefuseWait
}

// isKnown reports whether the client has an identity, so that the server can prove what it says.
func (c *Client) isKnown() bool { return string(c.offer.Identity) != anonymous }

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
		row = c.row("I2", "", "I45", "")
		c.fail(Ended{Reason: c.hint})
		return row, nil
	case c.now >= c.silentAt():
		c.state = StateRelinking
		c.renew()
		return "I16", nil
	case isLinking && c.toProve(c.now) != nil:
		return c.row("I3", "", "I25", ""), c.prove(c.toProve(c.now))
	case isLinking && c.now >= c.linkAt:
		c.linkAt = c.now + c.interval(c.now)
		return c.row("I4", "", "I26", ""), bytesOf(LinkOf(c.offer.Nonce))
	}
	return c.row("I5", "I17", "I27", ""), nil
}

// fail is FAIL.
func (c *Client) fail(why Ended) { c.state, c.ended = StateClosed, why }

// prove is PROVE.
func (c *Client) prove(one *challenge) []byte {
	one.proved, c.provedAt = true, c.now
	m := c.offer
	m.Stamp, m.Cookie = one.Stamp, one.Cookie
	one.derived = Greet(m, c.key, c.server)
	one.derived.Prove(one.Message, c.keys.Resume, nil)
	m.Move, m.Proof = one.derived.Move, one.derived.Proof
	return bytesOf(m)
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
	isKept := slices.ContainsFunc(c.challenges, func(one *challenge) bool { return bytes.Equal(bytesOf(one.Message), bytesOf(m)) })
	isChosen := m.Version == Version && chosen(offeredVersions(c.offer.Nonce), m.Versions) == Version
	if c.state == StateOpen || c.state == StateClosed || !isOurs || isKept || !isChosen {
		return c.row("I7", "I18", "I29", "I39")
	}
	if len(c.challenges) == 0 {
		c.hint = 0
	}
	c.challenges = append(c.challenges, &challenge{Message: m, takenAt: c.now})
	if others := c.challenges[:len(c.challenges)-1]; len(others) == KeptMost {
		dropped := max(0, slices.IndexFunc(others, func(one *challenge) bool { return !one.proved }))
		c.challenges = slices.Delete(slices.Clone(c.challenges), dropped, dropped+1)
	}
	return c.row("I6", "", "I28", "")
}

// answered is the challenge whose PROOF a message answers, of those that are young enough; or nil.
func (c *Client) answered(m Message, key func(*Derived) []byte) *challenge {
	for _, one := range c.challenges {
		if one.proved && c.now-one.takenAt < CookieLife {
			if key := key(&one.derived); key != nil && bytes.Equal(m.Proof, one.derived.Answer(key, m)) {
				return one
			}
		}
	}
	return nil
}

// linkedKey is the key that proves a LINKED with this share.
func (c *Client) linkedKey(share []byte) func(*Derived) []byte {
	return func(d *Derived) []byte {
		switch {
		case c.state == StateRelinking:
			return c.keys.Resume
		case c.server != nil && !d.Know(c.private, c.server):
			return nil
		case d.Meet(c.offer.Mode, c.private, share):
			return d.AnswerKey
		}
		return nil
	}
}

func (c *Client) receiveLinked(m Message, isOurs bool) string {
	row := c.row("I9", "I19", "I31", "I40")
	if !isOurs || c.state != StateLinking && c.state != StateRelinking {
		return row
	}
	one := c.answered(m, c.linkedKey(m.Share))
	wanted := c.offer.Extensions &^ noExtension
	offered := m.Lanes <= c.offer.Lanes && m.Variant&^c.offer.Variants == 0 && m.Extensions&^wanted == 0 && m.Timeout <= c.offer.Timeout
	agreed := m.Lanes == c.linked.Lanes && m.Variant == c.linked.Variant && m.Extensions == c.linked.Extensions && m.Timeout == c.linked.Timeout
	switch {
	case c.state == StateLinking && one != nil && offered:
		row = "I8"
		one.derived.Connect(m)
		c.linked, c.keys = m, one.derived.Keys
	case c.state == StateRelinking && one != nil && agreed && m.Link == c.linked.Link && bytes.Equal(m.Share, c.linked.Share):
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
	isUnproven := bytes.Equal(m.Proof, zeros(16))
	isHint := isUnproven && (m.Reason == ReasonVersion && len(c.challenges) == 0 || m.Reason == ReasonIdentity && isProved)
	isAnswer := isLinking && isOurs && c.answered(m, func(d *Derived) []byte { return d.RefusedKey }) != nil
	switch {
	case isAnswer && (c.isKnown() || c.state == StateLinking):
		row := c.row("I10", "", "I32", "")
		c.fail(Ended{Reason: m.Reason, Proven: c.isKnown()})
		return row
	case isAnswer, isLinking && isOurs && isHint:
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
