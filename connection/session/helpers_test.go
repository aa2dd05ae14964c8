package session

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

const (
	ms     = core.Millisecond
	second = core.Second
)

func unhex(s string) []byte { return check.Must(hex.DecodeString(strings.ReplaceAll(s, " ", ""))) }

// with returns a configuration that was changed.
func with[C any](cfg C, change func(*C)) C {
	change(&cfg)
	return cfg
}

// source is randomness that repeats.
func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// keyOf is the key of an identity in the tests.
func keyOf(identity uint64) (k Key) {
	if identity != 0 {
		k = Key{0: 'k', 1: byte(identity), 31: 1}
	}
	return k
}

// keys knows identities 1 to 99.
func keys(identity uint64) (Key, bool) { return keyOf(identity), identity < 100 }

// The addresses of the tests.
var (
	here      = AddressOfText("192.0.2.1:40000")
	there     = AddressOfText("198.51.100.7:50000")
	elsewhere = AddressOfText("[2001:db8::1]:60000")
)

var (
	open  = ServerConfig{Anonymous: true} // whoever comes
	keyed = ServerConfig{Keys: keys}
)

// host is a server with its driver.
type host struct {
	t testing.TB
	*Server
	now   core.Micros
	event Event // of the last message
	seeds byte  // of its clients
	made  Keys  // of its last connection
}

func newHost(t testing.TB, cfg ServerConfig) *host {
	t.Helper()
	if cfg.Random == nil {
		cfg.Random = source(1)
	}
	s, err := NewServer(cfg)
	check.Same(t, "error", err, nil)
	return &host{t: t, Server: s, now: 1000 * second}
}

// takes gives the server a datagram and returns the answer, nil if there is none. Whatever it is,
// it is smaller than what it answers (CXS-18).
func (h *host) takes(from Address, datagram []byte) []byte {
	h.t.Helper()
	answer, event, err := h.Receive(h.now, from, datagram, []byte("<"))
	check.Equal(h.t, "what stands before the answer", string(answer[:1]), "<")
	check.That(h.t, len(answer) == 1 || len(answer)-1 < len(datagram), "the answer is smaller")
	check.Equal(h.t, "an error, or an answer", err != nil, len(answer) == 1)
	if h.event = event; err != nil {
		return nil
	}
	return answer[1:]
}

// says gives the server a datagram and returns what it did, in words.
func (h *host) says(from Address, datagram []byte) string {
	h.t.Helper()
	answer := h.takes(from, datagram)
	return strings.TrimSpace(fmt.Sprint(h.event.Row, " ", text(answer)))
}

// polls lets the server forget what is due, and returns the rows.
func (h *host) polls() string {
	var rows []string
	for {
		event, ok := h.Poll(h.now)
		if !ok {
			return strings.Join(rows, " ")
		}
		h.event = event
		rows = append(rows, string(event.Row))
	}
}

// hears gives the server a datagram of data and returns the row, or why it is refused.
func (h *host) hears(from Address, datagram []byte) string {
	e, err := h.Route(from, datagram)
	if err == nil {
		_, err = e.Link().Open(nil, datagram)
	}
	if err != nil {
		return string(err.(*Error).Code())
	}
	h.event = h.Heard(h.now, e)
	return string(h.event.Row)
}

// text returns a message in words.
func text(datagram []byte) string {
	if datagram == nil {
		return ""
	}
	m, err := Decode(datagram)
	switch {
	case err != nil:
		return err.Error()
	case m.Kind == KindRefused && m.Proof == [16]byte{}:
		return "REFUSED " + m.Reason.String() + " unproven"
	case m.Kind == KindRefused:
		return "REFUSED " + m.Reason.String()
	}
	return m.Kind.String()
}

// caller is a client with its driver, at an address.
type caller struct {
	t testing.TB
	*Client
	host *host
	from Address
	last []byte // datagram that it sent
}

// newCaller returns a client of an identity at an address, that is to link to a host.
func newCaller(h *host, from Address, identity uint64, change ...func(*ClientConfig)) *caller {
	h.t.Helper()
	h.seeds++
	cfg := ClientConfig{Terms: h.terms, Identity: identity, Key: keyOf(identity), Random: source(100 + h.seeds)}
	for _, c := range change {
		c(&cfg)
	}
	c, err := NewClient(h.now, cfg)
	check.Same(h.t, "error", err, nil)
	return &caller{t: h.t, Client: c, host: h, from: from}
}

