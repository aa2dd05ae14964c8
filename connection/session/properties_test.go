package session

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// packet is a datagram on its way: the network keeps all there ever were.
type packet struct {
	datagram []byte
	from     Address // of what goes to the server
	to       *caller // of what goes to a client; nil: to the server
}

// network is a server, its clients, and a path that loses, copies, delays and reorders; and somebody
// on it who reads all, changes some, and sends it from where he likes.
type network struct {
	t       *rapid.T
	tb      testing.TB
	cfg     ServerConfig
	host    *host
	callers []*caller
	bag     []packet
	restart byte
}

var addresses = []Address{here, there, elsewhere, AddressOfText("203.0.113.5:1")}

func (n *network) client() *caller {
	return n.callers[rapid.IntRange(0, len(n.callers)-1).Draw(n.t, "client")]
}

func (n *network) address() Address { return rapid.SampledFrom(addresses).Draw(n.t, "address") }

// deliver gives a packet to where it goes, perhaps from another address.
func (n *network) deliver(p packet) {
	if p.to != nil {
		_ = p.to.Receive(n.host.now, p.datagram)
		return
	}
	if Kind(p.datagram[0]).isData() {
		n.host.hears(p.from, p.datagram)
		return
	}
	answer := n.host.takes(p.from, p.datagram)
	if answer == nil {
		return
	}
	for _, c := range n.callers { // whoever may be there gets it
		if c.from == p.from {
			n.bag = append(n.bag, packet{slices.Clone(answer), p.from, c})
		}
	}
}

// entry returns the connection of a client, if it lives at the server; nil if not.
func (n *network) entry(c *caller) *Entry {
	if c.Link() == nil {
		return nil
	}
	return n.host.Find(c.Link().ID())
}

// speaks lets the server send data to a client where it is.
func (n *network) speaks(c *caller) {
	if e := n.entry(c); e != nil && e.State() == Confirmed && e.Address() == c.from {
		if _, err := c.Link().Open(nil, e.Link().Seal(nil, []byte("from the server"))); err == nil {
			c.Heard(n.host.now)
		}
	}
}

// send lets a client send what it has to send.
func (n *network) send(c *caller) {
	if d := c.sends(); d != nil {
		n.bag = append(n.bag, packet{d, c.from, nil})
	}
	if c.Link() != nil && c.State() != Closed {
		n.bag = append(n.bag, packet{c.data("body"), c.from, nil})
	}
}

var steps = []func(n *network){
	func(n *network) { n.send(n.client()) },
	func(n *network) { n.send(n.client()) },
	func(n *network) { // the newest arrives
		if len(n.bag) > 0 {
			n.deliver(n.bag[len(n.bag)-1])
		}
	},
	func(n *network) { // any arrives, or does so again
		if len(n.bag) > 0 {
			n.deliver(rapid.SampledFrom(n.bag).Draw(n.t, "packet"))
		}
	},
	func(n *network) { // one from another address, or changed
		if len(n.bag) == 0 {
			return
		}
		p := rapid.SampledFrom(n.bag).Draw(n.t, "packet")
		p.from = n.address()
		if rapid.Bool().Draw(n.t, "changed") {
			p.datagram = altered(p.datagram, rapid.IntRange(0, 8*len(p.datagram)-1).Draw(n.t, "bit"))
		}
		n.deliver(p)
	},
	func(n *network) { // time passes
		n.host.now += rapid.SampledFrom([]core.Micros{0, ms, 10 * ms, 250 * ms, second, 3 * second, 5 * second, 10 * second}).Draw(n.t, "wait")
	},
	func(n *network) { n.host.polls() },
	func(n *network) { // a client moves
		c := n.client()
		c.from = n.address()
		c.Move(n.host.now)
	},
	func(n *network) { // the server speaks
		n.speaks(n.client())
	},
	func(n *network) { // it ends a connection
		if e := n.entry(n.client()); e != nil {
			n.host.End(n.host.now, e, ConnectionClosed)
		}
	},
	func(n *network) { // a client begins anew
		i := rapid.IntRange(0, len(n.callers)-1).Draw(n.t, "client")
		n.callers[i] = newCaller(n.host, n.callers[i].from, n.callers[i].offer.Identity)
	},
	func(n *network) { // the server restarts
		if rapid.IntRange(0, 4).Draw(n.t, "restart") > 0 {
			return
		}
		n.restart++
		old := n.host
		n.host = newHost(n.tb, with(n.cfg, func(c *ServerConfig) { c.Random = source(10 + n.restart) }))
		n.host.now, n.host.seeds = old.now, old.seeds
		for _, c := range n.callers {
			c.host = n.host
		}
	},
}

