package handshake

import (
	"fmt"
	"strings"
)

// This file has what an attacker can compute of section 4: proofs and keys are terms, and he has those
// that he can make of what was sent and of what has leaked (Dolev and Yao). Honest servers make two
// sessions for every input that he can give them, so that what is found covers every order of these.

// term is a public name, a secret one, a share, or a function of terms. Equal terms are one.
type term struct {
	op   string
	args []*term
	key  string
}

// terms are all that were made.
type terms map[string]*term

func (ts terms) of(op string, args ...*term) *term {
	var b strings.Builder
	b.WriteString(op)
	for _, a := range args {
		fmt.Fprintf(&b, " %p", a)
	}
	t := ts[b.String()]
	if t == nil {
		t = &term{op, args, b.String()}
		ts[t.key] = t
	}
	return t
}

// public is what everybody has, secret what nobody has to whom it is not told.
func (ts terms) public(name string) *term { return ts.of("=" + name) }
func (ts terms) secret(name string) *term { return ts.of("!" + name) }

// share is the share of a private one, dh what both ends make of theirs: of a share of low order
// everybody can make it.
func (ts terms) share(private *term) *term { return ts.of("share", private) }

func (ts terms) dh(private, share *term) *term {
	if share.op != "share" {
		return ts.public("zeros")
	}
	other := share.args[0]
	if private.key > other.key {
		private, other = other, private
	}
	return ts.of("dh", private, other)
}

// attacker is what he has.
type attacker struct {
	terms
	has  map[*term]bool
	memo map[*term]bool
}

func (a *attacker) gets(list ...*term) {
	for _, t := range list {
		a.has[t] = true
	}
	clear(a.memo)
}

// can reports whether he can make a term.
func (a *attacker) can(t *term) bool {
	if t.op[0] == '=' || a.has[t] {
		return true
	}
	if known, done := a.memo[t]; done {
		return known
	}
	a.memo[t] = false
	can := t.op[0] != '!'
	if t.op == "dh" {
		x, y := t.args[0], t.args[1]
		can = a.can(x) && a.can(a.share(y)) || a.can(y) && a.can(a.share(x))
	} else {
		for _, of := range t.args {
			can = can && a.can(of)
		}
	}
	a.memo[t] = can
	return can
}

// Shares is a world of section 4: whether clients have an identity, what leaks before, and which rules are
// left out.
type Shares struct {
	Name  string
	Keyed bool
	Leaks bool // the key of the identity is the attacker's from the beginning

	Static      bool // servers have keys of their own
	StaticLeaks bool // and those are the attacker's from the beginning
	Twice       bool // another server has the key of the identity, too

	NoStatic    bool // static is not in the keys
	NoServer    bool // the hello has no key of the server
	NoShares    bool // shared is not in the keys
	NoKey       bool // the key of the identity is not
	NoHello     bool // the transcript has no hello: neither offer nor shares of the client
	NoIdentity  bool // the hello has no identity
	NoDigest    bool // the hello has no digest of LINK
	NoChallenge bool // the transcript has no CHALLENGE
	NoChoice    bool // a client takes any choice
	NoAgreed    bool // the keys and LINKED are not bound to what was agreed
}

// side is what one end makes of its view of a handshake.
type side struct{ hello, proofKey, next, whole, proof *term }

// lists are the versions in a LINK, or in a CHALLENGE.
var lists = []string{"both", "old"}

func choice(client, server string) string {
	if client == "old" || server == "old" {
		return "old"
	}
	return "new"
}

// sees makes a side of an offer, a list of LINK, a share, an identity and its key, a CHALLENGE, and the key
// of a server.
func (w *Shares) sees(ts terms, offer, list, share, identity, key, challenge, server *term) (s side) {
	none := ts.public("none")
	without := func(left bool, t *term) *term {
		if left {
			return none
		}
		return t
	}
	s.hello = ts.of("hello", offer, without(w.NoDigest, list), share, without(w.NoIdentity, identity), without(w.NoServer || !w.Static, server))
	if w.NoHello {
		s.hello = none
	}
	first := ts.of("first", s.hello, ts.of("given", without(w.NoKey, key)))
	s.proofKey, s.next = ts.of("proof key", first), ts.of("next", first)
	seen := ts.of("seen", s.hello, without(w.NoChallenge, challenge))
	s.proof = ts.of("proof", s.proofKey, seen)
	s.whole = ts.of("whole", seen, s.proof)
	return s
}