// sends returns the datagram of a poll; nil if there is none.
func (c *caller) sends() []byte {
	c.t.Helper()
	datagram, ok := c.Poll(c.host.now, []byte("<"))
	check.Equal(c.t, "what stands before it", string(datagram[:1]), "<")
	check.Equal(c.t, "there is one", ok, len(datagram) > 1)
	if !ok {
		return nil
	}
	c.last = append([]byte(nil), datagram[1:]...)
	return c.last
}

// polls returns the rows of polls until there is no datagram.
func (c *caller) polls() string {
	c.t.Helper()
	var rows []string
	for more := true; more; {
		more = c.sends() != nil
		rows = append(rows, string(c.Client.Row()))
	}
	return strings.Join(rows, " ")
}

// gets gives the client datagrams and returns the rows.
func (c *caller) gets(datagrams ...[]byte) string {
	c.t.Helper()
	var rows []string
	for _, d := range datagrams {
		before := c.Stats()
		err := c.Receive(c.host.now, d)
		after := c.Stats()
		check.Equal(c.t, "what is of no use changes a counter", err != nil, after.Refused+after.Unexpected > before.Refused+before.Unexpected || c.State() == Closed && err != nil)
		rows = append(rows, string(c.Client.Row()))
	}
	return strings.Join(rows, " ")
}

// talks lets client and server exchange messages, without loss or delay, until neither says more.
func (c *caller) talks() {
	c.t.Helper()
	for d := c.sends(); d != nil || c.Deadline() <= c.host.now; d = c.sends() {
		if d == nil {
			continue
		}
		if answer := c.host.takes(c.from, d); answer != nil {
			c.gets(answer)
		}
	}
}

// linked returns a client that has a connection, of which no data came.
func linked(h *host, from Address, identity uint64) *caller {
	h.t.Helper()
	c := newCaller(h, from, identity)
	c.talks()
	check.Equal(h.t, "state", c.State(), Open)
	h.now += ProofSpacing // so that it may prove again at once
	return c
}

// confirmed returns a client whose connection is confirmed at both ends.
func confirmed(h *host, from Address, identity uint64) *caller {
	h.t.Helper()
	c := linked(h, from, identity)
	check.Equal(h.t, "row", h.hears(from, c.data("hello")), "J9")
	c.hears("hello")
	return c
}

// data seals a datagram.
func (c *caller) data(body string) []byte {
	c.Spoke(c.host.now)
	return c.Link().Seal(nil, []byte(body))
}

// entry returns the server's entry of the client's connection.
func (c *caller) entry() *Entry { return c.host.links[c.Link().ID()] }

// hears lets the server send data, which the client opens.
func (c *caller) hears(body string) {
	c.t.Helper()
	got, err := c.Link().Open(nil, c.entry().Link().Seal(nil, []byte(body)))
	check.Same(c.t, "error", err, nil)
	check.Equal(c.t, "body", string(got), body)
	c.Heard(c.host.now)
}

// challenged lets the client send a LINK and take the CHALLENGE, and returns its PROOF.
func (c *caller) challenged() []byte {
	c.t.Helper()
	link := c.sends()
	check.Equal(c.t, "it sends", text(link), "LINK")
	c.gets(c.host.takes(c.from, link))
	proof := c.sends()
	check.Equal(c.t, "it sends", text(proof), "PROOF")
	return proof
}

// prove returns a PROOF as a client would make it who has this key: that of its identity, or, if it
// resumes, that of the connection.
func prove(key Key, m Message) []byte {
	p, _, _ := proved(key, m)
	return check.Must(p.Append(nil))
}

// proved returns the same with its greeting and its transcript.
func proved(key Key, m Message) (Message, greeting, Key) {
	identity := key
	if m.Resume != 0 {
		identity = keyOf(m.Identity)
	}
	g := greet(&m.Offer, &identity, new(Share))
	challenge := challenging(m.Nonce)
	challenge.Stamp, challenge.Cookie = m.Stamp, m.Cookie
	seen := g.seen(&challenge)
	m.Kind, m.Move = KindProof, [16]byte{}
	if m.Resume != 0 {
		m.Move = moveBy(&key, &seen)
	}
	var whole Key
	m.Proof, whole = g.prove(&seen, &m.Move)
	return m, g, whole
}

// altered returns a copy of a datagram with one bit changed.
func altered(datagram []byte, bit int) []byte {
	out := append([]byte(nil), datagram...)
	out[bit/8] ^= 1 << (bit % 8)
	return out
}

var sameEntries = cmp.Comparer(func(a, b *Entry) bool { return a == b })

var ignoreRefusals = cmpopts.IgnoreUnexported(ServerStats{})
