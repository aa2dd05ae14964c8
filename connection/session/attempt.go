package session

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// challenge is a CHALLENGE that was taken.
type challenge struct {
	stamp   uint64
	cookie  [16]byte
	seen    Key // the transcript up to it
	whole   Key // and with the PROOF, once proved
	takenAt core.Micros
	proved  bool
}

// pollGuard returns the first guard of poll that holds.
func (c *Client) pollGuard() uint8 {
	switch c.state {
	case Closed:
		return anyClientPoll
	case Open:
		return c.openGuard()
	}
	switch {
	case c.now >= c.end():
		return timedOut
	case c.standing() && c.now >= c.hintAt+RefuseWait:
		return refusalStands
	case c.proofTime() <= c.now:
		return proofDue
	case c.linkAt <= c.now:
		return linkDue
	}
	return nothingDue
}

// standing reports whether there is a hint that ends the client if nothing better comes. One that has a
// connection and a key waits for a proof instead.
func (c *Client) standing() bool {
	return c.hint != nil && (c.state == Linking || c.offer.Identity == 0)
}

func (c *Client) openGuard() uint8 {
	switch {
	case c.now >= c.end():
		return timedOut
	case c.spoke && c.now >= c.heardAt+Silence(c.link.agreed.Timeout):
		return isSilent
	}
	return nothingDue
}

// end returns when the client times out.
func (c *Client) end() core.Micros {
	if c.link == nil {
		return c.firstAt + c.own
	}
	return c.heardAt + c.link.agreed.Timeout
}

// failure returns why a poll ends the client: a hint is reported as a hint (CXC-12).
func (c *Client) failure(guard uint8) error {
	switch {
	case guard == timedOut && c.hint != nil:
		return fmt.Errorf("%w: %w", ErrTimeout, c.hint)
	case guard == timedOut:
		return ErrTimeout
	case guard == refusalStands:
		return c.hint
	}
	return nil
}

// interval returns how long the client waits before it asks again.
func (c *Client) interval() core.Micros {
	if c.now < c.beganAt+LinkFast {
		return LinkInterval
	}
	return LinkSlow
}

// proofTime returns when the next PROOF is due: now or later.
func (c *Client) proofTime() core.Micros {
	if len(c.challenges) == 0 {
		return core.Never
	}
	at := max(c.now, c.provedAt+ProofSpacing)
	for i := range c.challenges {
		if k := &c.challenges[i]; !k.proved && at < k.takenAt+CookieUse {
			return at
		}
	}
	at = c.againTime()
	if at < c.challenges[len(c.challenges)-1].takenAt+CookieUse {
		return at
	}
	return core.Never
}

// againTime returns when a challenge that was proved is proved again: now or later.
func (c *Client) againTime() core.Micros {
	if at := max(c.now, c.provedAt+LinkInterval); at < c.beganAt+LinkFast {
		return at
	}
	return max(c.now, c.provedAt+LinkSlow)
}

// Deadline returns when Poll has something to do; Never if it has not (CXC-13).
func (c *Client) Deadline() core.Micros {
	at := c.end
	switch c.state {
	case Closed:
		return core.Never
	case Open:
		if c.spoke {
			return min(at(), c.heardAt+Silence(c.link.agreed.Timeout))
		}
		return at()
	}
	next := min(at(), c.linkAt, c.proofTime())
	if c.standing() {
		next = min(next, c.hintAt+RefuseWait)
	}
	return next
}

// ask makes a LINK (CXC-4, CXH-3).
func (c *Client) ask(clientInput) {
	m := c.firstMessage()
	c.out = m.append(c.out)
	c.linkAt = c.now + c.interval()
	c.stats.Links++
}

// firstMessage is the LINK of this attempt.
func (c *Client) firstMessage() Message {
	m := Message{Kind: KindLink, Versions: c.versions, Reserved: c.offer.Nonce.reserved()}
	m.Nonce = c.offer.Nonce
	return m
}

// prove makes the PROOF of the oldest challenge that was not proved, or else of the latest
// (CXC-6, CXH-5).
func (c *Client) prove(clientInput) {
	k := &c.challenges[len(c.challenges)-1]
	for i := range c.challenges {
		if o := &c.challenges[i]; !o.proved && c.now < o.takenAt+CookieUse {
			k = o
			break
		}
	}
	k.proved = true
	m := Message{Kind: KindProof, Offer: c.offer, Stamp: k.stamp, Cookie: k.cookie}
	if c.offer.Resume != 0 {
		m.Move = moveBy(&c.keys.Resume, &k.seen)
	}
	m.Proof, k.whole = c.greeting.prove(&k.seen, &m.Move)
	c.out = m.append(c.out)
	c.provedAt = c.now
	c.stats.Proofs++
}

func (c *Client) challengeGuard(m *Message, idle bool) uint8 {
	switch {
	case idle:
		return anyChallenge
	case m.Nonce != c.offer.Nonce || m.Version != Version || m.Version != choose(&c.versions, &m.Versions):
		return challengeOther
	}
	seen := c.greeting.seen(m)
	if slices.ContainsFunc(c.challenges, func(k challenge) bool { return k.seen == seen }) {
		return challengeOther
	}
	return challengeIsNew
}

