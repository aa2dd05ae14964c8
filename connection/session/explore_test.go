package session

// The explorer drives real clients and a real server through every state that the explicit
// model of the handshake can reach (conform/sim/handshake), which checks what must hold:
//
//	go test ./connection/session -run TestExplore -v                              # in every run
//	go test ./connection/session -run TestExploreNightly -explore.nightly -v      # millions of states
//
// In each state the machines are made from the model's state. A move of the model is an event
// of one of them, with its real message; then the machine, and its answer, must be what the
// model says. What the model says makes no difference must change nothing.
//
// The model has no time. A cookie that is too old has an older stamp, and what is due is so now.

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/conform/sim/handshake"
	"github.com/chunkwire/chunkwire/core"
)

var exploreNightly = flag.Bool("explore.nightly", false, "let TestExploreNightly visit far more")

const (
	exTime     = 1000 * core.Second // it is always now
	exIdentity = 77
)

// terms are those of both ends. Where nobody has a key nothing is protected, since that is faster.
func (w *exWorld) terms() Terms {
	t := Terms{Mode: CRC, Lanes: 2, Variants: 1, Timeout: DefaultTimeout}
	if w.Keyed {
		t.Mode = AEAD
	}
	return t
}

// exWorld is the model, and real machines that follow it.
type exWorld struct {
	handshake.World
	rows map[core.Row]bool

	// What was computed before, by all that it is made of.
	offersOf  map[exOffered]exOwner
	keysOf    map[exMade]exKeys
	cookiesOf map[exAsked][16]byte
	proofsOf  map[exProved]exProof
}

// exOffered is what an offer is made of, exOwner what its client has of it.
type (
	exOffered struct{ n, resume uint8 }
	exOwner   struct {
		Offer
		greeting greeting
		ours     ownShare
	}
)

// exKeys is what both ends have of a connection.
type exKeys struct {
	Keys
	meeting meeting
	share   Share
}

// exProof is a PROOF, and the transcripts up to it and with it.
type exProof struct {
	Message
	seen, whole Key
}

// exMade is what the keys of a connection are made of.
type exMade struct{ link, offer, resume uint8 }

// exAsked is what a cookie is made of.
type exAsked struct {
	handshake.Challenge
	stamp  uint64
	resume uint8
}

// exProved is what a PROOF is made of.
type exProved struct {
	exAsked
	key Key
}

// memo returns what was computed before, or computes it.
func memo[K comparable, V any](of *map[K]V, key K, compute func() V) V {
	if *of == nil {
		*of = map[K]V{}
	}
	v, ok := (*of)[key]
	if !ok {
		v = compute()
		(*of)[key] = v
	}
	return v
}

// exBytes returns bytes that stand for a number of a kind.
func exBytes(kind, n uint8) (b [16]byte) {
	for i := range b {
		b[i] = kind ^ n*31 ^ byte(i)
	}
	return b
}

func exNonce(offer uint8) Nonce { return exBytes('n', offer) }

// exSecret is the secret of a server's run; exPrivate is the private share of an offer, or of a link.
func exSecret(run uint8) Key      { return exKey('x', run) }
func exPrivate(kind, n uint8) Key { return exKey(kind, n) }
func exKey(kind, n uint8) (k Key) {
	b := exBytes(kind, n)
	copy(k[:], b[:])
	return k
}

func (w *exWorld) key() (k Key) {
	if w.Keyed {
		k[0] = 9
	}
	return k
}

func (w *exWorld) identity() uint64 {
	if w.Keyed {
		return exIdentity
	}
	return 0
}

func exAddress(a uint8) (out Address) {
	copy(out[:], mapped[:])
	out[15], out[16] = a+1, 1
	return out
}

// exReader gives what the next draws are to be.
type exReader []byte

func (r *exReader) Read(b []byte) (int, error) {
	n := copy(b, *r)
	*r = (*r)[n:]
	return n, nil
}