// meets makes the proof of LINKED and the key of the connection.
func (w *Shares) meets(ts terms, s side, static, shared, share, agreed *term) (linked, key *term) {
	if w.NoShares {
		shared = ts.public("none")
	}
	if w.NoAgreed {
		agreed = ts.public("none")
	}
	next := s.next
	if w.Static && !w.NoStatic {
		next = ts.of("known", next, static)
	}
	second := ts.of("second", next, shared)
	linked = ts.of("linked", second, s.whole, share, agreed)
	return linked, ts.of("key", second, s.hello, share, agreed)
}

// made is a session of an honest server.
type made struct{ server, offer, share, identity, agreed, key, proof, linked *term }

// Violated returns what does not hold in the world, by its name.
func (w *Shares) Violated() map[string]bool {
	ts := terms{}
	a := &attacker{terms: ts, has: map[*term]bool{}, memo: map[*term]bool{}}
	e := &shareRun{w: w, attacker: a, key: ts.secret("key"), found: map[string]bool{}}
	e.begin()
	e.serve()
	e.judge()
	return e.found
}

// shareRun is a world under way: two clients of one identity, or without, a server, and the attacker, who
// has an identity of his own.
type shareRun struct {
	*attacker
	w          *Shares
	key        *term
	servers    []*term // their private keys; the clients know the first one
	ids        []*term
	offers     []*term
	privates   []*term
	shares     []*term
	sessions   []made
	agreements []*term
	opened     []*term // keys that clients have
	found      map[string]bool
}

func (e *shareRun) keyOf(identity *term) *term {
	switch identity {
	case e.public("A"):
		return e.key
	case e.public("M"):
		return e.public("key of M")
	}
	return e.public("no key")
}

func (e *shareRun) own() *term { return e.ids[0] }

// begin lets each client prove every challenge that it takes.
func (e *shareRun) begin() {
	e.ids = []*term{e.public("nobody")}
	if e.w.Keyed {
		e.ids = []*term{e.public("A"), e.public("M")}
	}
	if e.w.Leaks {
		e.gets(e.key)
	}
	e.servers = []*term{e.secret("server 1"), e.secret("server 2")}
	for _, private := range e.servers {
		e.gets(e.share(private))
	}
	if e.w.StaticLeaks {
		e.gets(e.servers...)
	}
	if !e.w.Twice {
		e.servers = e.servers[:1]
	}
	e.offers = []*term{e.public("offer 1"), e.public("offer 2"), e.public("offer of M")}
	e.shares = []*term{e.share(e.public("private share of M")), e.public("low order")}
	e.agreements = []*term{e.public("agreed by M")}
	for i := range 2 {
		private := e.secret(fmt.Sprint("private share ", i))
		e.privates = append(e.privates, private)
		e.gets(e.share(private))
		e.shares = append(e.shares, e.share(private))
		for _, challenge := range e.challenges() {
			if e.takes(challenge) {
				e.gets(e.client(i, challenge).proof)
			}
		}
	}
}

// challenge is one with a choice and a list; an honest server's list is "both".
type aChallenge struct{ choice, list string }

func (e *shareRun) challenges() []aChallenge {
	return []aChallenge{{"new", "both"}, {"old", "both"}, {"old", "old"}}
}

func (e *shareRun) termOf(c aChallenge) *term {
	return e.public("challenge " + c.choice + " of " + c.list)
}

// takes reports whether the choice follows from the client's list, which is "both", and the other.
func (e *shareRun) takes(c aChallenge) bool {
	return e.w.NoChoice || c.choice == choice("both", c.list)
}

func (e *shareRun) client(i int, c aChallenge) side {
	return e.w.sees(e.terms, e.offers[i], e.public("both"), e.share(e.privates[i]), e.own(), e.keyOf(e.own()), e.termOf(c), e.share(e.servers[0]))
}

