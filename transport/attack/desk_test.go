package attack

import (
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/session"
)

// desk is a server's half of the handshake, without sockets, and the time.
type desk struct {
	t testing.TB
	*session.Server
	now    machine.Micros
	random *rand.ChaCha8
	asked  int // how often for a key
}

var keys = map[uint64]session.Key{1: {1}, 2: {2}}

// newDesk returns a desk whose clients have keys, or none if it is anonymous.
func newDesk(t testing.TB, anonymous bool, change func(*session.ServerConfig)) *desk {
	t.Helper()
	d := &desk{t: t, now: machine.Second, random: rand.NewChaCha8([32]byte{1})}
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

// gets gives the desk a message, and returns its answer, nil if there is none. No
// answer is larger than the message (CXS-18).
func (d *desk) gets(from string, datagram []byte) (answer []byte, event session.Event) {
	d.t.Helper()
	answer, event, _ = d.Receive(d.now, session.AddressOfText(from), datagram, nil)
	if len(answer) > len(datagram) {
		d.t.Errorf("%d bytes of %s draw %d", len(datagram), kindOf(datagram), len(answer))
	}
	return answer, event
}

// opens gives the desk a datagram of data, and returns why it was refused.
func (d *desk) opens(from string, datagram []byte) error {
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
func (d *desk) passes(time machine.Micros) {
	for end := d.now + time; d.now < end; {
		d.now += 10 * machine.Millisecond
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

// guest is a client of a desk.
type guest struct {
	*session.Client
	desk *desk
	at   string
	sent [][]byte
	got  [][]byte

	sealed []byte // a datagram of data that the desk has opened
}

// guest returns a client at an address that begins now.
func (d *desk) guest(at string, identity uint64, change func(*session.ClientConfig)) *guest {
	cfg := session.ClientConfig{Terms: session.Terms{Lanes: 1}, Identity: identity, Key: keys[identity], Random: d.random}
	if change != nil {
		change(&cfg)
	}
	return &guest{Client: check.Must(session.NewClient(d.now, cfg)), desk: d, at: at}
}

// polls returns what the client sends now.
func (g *guest) polls() (datagrams [][]byte) {
	for datagram, ok := g.Poll(g.desk.now, nil); ok; datagram, ok = g.Poll(g.desk.now, nil) {
		datagrams = append(datagrams, datagram)
	}
	g.sent = append(g.sent, datagrams...)
	return datagrams
}

// receives gives the client a message.
func (g *guest) receives(datagram []byte) error {
	g.got = append(g.got, datagram)
	return g.Receive(g.desk.now, datagram)
}

// goes lets client and desk talk for some time; pass sees every message, and says what
// arrives in its place; nil: all of it.
func (g *guest) goes(time machine.Micros, pass func(datagram []byte) []byte) {
	for end := g.desk.now + time; g.desk.now < end; g.desk.passes(10 * machine.Millisecond) {
		for _, datagram := range g.polls() {
			if pass != nil {
				datagram = pass(datagram)
			}
			answer, _ := g.desk.gets(g.at, datagram)
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
func (d *desk) opened(at string, identity uint64) *guest {
	d.t.Helper()
	g := d.guest(at, identity, nil)
	g.goes(20*machine.Millisecond, nil)
	if g.State() != session.Open {
		d.t.Fatalf("the client is %v: %v", g.State(), g.Err())
	}
	if err := d.opens(at, g.seals()); err != nil {
		d.t.Fatal(err)
	}
	return g
}

// seals returns a datagram of data.
func (g *guest) seals() []byte {
	g.Spoke(g.desk.now)
	return g.Link().Seal(nil, []byte("data"))
}

// entry returns the client's entry; nil if there is none.
func (g *guest) entry() *session.Entry { return g.desk.Find(g.Link().ID()) }

// hears seals a datagram of data at the server, gives it to the client, and returns why it
// was refused.
func (g *guest) hears(e *session.Entry) error {
	_, err := g.Link().Open(nil, e.Link().Seal(nil, []byte("data")))
	if err == nil {
		g.Heard(g.desk.now)
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
