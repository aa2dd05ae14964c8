package attack

import (
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// testServer is the handshake of a server, without sockets, and the time.
type testServer struct {
	t testing.TB
	*session.Server
	now    core.Micros
	random *rand.ChaCha8
	asked  int // how often for a key
}

var keys = map[uint64]session.Key{1: {1}, 2: {2}}

// newTestServer returns a server whose clients have keys, or none if it is anonymous.
func newTestServer(t testing.TB, anonymous bool, change func(*session.ServerConfig)) *testServer {
	t.Helper()
	d := &testServer{t: t, now: core.Second, random: rand.NewChaCha8([32]byte{1})}
	cfg := session.ServerConfig{Terms: session.Terms{Lanes: 1}, Random: d.random, Anonymous: anonymous}
	if !anonymous {
		cfg.Keys = func(identity uint64) (session.Key, bool) {
			d.asked++
			key, ok := keys[identity]
			return key, ok
		}
	}
	if change != nil {
		change(&cfg)
	}
	d.Server = check.Must(session.NewServer(cfg))
	return d
}

// gets gives the server a message, and returns its answer, nil if there is none. No
// answer is larger than the message (CXS-18).
func (d *testServer) gets(from string, datagram []byte) (answer []byte, event session.Event) {
	d.t.Helper()
	answer, event, _ = d.Receive(d.now, session.AddressOfText(from), datagram, nil)
	if len(answer) > len(datagram) {
		d.t.Errorf("%d bytes of %s draw %d", len(datagram), kindOf(datagram), len(answer))
	}
	return answer, event
}

// opens gives the server a datagram of data, and returns why it was refused.
func (d *testServer) opens(from string, datagram []byte) error {
	e, err := d.Route(session.AddressOfText(from), datagram)
	if err != nil {
		return err
	}
	if _, err = e.Link().Open(nil, datagram); err == nil {
		d.Heard(d.now, e)
	}
	return err
}

// passes lets time pass, in steps of 10 ms.
func (d *testServer) passes(time core.Micros) {
	for end := d.now + time; d.now < end; {
		d.now += 10 * core.Millisecond
		for ok := true; ok; {
			_, ok = d.Poll(d.now)
		}
	}
}

func kindOf(datagram []byte) string {
	if len(datagram) == 0 {
		return "nothing"
	}
	return session.Kind(datagram[0]).String()
}

// testClient is a client of a server.
type testClient struct {
	*session.Client
	server *testServer
	at     string
	sent   [][]byte
	got    [][]byte

	sealed []byte // a datagram of data that the server has opened
}

// newClient returns a client at an address that begins now.
func (d *testServer) newClient(at string, identity uint64, change func(*session.ClientConfig)) *testClient {
	cfg := session.ClientConfig{Terms: session.Terms{Lanes: 1}, Identity: identity, Key: keys[identity], Random: d.random}
	if change != nil {
		change(&cfg)
	}
	return &testClient{Client: check.Must(session.NewClient(d.now, cfg)), server: d, at: at}
}

// polls returns what the client sends now.
func (g *testClient) polls() (datagrams [][]byte) {
	for datagram, ok := g.Poll(g.server.now, nil); ok; datagram, ok = g.Poll(g.server.now, nil) {
		datagrams = append(datagrams, datagram)
	}
	g.sent = append(g.sent, datagrams...)
	return datagrams
}

// receives gives the client a message.
func (g *testClient) receives(datagram []byte) error {
	g.got = append(g.got, datagram)
	return g.Receive(g.server.now, datagram)
}

// goes lets client and server talk for some time; pass sees every message, and says what
// arrives in its place; nil: all of it.
func (g *testClient) goes(time core.Micros, pass func(datagram []byte) []byte) {
	for end := g.server.now + time; g.server.now < end; g.server.passes(10 * core.Millisecond) {
		for _, datagram := range g.polls() {
			if pass != nil {
				datagram = pass(datagram)
			}
			answer, _ := g.server.gets(g.at, datagram)
			if answer == nil {
				continue
			}
			if pass != nil {
				answer = pass(answer)
			}
			g.receives(answer)
		}
	}
}

// opened returns a client that is open at both ends, after one datagram of data.
func (d *testServer) opened(at string, identity uint64) *testClient {
	d.t.Helper()
	g := d.newClient(at, identity, nil)
	g.goes(20*core.Millisecond, nil)
	if g.State() != session.Open {
		d.t.Fatalf("the client is %v: %v", g.State(), g.Err())
	}
	if err := d.opens(at, g.seals()); err != nil {
		d.t.Fatal(err)
	}
	return g
}

// seals returns a datagram of data.
func (g *testClient) seals() []byte {
	g.Spoke(g.server.now)
	return g.Link().Seal(nil, []byte("data"))
}

// entry returns the client's entry; nil if there is none.
func (g *testClient) entry() *session.Entry { return g.server.Find(g.Link().ID()) }

// hears seals a datagram of data at the server, gives it to the client, and returns why it
// was refused.
func (g *testClient) hears(e *session.Entry) error {
	_, err := g.Link().Open(nil, e.Link().Seal(nil, []byte("data")))
	if err == nil {
		g.Heard(g.server.now)
	}
	return err
}

// last returns the latest message of a kind in a record.
func last(t testing.TB, record [][]byte, kind session.Kind) []byte {
	t.Helper()
	for i := len(record) - 1; i >= 0; i-- {
		if session.Kind(record[i][0]) == kind {
			return record[i]
		}
	}
	t.Fatalf("there is no %v", kind)
	return nil
}

// changed returns a message with something else in it.
func changed(datagram []byte, change func(m *session.Message)) []byte {
	m := check.Must(session.Decode(datagram))
	change(&m)
	return encode(m)
}