// judge makes sure of what holds at any time: the books of the server are right, nothing is beyond its
// bounds, and the two ends of a connection agree.
func (n *network) judge() {
	s := n.host.Server
	var all count
	prefixes := map[Prefix]count{}
	waiting := map[*Entry]*entryList{}
	for _, l := range []*entryList{&s.halfOpen, &s.ended} {
		for e := l.first; e != nil; e = e.next {
			waiting[e] = l
			check.That(n.t, e.next == nil || e.since <= e.next.since, "lists are in order")
		}
	}
	for id, e := range s.links {
		check.Equal(n.t, "by its link", e.ID(), id)
		check.That(n.t, id != 0 && s.identities[e.identity] == e || e.identity == 0 && s.hellos[e.first] == e, "it is found")
		by := count{living: 1}
		if e.State() == Ended {
			by = count{ended: 1}
		}
		check.That(n.t, (e.Link() != nil) == e.living() && e.State() != Free, "a link while it lives")
		check.That(n.t, waiting[e] == map[EntryState]*entryList{Unconfirmed: &s.halfOpen, Ended: &s.ended}[e.State()], "it waits for its end")
		all, prefixes[e.home] = all.plus(by), prefixes[e.home].plus(by)
	}
	check.That(n.t, len(s.identities)+len(s.hellos) == len(s.links) && len(waiting) <= len(s.links), "no more are found")
	check.That(n.t, s.all == all && len(s.prefixes) == len(prefixes), "counts")
	for p, c := range prefixes {
		check.That(n.t, s.prefixes[p] == c && c.living <= s.mostPerPrefix && c.ended <= 4*s.mostPerPrefix+1, "counts of a prefix")
	}
	for _, c := range n.callers {
		n.judgeClient(c)
	}
}

// judgeClient makes sure that a client whose connection lives at the server can speak with it.
func (n *network) judgeClient(c *caller) {
	check.That(n.t, len(c.challenges) <= KeptChallenges && (c.Err() == nil || c.State() == Closed), "bounds")
	if c.Link() == nil || c.State() == Closed {
		return
	}
	e := n.entry(c)
	if e == nil || e.share != c.share {
		return
	}
	check.Equal(n.t, "agreed", e.Link().Agreed(), c.Link().Agreed())
	check.Equal(n.t, "identity", e.Identity(), c.offer.Identity)
	_, err := c.Link().Open(nil, e.Link().Seal(nil, []byte("x")))
	check.Same(n.t, "error", err, nil)
}

// settle is a path that is good again: each client comes to OPEN, or is told why not.
func (n *network) settle() {
	for end := n.host.now + 40*second; n.host.now < end; n.host.now += 250 * ms {
		n.host.polls()
		for _, c := range n.callers {
			c.talks()
			if c.State() == Open {
				n.host.hears(c.from, c.data("x"))
				n.speaks(c)
			}
		}
	}
	for _, c := range n.callers {
		switch c.State() {
		case Open:
			check.Equal(n.t, "it is heard", n.host.hears(c.from, c.data("z")), "J18")
		case Closed:
			var why *RefusedError
			check.That(n.t, errors.As(c.Err(), &why) || errors.Is(c.Err(), ErrTimeout), fmt.Sprint("why: ", c.Err()))
		default:
			n.t.Fatalf("%v after 40 s: row %s", c.State(), c.Row())
		}
	}
}

// Whatever a network and who reads it do, in any order: what must hold does at each step, and when
// the network is good again everybody has a connection, or was told why not (CXT-SAFE-2, CXT-LIVE-1,
// CXT-LIVE-2, CXT-BND-3, CXT-BND-4).
func TestAnyNetwork(t *testing.T) {
	for name, cfg := range map[string]ServerConfig{
		"anonymous":   with(open, func(c *ServerConfig) { c.MaxConnections, c.MaxPerAddress = 6, 3 }),
		"keyed, aead": with(keyed, func(c *ServerConfig) { c.Lanes = 1 }),
		"keyed, mac":  with(keyed, func(c *ServerConfig) { c.Mode = MAC; c.MaxConnections = 2 }),
		"both":        {Keys: keys, Anonymous: true},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				n := &network{t: rt, tb: t, cfg: cfg, host: newHost(t, cfg)}
				for i := range 3 {
					identity := map[string][]uint64{"anonymous": {0, 0, 0}, "both": {0, 1, 1}}[name]
					if identity == nil {
						identity = []uint64{1, 1, 2}
					}
					n.callers = append(n.callers, newCaller(n.host, addresses[i], identity[i]))
				}
				for range rapid.IntRange(1, 80).Draw(rt, "steps") {
					steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "step")](n)
					n.judge()
				}
				n.settle()
				n.judge()
			})
		})
	}
}