// stamp is that of a challenge: those that are too old were issued long ago.
func exStamp(s *handshake.State, k int) uint64 {
	if k < 0 {
		return 0
	}
	at := exTime - core.Second
	if s.Challenges[k].Old {
		at = exTime - 100*core.Second
	}
	return uint64(at) + uint64(k)
}

func (w *exWorld) owner(s *handshake.State, n uint8) exOwner {
	resume := s.Offers[n].Resume
	return memo(&w.offersOf, exOffered{n, resume}, func() exOwner {
		t, nonce, link := w.terms(), exNonce(n), exLink(n)
		o := Offer{
			Nonce: nonce, Mode: t.Mode, Lanes: t.Lanes, Variants: t.Variants, Extensions: nonce.extensions(0), Timeout: t.Timeout,
			Identity: w.identity(), Resume: uint32(resume), Digest: DigestOf(&link),
		}
		own := newShare(t.Mode, ref32(exPrivate('p', n)))
		o.Share = own.share
		return exOwner{o, greet(&o, ref32(w.key()), new(Share)), own}
	})
}

func ref32(k Key) *Key { return &k }

func (w *exWorld) offer(s *handshake.State, n uint8) Offer { return w.owner(s, n).Offer }

// exLink is the LINK of an offer.
func exLink(n uint8) Message {
	nonce := exNonce(n)
	m := Message{Kind: KindLink, Versions: nonce.offered(), Reserved: nonce.reserved()}
	m.Nonce = nonce
	return m
}

// asked is the LINK for which a challenge was asked: the attacker changes it.
func (w *exWorld) asked(s *handshake.State, k uint8) Message {
	m := exLink(s.Challenges[k].Offer)
	if s.Challenges[k].Foreign {
		m.Reserved[0]++
	}
	return m
}

func (w *exWorld) cookie(s *handshake.State, k uint8) [16]byte {
	return memo(&w.cookiesOf, w.made(s, k), func() [16]byte {
		c, link := &s.Challenges[k], w.asked(s, k)
		return CookieOf(exSecret(c.Run), exStamp(s, int(k)), exAddress(c.Address), DigestOf(&link))
	})
}

// made is what a cookie is made of.
func (w *exWorld) made(s *handshake.State, k uint8) exAsked {
	c := s.Challenges[k]
	c.Proved, c.Linked, c.Refused = false, 0, 0
	return exAsked{c, exStamp(s, int(k)), s.Offers[c.Offer].Resume}
}

func (w *exWorld) agreed(link uint8) Agreed {
	t := w.terms()
	return Agreed{Link: uint32(link), Lanes: t.Lanes, Variant: 1, Timeout: t.Timeout}
}

func (w *exWorld) keys(s *handshake.State, link uint8) exKeys {
	n := s.Links[link].Offer
	return memo(&w.keysOf, exMade{link, n, s.Offers[n].Resume}, func() exKeys {
		o := w.owner(s, n)
		own := newShare(o.Mode, ref32(exPrivate('s', link)))
		shared, _ := own.meet(&o.Share)
		k := exKeys{meeting: o.greeting.meet(&shared), share: own.share}
		m := Message{Kind: KindLinked, Agreed: w.agreed(link)}
		m.Share = k.share
		k.Keys = o.greeting.keys(&k.meeting, &m)
		return k
	})
}

// resumeKey is the key by which the owner of an offer moves a connection: who tries another's link has
// none.
func (w *exWorld) resumeKey(s *handshake.State, n uint8) Key {
	if o := &s.Offers[n]; o.Resume != 0 && w.Knows(s, o) {
		return w.keys(s, o.Resume).Resume
	}
	return Key{1, 2, 3}
}

func (w *exWorld) challenge(s *handshake.State, k uint8) Message {
	m := challenging(exNonce(s.Challenges[k].Offer))
	m.Stamp, m.Cookie = exStamp(s, int(k)), w.cookie(s, k)
	return m
}