// take keeps a challenge (CXC-5). The first one says more than a hint of another version. If
// there is no room for it, one goes that no PROOF was made of: who forges challenges does not
// push out those whose LINKED is on its way.
func (c *Client) take(in clientInput) {
	if len(c.challenges) == 0 {
		c.hint = nil
	}
	if len(c.challenges) == KeptChallenges {
		first := max(0, slices.IndexFunc(c.challenges, func(k challenge) bool { return !k.proved }))
		c.challenges = slices.Delete(c.challenges, first, first+1)
	}
	c.challenges = append(c.challenges, challenge{
		stamp: in.message.Stamp, cookie: in.message.Cookie, seen: c.greeting.seen(in.message), takenAt: c.now,
	})
}

func (c *Client) linkedGuard(m *Message, idle bool) uint8 {
	switch {
	case idle:
		return anyLinked
	case m.Nonce != c.offer.Nonce || !c.proved() || !c.offered(&m.Agreed):
		return linkedOther
	case c.link != nil && (m.Agreed != c.link.agreed || m.Share != c.share):
		return linkedOther
	}
	by := &c.keys.Resume
	if c.link == nil {
		shared, ok := c.ours.meet(&m.Share)
		if !ok {
			return linkedOther
		}
		c.meeting = c.greeting.meet(&shared)
		by = &c.meeting.answer
	}
	if !c.answered(by, m) {
		return linkedOther
	}
	return linkedRight
}

// offered reports whether the agreement is within the offer (CXC-17).
func (c *Client) offered(a *Agreed) bool {
	return a.Lanes <= c.offer.Lanes && a.Variant&^c.offer.Variants == 0 && a.Extensions&^(c.offer.Extensions&^unknownExtensions) == 0 && a.Timeout <= c.offer.Timeout
}

// answered reports whether a LINKED or a REFUSED is proven by a key to answer a PROOF of this client,
// of a cookie that can still be good (CXK-7, CXK-8).
func (c *Client) answered(by *Key, m *Message) bool {
	for i := range c.challenges {
		k := &c.challenges[i]
		if !k.proved || c.now >= k.takenAt+CookieLife {
			continue
		}
		if proof := answerBy(by, &k.whole, m); equal(&proof, &m.Proof) {
			return true
		}
	}
	return false
}

// begin makes the connection (CXC-7).
func (c *Client) begin(in clientInput) {
	m := in.message
	keys := c.greeting.keys(&c.meeting, m)
	c.link = NewLink(LinkConfig{Mode: c.offer.Mode, Agreed: m.Agreed, Seal: keys.C2S, Open: keys.S2C})
	if c.keyLog != nil {
		c.keyLog(m.Agreed.Link, keys.C2S, keys.S2C)
	}
	c.keys, c.share = Keys{Resume: keys.Resume}, m.Share
	c.moved(in)
}

// moved ends the attempt to link; the connection stays as it is (CXC-8).
func (c *Client) moved(clientInput) {
	c.heardAt, c.spoke = c.now, false
	c.challenges, c.hint = c.challenges[:0], nil
	c.forget()
}

// forget forgets what is of no use once an attempt has ended (CXK-13).
func (c *Client) forget() {
	c.ours.private, c.meeting, c.greeting = nil, meeting{}, greeting{}
}

func (c *Client) refusedGuard(m *Message, idle bool) uint8 {
	switch {
	case idle:
		return anyRefused
	case m.Nonce != c.offer.Nonce:
		return refusedOther
	case c.answered(&c.greeting.refused, m):
		if c.state == Relinking && c.offer.Identity == 0 {
			return refusedHint // everybody on the path has this key
		}
		return refusedProven
	case m.Proof != [16]byte{}:
		return refusedOther
	case m.Reason == OtherVersion && len(c.challenges) == 0, m.Reason == UnknownIdentity && c.proved():
		return refusedHint
	}
	return refusedOther
}

// proved reports whether a PROOF was sent with this nonce.
func (c *Client) proved() bool {
	for i := range c.challenges {
		if c.challenges[i].proved {
			return true
		}
	}
	return false
}

// noteHint notes what an unproven refusal says; the first one counts (CXC-10).
func (c *Client) noteHint(in clientInput) {
	if c.hint == nil {
		c.hint, c.hintAt = c.refusal(in.message, false), c.now
	}
}

// refusal returns what a REFUSED says.
func (c *Client) refusal(m *Message, proven bool) *RefusedError {
	return &RefusedError{Reason: m.Reason, Version: m.Version, Identity: c.offer.Identity, Proven: proven}
}

// renew begins a new attempt to link, with a nonce of its own (CXC-9, CXN-5).
func (c *Client) renew(clientInput) {
	draw(c.random, c.offer.Nonce[:])
	c.ours = drawShare(c.offer.Mode, c.random)
	if c.link != nil {
		c.offer.Resume = c.link.ID()
	}
	c.versions, c.offer.Extensions = c.offer.Nonce.offered(), c.offer.Nonce.extensions(c.offer.Extensions)
	c.offer.Share = c.ours.share
	first := c.firstMessage()
	c.offer.Digest = DigestOf(&first)
	c.greeting = greet(&c.offer, &c.key, &c.server)
	if c.link == nil && c.server != (Share{}) {
		static, _ := c.ours.meet(&c.server) // as good as it was at first
		c.greeting.know(&static)
	}
	c.challenges, c.hint = c.challenges[:0], nil
	c.beganAt, c.linkAt = c.now, c.now
}

// hear notes a sign of life (CXC-11).
func (c *Client) hear(clientInput) {
	c.heardAt, c.spoke, c.confirmed = c.now, false, true
}