// serve lets the servers take every PROOF that the attacker can make, twice.
func (e *shareRun) serve() {
	done := map[string]bool{}
	for again := true; again; {
		again = false
		for _, offer := range e.offers {
			for _, share := range e.shares[:min(len(e.shares), 12)] {
				for _, identity := range e.ids {
					for _, list := range lists {
						for _, server := range e.servers {
							name := fmt.Sprint(server.op, offer.op, share.key, identity.op, list)
							again = !done[name] && e.takesProof(name, server, offer, share, identity, list) || again
							done[name] = done[name] || again
						}
					}
				}
			}
		}
	}
}

// takesProof makes two sessions of what the attacker can prove. The cookie is that of the list in LINK.
func (e *shareRun) takesProof(name string, server, offer, share, identity *term, list string) bool {
	challenge := e.termOf(aChallenge{choice(list, "both"), "both"})
	s := e.w.sees(e.terms, offer, e.public(list), share, identity, e.keyOf(identity), challenge, e.share(server))
	if !e.can(s.proof) || len(e.sessions) > 80 {
		return false
	}
	for n := range 2 {
		private, agreed := e.secret(fmt.Sprint("server ", name, n)), e.public(fmt.Sprint("agreed ", name, n))
		linked, key := e.w.meets(e.terms, s, e.dh(server, share), e.dh(private, share), e.share(private), agreed)
		e.gets(e.share(private), linked)
		e.shares, e.agreements = append(e.shares, e.share(private)), append(e.agreements, agreed)
		e.sessions = append(e.sessions, made{server, offer, share, identity, agreed, key, s.proof, linked})
	}
	return true
}

// judge lets the clients take every LINKED that the attacker can make, and looks at all that must hold.
func (e *shareRun) judge() {
	e.judgeClients()
	for _, s := range e.sessions {
		e.judgeSession(s)
	}
	e.judgeSecrets()
}

func (e *shareRun) judgeClients() {
	by := map[*term]made{}
	for _, s := range e.sessions {
		by[s.key] = s
	}
	for i, private := range e.privates {
		for _, c := range e.challenges() {
			if !e.takes(c) {
				continue
			}
			for _, share := range e.shares {
				for _, agreed := range e.agreements {
					linked, key := e.w.meets(e.terms, e.client(i, c), e.dh(private, e.share(e.servers[0])), e.dh(private, share), share, agreed)
					if share.op != "share" || !e.can(linked) {
						continue // CXK-12, CXK-7
					}
					e.opened = append(e.opened, key)
					s, is := by[key]
					e.found["agreement"] = e.found["agreement"] || !is || s.offer != e.offers[i] || s.share != e.share(private) || s.agreed != agreed
					e.found["unknown key share"] = e.found["unknown key share"] || is && s.identity != e.own()
					e.found["downgrade"] = e.found["downgrade"] || is && c.choice == "old"
				}
			}
		}
	}
}

// honest reports whether the share of a session is that of a client.
func (e *shareRun) honest(s made) bool {
	for _, private := range e.privates {
		if s.share == e.share(private) {
			return true
		}
	}
	return false
}

func (e *shareRun) judgeSession(s made) {
	if e.w.Keyed && s.identity == e.own() && !e.honest(s) {
		e.found["somebody else's session"] = true
	}
	if e.w.Keyed && s.identity == e.own() && e.honest(s) && s.server != e.servers[0] {
		e.found["relay"] = true
	}
}

// judgeSecrets looks at the keys that clients have, and at those of sessions to which the attacker only
// listened: now, and when all that is kept for long has leaked.
func (e *shareRun) judgeSecrets() {
	var listened, now []*term
	for _, s := range e.sessions {
		if e.honest(s) {
			listened = append(listened, s.key)
		}
	}
	any := func(list []*term) bool {
		for _, key := range list {
			if e.can(key) {
				return true
			}
		}
		return false
	}
	for _, key := range e.opened {
		if e.can(key) {
			e.found["a key"] = true
		} else {
			now = append(now, key)
		}
	}
	e.found["a key, by listening"] = any(listened)
	e.gets(append([]*term{e.key}, e.servers...)...)
	e.found["a key, later"] = any(now)
	e.found["a key, by listening, later"] = any(listened)
}