func (w *exWorld) proof(s *handshake.State, k uint8) exProof {
	n := s.Challenges[k].Offer
	key := w.resumeKey(s, n)
	return memo(&w.proofsOf, exProved{w.made(s, k), key}, func() exProof {
		o, challenge := w.owner(s, n), w.challenge(s, k)
		p := exProof{Message: Message{Kind: KindProof, Offer: o.Offer, Stamp: challenge.Stamp, Cookie: challenge.Cookie}, seen: o.greeting.seen(&challenge)}
		if o.Resume != 0 {
			p.Move = moveBy(&key, &p.seen)
		}
		p.Proof, p.whole = o.greeting.prove(&p.seen, &p.Move)
		return p
	})
}

func (w *exWorld) linked(s *handshake.State, k, link uint8) []byte {
	p, keys := w.proof(s, k), w.keys(s, link)
	m := Message{Kind: KindLinked, Agreed: w.agreed(link)}
	m.Nonce, m.Share = p.Nonce, keys.share
	by := keys.meeting.answer
	if p.Resume != 0 {
		by = w.resumeKey(s, s.Challenges[k].Offer)
	}
	m.Proof = answerBy(&by, &p.whole, &m)
	return m.append(nil)
}

func (w *exWorld) refused(s *handshake.State, k uint8, reason Reason) []byte {
	p, o := w.proof(s, k), w.owner(s, s.Challenges[k].Offer)
	m := Message{Kind: KindRefused, Version: Version, Reason: reason}
	m.Nonce = p.Nonce
	m.Proof = answerBy(&o.greeting.refused, &p.whole, &m)
	return m.append(nil)
}

var exReasons = map[uint8]Reason{handshake.SaysClosed: ConnectionClosed, handshake.SaysReplaced: Replaced, handshake.SaysFull: Full}

var exClientStates = map[handshake.ClientState]ClientState{
	handshake.Closed: Closed, handshake.Linking: Linking, handshake.Open: Open, handshake.Relinking: Relinking,
}

// loadClient returns the client of a state.
func (w *exWorld) loadClient(s *handshake.State, i uint8) *Client {
	st := &s.Clients[i]
	o := w.owner(s, st.Offer)
	c := &Client{
		now: exTime, key: w.key(), own: w.terms().Timeout, firstAt: exTime, beganAt: exTime, linkAt: exTime, provedAt: exTime - LinkSlow,
		state: exClientStates[st.State], offer: o.Offer, versions: o.Nonce.offered(), ours: o.ours, greeting: o.greeting,
	}
	for k := range s.Made.Challenges {
		if st.Kept>>k&1 == 0 {
			continue
		}
		at := exTime
		if st.Late>>k&1 == 1 {
			at -= CookieLife
		}
		kept := challenge{stamp: exStamp(s, int(k)), cookie: w.cookie(s, k), takenAt: at, proved: true}
		if s.Challenges[k].Offer == st.Offer {
			p := w.proof(s, k)
			kept.seen, kept.whole = p.seen, p.whole
		}
		c.challenges = append(c.challenges, kept)
	}
	if c.offer.Resume != 0 {
		c.keys.Resume = w.resumeKey(s, st.Offer)
	}
	if l := st.Link; l != 0 {
		keys := w.keys(s, l)
		c.link = NewLink(LinkConfig{Mode: c.offer.Mode, Agreed: w.agreed(l), Seal: keys.C2S, Open: keys.S2C})
		c.keys.Resume, c.share, c.heardAt = keys.Resume, keys.share, exTime
	}
	// What it draws next.
	next, private := exNonce(s.Made.Offers), exPrivate('p', s.Made.Offers)
	c.random = (*exReader)(sliceOf(append(next[:], private[:]...)))
	return c
}

func sliceOf(b []byte) *[]byte { return &b }

// exFault collects what is wrong with a step.
type exFault struct{ err error }

func (f *exFault) that(ok bool, format string, args ...any) {
	if !ok && f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// sameClient compares a client with that of a state.
func (w *exWorld) sameClient(f *exFault, c *Client, s *handshake.State, i uint8) {
	w.took(c.row)
	st := &s.Clients[i]
	f.that(c.state == exClientStates[st.State], "client %d is %v after %s, should be in state %d", i, c.state, c.row, st.State)
	if st.State == handshake.Closed {
		return
	}
	f.that(c.offer == w.offer(s, st.Offer), "client %d offers %+v after %s", i, c.offer, c.row)
	kept := uint16(0)
	for k := range s.Made.Challenges {
		for n := range c.challenges {
			if c.challenges[n].stamp == exStamp(s, int(k)) && c.challenges[n].cookie == w.cookie(s, k) {
				kept |= 1 << k
			}
		}
	}
	// One that opens keeps its challenges in the model, which does not look at them again.
	f.that(c.state == Open || kept == st.Kept, "client %d keeps %b after %s, should keep %b", i, kept, c.row, st.Kept)
	link := uint32(0)
	if c.link != nil {
		link = c.link.ID()
		f.that(c.share == w.keys(s, st.Link).share, "client %d has another share of the server", i)
	}
	f.that(link == uint32(st.Link), "client %d has link %d after %s, should have %d", i, link, c.row, st.Link)
}

var exEntryStates = map[handshake.EntryState]EntryState{
	handshake.Free: Free, handshake.Unconfirmed: Unconfirmed, handshake.Confirmed: Confirmed, handshake.Ended: Ended,
}

// loadServer returns the server of a state. What the mask says is due.
func (w *exWorld) loadServer(s *handshake.State, due int) *Server {
	secret := exSecret(s.Made.Run)
	random := append(exReader{}, secret[:]...)
	cfg := ServerConfig{Terms: w.terms(), Anonymous: !w.Keyed, Random: &random, MaxConnections: len(s.Entries)}
	if w.Keyed {
		cfg.Keys = func(identity uint64) (Key, bool) { return w.key(), identity == exIdentity }
	}
	v := check.Must(NewServer(cfg))
	v.now = exTime
	v.challenges.next.Store(exStamp(s, int(s.Made.Challenges)-1) + 1)
	for j := range s.Entries {
		if st := &s.Entries[j]; st.State != handshake.Free {
			w.loadEntry(s, v, st, j == due)
		}
	}
	link := s.Made.Links + 1
	private := exPrivate('s', link)
	next := binary.LittleEndian.AppendUint32(private[:], uint32(link))
	v.random = (*exReader)(&next)
	return v
}

// kept is what an entry keeps of the PROOF that made it: nothing if it has ended (CXK-13).
func (w *exWorld) kept(s *handshake.State, st *handshake.Entry) *made {
	if !st.Living() {
		return nil
	}
	return &made{w.key(), w.keys(s, st.Link).meeting.answer}
}

func (w *exWorld) loadEntry(s *handshake.State, v *Server, st *handshake.Entry, due bool) {
	keys := w.keys(s, st.Link)
	e := &Entry{
		server: v, state: exEntryStates[st.State], identity: w.identity(), address: exAddress(st.Address), home: exAddress(st.Address).Prefix(),
		first: w.first(s, st.Link), hello: w.owner(s, st.Offer).greeting.hello, newest: exStamp(s, int(st.Newest)),
		agreed: w.agreed(st.Link), share: keys.share, made: w.kept(s, st), resume: keys.Resume,
	}
	if st.Living() {
		e.link = NewLink(LinkConfig{Mode: w.terms().Mode, Agreed: e.agreed, Seal: keys.S2C, Open: keys.C2S})
	} else {
		e.reason = exReasons[st.Reason]
	}
	v.enter(e)
	if list := map[EntryState]*entryList{Unconfirmed: &v.halfOpen, Ended: &v.ended}[e.state]; list != nil {
		list.append(e)
		e.since = exTime
		if due {
			e.since -= list.wait
		}
	}
}

// first is what the entry of a link is found by, if its client is anonymous.
func (w *exWorld) first(s *handshake.State, link uint8) helloAt {
	l := &s.Links[link]
	return helloAt{w.owner(s, l.Offer).greeting.hello, exAddress(l.At)}
}

// entry returns the real entry of one of the model's.
func (w *exWorld) entry(v *Server, st *handshake.Entry) *Entry { return v.links[uint32(st.Link)] }

// sameServer compares a server with that of a state.
func (w *exWorld) sameServer(f *exFault, v *Server, s *handshake.State) {
	all := 0
	for j := range s.Entries {
		st := &s.Entries[j]
		if st.State == handshake.Free {
			continue
		}
		all++
		e := w.entry(v, st)
		if e == nil {
			f.that(false, "there is no entry with link %d", st.Link)
			return
		}
		f.that(e.state == exEntryStates[st.State], "link %d is %v after %s, should be in state %d", st.Link, e.state, e.row, st.State)
		f.that(e.hello == w.owner(s, st.Offer).greeting.hello && e.first == w.first(s, st.Link), "link %d has other hellos after %s", st.Link, e.row)
		f.that(e.address == exAddress(st.Address), "link %d is at %v after %s, should be at %d", st.Link, e.address, e.row, st.Address)
		f.that(e.newest == exStamp(s, int(st.Newest)), "the newest stamp of link %d is %d after %s, should be that of %d", st.Link, e.newest, e.row, st.Newest)
		keys, kept := w.keys(s, st.Link), w.kept(s, st)
		f.that(e.resume == keys.Resume && e.share == keys.share && (e.made == kept || e.made != nil && kept != nil && e.made.answer == kept.answer), "link %d has other keys after %s", st.Link, e.row)
		f.that(e.state != Ended || e.reason == exReasons[st.Reason], "link %d ended for %v", st.Link, e.reason)
		f.that((e.link != nil) == st.Living(), "link %d has an envelope: %v", st.Link, e.link != nil)
	}
	f.that(len(v.links) == all && v.all.living+v.all.ended == all && len(v.identities)+len(v.hellos) == all, "%d entries are found, %+v are counted, there are %d", len(v.links), v.all, all)
}

func (w *exWorld) took(row core.Row) {
	if row != "" {
		w.rows[row] = true
	}
}

// Apply makes a move of the model, and the event that it is of a real machine.
func (w *exWorld) Apply(s *handshake.State, m handshake.Move) error {
	before := *s
	if err := w.World.Apply(s, m); err != nil {
		return err
	}
	var f exFault
	switch m.Verb {
	case handshake.DoBegin, handshake.DoRenew, handshake.DoTake, handshake.DoLinked, handshake.DoRefused:
		w.clientMoves(&f, &before, s, m)
	case handshake.DoLink, handshake.DoForeign, handshake.DoProof, handshake.DoData, handshake.DoEnd, handshake.DoForget:
		w.serverMoves(&f, &before, s, m)
	}
	return f.err
}

func (w *exWorld) clientMoves(f *exFault, before, after *handshake.State, m handshake.Move) {
	if m.Verb == handshake.DoBegin {
		n := after.Clients[m.Who].Offer
		nonce, private := exNonce(n), exPrivate('p', n)
		random := append(exReader(nonce[:]), private[:]...)
		c, err := NewClient(exTime, ClientConfig{Terms: w.terms(), Identity: w.identity(), Key: w.key(), Random: &random})
		f.that(err == nil, "%v", err)
		w.sameClient(f, c, after, m.Who)
		return
	}
	c := w.loadClient(before, m.Who)
	var err error
	switch m.Verb {
	case handshake.DoRenew:
		c.Move(exTime)
	case handshake.DoTake:
		challenge := w.challenge(before, m.I)
		err = c.Receive(exTime, challenge.append(nil))
		w.took(c.row)
		proof, ok := c.Poll(exTime, nil)
		want := w.proof(before, m.I)
		f.that(ok && string(proof) == string(want.append(nil)), "client %d proves challenge %d as %x", m.Who, m.I, proof)
	case handshake.DoLinked:
		err = c.Receive(exTime, w.linked(before, m.I, m.J))
	case handshake.DoRefused:
		err = c.Receive(exTime, w.refused(before, m.I, exReasons[m.J]))
		if c.Err() == nil && !w.Keyed { // it stands if nothing better comes
			w.took(c.row)
			c.Poll(exTime+RefuseWait, nil)
		}
		f.that(c.Err() != nil, "client %d has no error", m.Who)
	}
	f.that(err == nil, "client %d: %v", m.Who, err)
	w.sameClient(f, c, after, m.Who)
}

func (w *exWorld) serverMoves(f *exFault, before, after *handshake.State, m handshake.Move) {
	v := w.loadServer(before, -1)
	switch m.Verb {
	case handshake.DoLink, handshake.DoForeign:
		w.asks(f, v, before, after)
	case handshake.DoProof:
		w.proves(f, v, before, after, m.I)
	case handshake.DoData:
		v.Heard(exTime, w.entry(v, &before.Entries[m.Who]))
	case handshake.DoEnd:
		v.End(exTime, w.entry(v, &before.Entries[m.Who]), ConnectionClosed)
	case handshake.DoForget:
		v = w.loadServer(before, int(m.Who))
		event, ok := v.Poll(exTime)
		f.that(ok, "nothing is forgotten")
		w.took(event.Row)
	}
	for _, e := range v.links {
		w.took(e.row)
	}
	w.sameServer(f, v, after)
}

// asks lets a LINK arrive. What the attacker changed he cannot prove.
func (w *exWorld) asks(f *exFault, v *Server, before, after *handshake.State) {
	k := before.Made.Challenges
	link := w.asked(after, k)
	from := exAddress(after.Challenges[k].Address)
	answer, _, err := v.Receive(exTime, from, link.append(nil), nil)
	m, _ := Decode(answer)
	f.that(err == nil && m.Kind == KindChallenge && m.Nonce == link.Nonce && m.Cookie == CookieOf(exSecret(before.Made.Run), m.Stamp, from, DigestOf(&link)), "a LINK draws %x, %v", answer, err)
	f.that(m.Stamp > exStamp(before, int(k)-1), "stamp %d is not new", m.Stamp)
	if after.Challenges[k].Foreign {
		proof := Message{Kind: KindProof, Offer: w.offer(after, after.Challenges[k].Offer), Stamp: m.Stamp, Cookie: m.Cookie}
		proof.Digest = DigestOf(&link)
		answer, _, err = v.Receive(exTime, from, proof.append(nil), nil)
		refused, _ := Decode(answer)
		f.that(err == nil && refused.Kind == KindRefused, "the attacker's PROOF draws %x, %v", answer, err)
	}
}

// proves lets a PROOF arrive. Its answer is what the model says.
func (w *exWorld) proves(f *exFault, v *Server, before, after *handshake.State, k uint8) {
	proof := w.proof(before, k)
	was, is := &before.Challenges[k], &after.Challenges[k]
	answer, event, err := v.Receive(exTime, exAddress(was.Address), proof.append(nil), nil)
	w.took(event.Row)
	var m Message
	if err == nil {
		m = check.Must(Decode(answer))
	}
	switch {
	case err != nil:
		f.that(*was == *is, "PROOF %d draws silence (%v), should be %+v", k, err, *is)
	case m.Kind == KindLinked:
		link := uint8(m.Agreed.Link)
		f.that(is.Linked>>link&1 == 1 && string(answer) == string(w.linked(after, k, link)), "PROOF %d draws LINKED %d, should be %+v", k, link, *is)
	case m.Reason == UnknownIdentity:
		f.that(*was == *is && m.Proof == [16]byte{}, "PROOF %d draws REFUSED identity, should be %+v", k, *is)
	default:
		said := uint8(0)
		for bit, reason := range exReasons {
			if reason == m.Reason {
				said = bit
			}
		}
		f.that(is.Refused&said != 0 && string(answer) == string(w.refused(before, k, m.Reason)), "PROOF %d draws REFUSED %v, should be %+v", k, m.Reason, *is)
	}
}

// Check gives each client all that is of no use to it: nothing may change.
func (w *exWorld) Check(s *handshake.State) error {
	var f exFault
	for i := range uint8(w.Clients) {
		if s.Clients[i].Process == 0 {
			continue
		}
		c := w.loadClient(s, i)
		for k := range s.Made.Challenges {
			if !w.Takes(s, i, k) && !s.Challenges[k].Copied { // which only a relay has
				challenge := w.challenge(s, k)
				_ = c.Receive(exTime, challenge.append(nil))
				w.took(c.row)
			}
			for l := uint8(1); l <= s.Made.Links; l++ {
				if s.Challenges[k].Linked>>l&1 == 1 && !w.TakesLinked(s, i, k, l) {
					_ = c.Receive(exTime, w.linked(s, k, l))
					w.took(c.row)
				}
			}
			for bit, reason := range exReasons {
				if s.Challenges[k].Refused&bit != 0 && (c.state == Open || !w.TakesRefused(s, i, k, bit)) {
					_ = c.Receive(exTime, w.refused(s, k, reason))
					w.took(c.row)
				}
			}
		}
		w.sameClient(&f, c, s, i)
	}
	w.checkServer(&f, s)
	return f.err
}

// checkServer gives the server each PROOF that is no good there: from another address, too old,
// or of a server before. It is silent, and nothing changes.
func (w *exWorld) checkServer(f *exFault, s *handshake.State) {
	v := w.loadServer(s, -1)
	for k := range s.Made.Challenges {
		ch, proof := &s.Challenges[k], w.proof(s, k)
		for a := range w.Addresses {
			if a == ch.Address && !ch.Old && !ch.Foreign {
				continue
			}
			answer, _, err := v.Receive(exTime, exAddress(a), proof.append(nil), nil)
			f.that(len(answer) == 0 && (errors.Is(err, ErrCookie) || errors.Is(err, ErrStaleCookie)), "PROOF %d from address %d draws %x, %v", k, a, answer, err)
		}
	}
	w.sameServer(f, v, s)
}

func explored(t *testing.T, worlds []handshake.World) (rows map[core.Row]bool, states int) {
	t.Helper()
	rows = map[core.Row]bool{}
	for _, world := range worlds {
		w := &exWorld{World: world, rows: rows}
		r := explore.Run[handshake.State, handshake.Move](w, explore.Limits{States: 25_000_000})
		if r.Err != nil {
			t.Errorf("%s: %v\n%s", world.Name, r.Err, r.Trace)
		}
		t.Logf("%s: %v", world.Name, r)
		states += r.States
	}
	return rows, states
}

// Every state of the smallest worlds (CXT-SAFE-1 to CXT-SAFE-4), and every row that the model has an event for: after each the
// machines have the variables of the model (CXC-1, CXS-4).
func TestExplore(t *testing.T) {
	rows, _ := explored(t, handshake.Smallest)
	for _, row := range exRows {
		if !rows[row] && !t.Failed() {
			t.Errorf("no exploration takes row %s", row)
		}
	}
}

// exRows are the rows without those of time (I1, I2, I15, I16, I24, J11, J28), of what is not
// due (I5, I17, I27), of hints in LINKING (I11), of data, of CLOSED, of a second event of what it says,
// and of who resumes what another has replaced (J8, J17).
var exRows = []core.Row{
	"I3", "I6", "I7", "I8", "I9", "I10", "I12", "I13", "I18", "I19", "I20", "I22", "I25", "I28", "I29", "I30", "I31", "I32", "I34", "I36", "I45",
	"J1", "J3", "J4", "J5", "J6", "J7", "J9", "J10", "J12", "J13", "J14", "J15", "J16", "J20", "J21", "J22", "J23", "J25", "J27",
}

func TestExploreNightly(t *testing.T) {
	if !*exploreNightly {
		t.Skip("needs -explore.nightly")
	}
	if _, states := explored(t, append(handshake.Middle, handshake.Small...)); states < 1_000_000 {
		t.Errorf("%d states are fewer than a million", states)
	}
}
