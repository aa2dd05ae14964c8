package inspect_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/connectionsim"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/tools/inspect"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// worldSize is the size of the chunk that is sent through a path.
const worldSize = 256 << 10

// lossy is the path of the tests: 10 % are lost each way, and a round trip takes 40 ms.
var lossy = netsim.Path{Delay: 20 * time.Millisecond, Loss: 10, Rate: 10e6, Queue: 1 << 20, Overhead: codec.HeaderBytes}

// taps are captures of one conversation, on both sides of what lies between: alice's and bob's.
type taps struct {
	sides [2][]tapped
	links [2]*netsim.Link // from alice, from bob
	// attempt makes the chance of a connection another one.
	attempt byte
}

type tapped struct {
	at   time.Duration
	from netip.AddrPort
	data []byte
}

func newTaps(t *testing.T, path netsim.Path, seed uint64) *taps {
	return &taps{links: [2]*netsim.Link{check.Must(netsim.NewLink(path, 2*seed)), check.Must(netsim.NewLink(path, 2*seed+1))}}
}

// send captures a datagram of an end on its side, and on the other one each time it arrives.
func (k *taps) send(now time.Duration, from int, b []byte, deliver func(at time.Duration)) {
	address := []netip.AddrPort{alice, bob}[from]
	k.sides[from] = append(k.sides[from], tapped{now, address, b})
	arrivals := k.links[from].Send(now, len(b))
	for i := range arrivals.Len() {
		k.sides[1-from] = append(k.sides[1-from], tapped{arrivals.At(i), address, b})
		deliver(arrivals.At(i))
	}
}

// story returns the story of one side's capture.
func (k *taps) story(t *testing.T, side int, opts inspect.Options) *inspect.Story {
	all := k.stories(side, opts)
	check.Same(t, "stories", len(all), 1)
	return all[0]
}

func (k *taps) stories(side int, opts inspect.Options) []*inspect.Story {
	slices.SortStableFunc(k.sides[side], func(a, b tapped) int { return cmp.Compare(a.at, b.at) })
	in := inspect.New(opts)
	var list []inspect.Captured
	for _, d := range k.sides[side] {
		to := alice
		if d.from == alice {
			to = bob
		}
		list = append(list, inspect.Captured{At: time.Unix(1, 0).Add(d.at), From: d.from, To: to, Result: in.Datagram(d.from, to, d.data)})
	}
	return inspect.Stories(list)
}

// over returns the carrier of a conversation whose packets have an encoding.
func over(k *taps, encode func(codec.Packet) []byte) sim.Carrier[codec.Packet] {
	return func(now time.Duration, from int, p codec.Packet, deliver func(time.Duration, int, codec.Packet)) {
		k.send(now, from, encode(p), func(at time.Duration) { deliver(at, 1-from, p) })
	}
}

// run runs a conversation until the sender knows that the chunk has arrived.
func run(t *testing.T, k *taps, from chunk.Sender, to chunk.Receiver, encode func(codec.Packet) []byte) {
	t.Helper()
	w := sim.NewWorld(over(k, encode), sim.End[codec.Packet](from), to)
	check.Must(0, from.Submit(0, simulate.Pattern(worldSize, 1)))
	w.Flush()
	for from.Sending() && w.Step(20*core.Second) {
		if to.Ready() {
			check.Must(to.Read(w.Now(), nil))
		}
	}
	check.That(t, !from.Sending(), "the chunk has arrived")
}

// conversation runs one way of sending a chunk from alice to bob.
type conversation func(t *testing.T, k *taps)

func sendSlices(t *testing.T, k *taps) {
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: check.Must(adaptive.Scheduler(codec.Named))}))
	r := check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{}))
	run(t, k, chunk.Sender{SenderMachine: s}, chunk.Receiver{ReceiverMachine: r},
		func(p codec.Packet) []byte { return check.Must(framer.Append(nil, p)) })
}

func sendRepairSlices(t *testing.T, k *taps) {
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: check.Must(adaptive.Scheduler(codec.Repair))}))
	r := check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.Repair}))
	encode := codec.Repair.Framer(protocolID + 256)
	run(t, k, chunk.Sender{SenderMachine: s}, chunk.Receiver{ReceiverMachine: r},
		func(p codec.Packet) []byte { return check.Must(encode.Append(nil, p)) })
}

// connect returns a conversation of a connection in a mode.
func connect(mode session.Mode) conversation {
	return func(t *testing.T, k *taps) {
		net := connectionsim.NewNetwork(1, func(now time.Duration, l connectionsim.Letter, deliver func(time.Duration, connectionsim.Letter)) {
			from := 0
			if l.From == connectionsim.ServerAddress {
				from = 1
			}
			k.send(now, from, l.Data, func(at time.Duration) { deliver(at, l) })
		})
		cfg := protocol.Config{Terms: session.Terms{Mode: mode}, KeyLog: logKeys}
		keys := func(uint64) (session.Key, bool) { return worldKey, true }
		serves := protocol.ServerConfig{Config: cfg, Keys: keys, Random: connectionsim.Random(1 + 2*k.attempt)}
		asks := protocol.ClientConfig{Config: cfg, Identity: alicesIdentity, Key: worldKey, Random: connectionsim.Random(2 + 2*k.attempt)}
		if mode == session.CRC {
			serves.Anonymous, serves.Keys, asks.Identity, asks.Key = true, nil, 0, session.Key{}
		}
		client, server := net.Clients[0], net.Server
		server.Server = check.Must(protocol.NewServer(serves))
		client.Client = check.Must(protocol.NewClient(asks, 0))
		begun, done := false, false
		client.Happened = func(now core.Micros) {
			conn := client.Conn()
			if conn == nil {
				return
			}
			if !begun {
				check.Must(conn.SendChunk(now, simulate.Pattern(worldSize, 1)))
			}
			begun = true
			_, done = conn.ChunkDone()
		}
		server.Events.Happened = func(now core.Micros, p *protocol.ServerConn) { p.ReadChunk(now, nil) }
		check.That(t, net.Run(20*core.Second, func() bool { return done }), "the chunk has arrived")
	}
}

var adaptive = check.Must(pace.Of("adaptive", -1))

// conversations are those of the tests.
var conversations = []struct {
	name string
	run  conversation
}{
	{"slices", sendSlices}, {"repair slices", sendRepairSlices},
	{"crc", connect(session.CRC)}, {"mac", connect(session.MAC)}, {"aead", connect(session.AEAD)},
}

// worldKey is alice's key in connections that have one.
var worldKey = session.Key{1, 2, 3}

const alicesIdentity = 7

// worldKeys are what the connections of the tests have told of their keys.
var worldKeys = map[uint32][2]session.Key{}

func logKeys(link uint32, c2s, s2c session.Key) { worldKeys[link] = [2]session.Key{c2s, s2c} }

var worldOptions = inspect.Options{ProtocolIDs: []uint32{protocolID}, Keys: worldKeys}

// near makes sure that what a story says was lost is at most what was, and at most a few less.
func near(t *testing.T, what string, said, lost int64) {
	t.Helper()
	check.That(t, said <= lost && said >= lost-lost/5-3, fmt.Sprintf("%s: the story says %d, and %d were lost", what, said, lost))
}

func lostBy(l *netsim.Link) int64 { return l.Stats().LostRandom + l.Stats().LostQueue }

// tellsLosses makes sure that both captures of a conversation tell what the path lost, and where.
func tellsLosses(t *testing.T, name string, k *taps) {
	t.Helper()
	up, down := k.links[0].Stats(), k.links[1].Stats()
	here, there := k.story(t, 0, worldOptions), k.story(t, 1, worldOptions)
	sent, came := &here.Ends[0], &there.Ends[0]
	check.Same(t, name+": datagrams on alice's side", int64(sent.Datagrams), up.Sent)
	check.Same(t, name+": datagrams on bob's side", int64(came.Datagrams), up.Delivered)
	check.Same(t, name+": datagrams of bob on alice's side", int64(here.Ends[1].Datagrams), down.Delivered)
	near(t, name+", behind alice's capture", int64(sent.Loss.After.Lost), lostBy(k.links[0]))
	near(t, name+", before bob's capture", int64(came.Loss.Before.Lost), lostBy(k.links[0]))
	check.That(t, sent.Loss.Before.Lost == 0 && came.Loss.After.Lost == 0, name+": nothing was lost elsewhere")
	check.That(t, int64(5*sent.Loss.After.Of) > 4*up.Sent, name+": acks say what became of more than four in five")
	check.That(t, sent.Trips.Least >= 40 && sent.Trips.Least < 50 && came.Trips.Least < 1, name+": the round trip is between alice's capture and bob")
	for _, s := range []*inspect.Story{here, there} {
		check.That(t, len(s.Chunks) == 1 && s.Chunks[0].Complete && len(s.Refused) == 0, name+": one chunk is complete, and nothing is refused")
	}
	if here.Protocol == inspect.Connection {
		near(t, name+", of bob's, before alice's capture", int64(here.Ends[1].Loss.Before.Lost), lostBy(k.links[1]))
		near(t, name+", of bob's, behind his capture", int64(there.Ends[1].Loss.After.Lost), lostBy(k.links[1]))
	}
}

// What a story says was lost is what the network lost: in captures on both sides of it, for independent
// losses and bursts, in each way to send a chunk.
func TestStoriesTellWhatTheNetworkLost(t *testing.T) {
	bursts := lossy
	bursts.LossRun = 3
	queue := lossy
	queue.Loss, queue.Queue, queue.Rate = 0, 16<<10, 2e6
	for name, path := range map[string]netsim.Path{"independent": lossy, "bursts": bursts, "queue": queue} {
		for _, c := range conversations {
			for seed := range uint64(3) {
				k := newTaps(t, path, seed)
				c.run(t, k)
				tellsLosses(t, fmt.Sprintf("%s, %s, seed %d", c.name, name, seed), k)
			}
		}
	}
}

// A capture that begins in the middle says the same of the rest.
func TestStoriesBeginInTheMiddle(t *testing.T) {
	for _, c := range conversations {
		k := newTaps(t, lossy, 1)
		c.run(t, k)
		whole := k.story(t, 1, worldOptions)
		k.sides[1] = k.sides[1][len(k.sides[1])/2:]
		s := k.story(t, 1, worldOptions)
		if s.Ends[0].Address != alice.String() {
			s.Ends[0], s.Ends[1] = s.Ends[1], s.Ends[0]
		}
		lost := s.Ends[0].Loss.Before
		check.That(t, lost.Lost <= whole.Ends[0].Loss.Before.Lost && lost.Of <= s.Ends[0].Datagrams+lost.Lost, c.name+": nothing is lost that was before")
		check.That(t, s.Ends[0].Loss.After.Lost == 0 && len(s.Refused) == 0, c.name+": nothing is lost elsewhere, or refused")
	}
}

// Each slice that was sent again has a reason. On the sender's side nearly all were lost; on the receiver's,
// only those are seen twice that it had.
func TestStoriesTellWhySlicesWereSentAgain(t *testing.T) {
	for seed := range uint64(3) {
		k := newTaps(t, lossy, seed)
		sendSlices(t, k)
		here, there := k.story(t, 0, worldOptions).Chunks[0], k.story(t, 1, worldOptions).Chunks[0]
		r := here.Resent
		check.Same(t, "reasons", len(here.Again), here.Sent-here.Slices)
		check.Same(t, "slices that alice sent again", r.Lost+r.Timeout+r.Copies+r.HadAlready, here.Sent-here.Slices)
		near(t, "those that were lost", int64(r.Lost+r.Timeout), lostBy(k.links[0]))
		r = there.Resent
		check.Same(t, "slices that bob got twice", r.Lost+r.Timeout+r.Copies+r.HadAlready, there.Sent-there.Slices)
		check.Same(t, "lost, on bob's side", r.Lost, 0)
	}
}

// Datagrams that the network doubles or reorders are no losses, and in a connection the copies are counted.
func TestStoriesTellCopies(t *testing.T) {
	path := lossy
	path.Loss, path.Duplicate, path.Reorder, path.ReorderDelay = 0, 5, 2, 2*time.Millisecond
	for _, c := range conversations {
		for seed := range uint64(3) {
			k := newTaps(t, path, seed)
			c.run(t, k)
			name := fmt.Sprintf("%s, seed %d", c.name, seed)
			for side := range 2 {
				s := k.story(t, side, worldOptions)
				check.That(t, s.Ends[0].Loss.Percent() < 1 && s.Ends[1].Loss.Percent() < 1, name+": nothing was lost: "+s.Verdict)
			}
			if came := k.story(t, 1, worldOptions); came.Protocol == inspect.Connection {
				near(t, name+": copies", int64(came.Ends[0].Duplicates), k.links[0].Stats().Duplicated)
			}
		}
	}
}

// A capture on both sides of a relay has each connection on two pairs of addresses. Neither is a copy of the other,
// and nobody is at fault.
func TestStoriesOfACaptureOnBothSidesOfARelay(t *testing.T) {
	relay := [2]netip.AddrPort{netip.MustParseAddrPort("192.0.2.3:9001"), netip.MustParseAddrPort("192.0.2.3:40000")}
	for _, c := range conversations {
		k := newTaps(t, lossy, 1)
		c.run(t, k)
		type hop struct {
			tapped
			to netip.AddrPort
		}
		var seen []hop
		for side, hops := range [2][2]netip.AddrPort{{alice, relay[0]}, {relay[1], bob}} {
			for _, d := range k.sides[side] {
				from, to := hops[0], hops[1]
				if d.from == bob {
					from, to = to, from
				}
				seen = append(seen, hop{tapped{d.at, from, d.data}, to})
			}
		}
		slices.SortStableFunc(seen, func(a, b hop) int { return cmp.Compare(a.at, b.at) })
		in := inspect.New(worldOptions)
		var list []inspect.Captured
		for _, d := range seen {
			list = append(list, inspect.Captured{At: time.Unix(1, 0).Add(d.at), From: d.from, To: d.to, Result: in.Datagram(d.from, d.to, d.data)})
		}
		all := inspect.Stories(list)
		check.Same(t, c.name+": stories", len(all), 2)
		for side, s := range all {
			alone := k.story(t, side, worldOptions)
			check.Same(t, c.name+": refusals", len(s.Refused), 0)
			check.Same(t, c.name+": copies", s.Ends[0].Duplicates+s.Ends[1].Duplicates, alone.Ends[0].Duplicates+alone.Ends[1].Duplicates)
			check.Same(t, c.name+": chunks", len(s.Chunks), 1)
			check.That(t, strings.HasPrefix(s.Verdict, "nobody was at fault"), c.name+": "+s.Verdict)
		}
	}
}

// A connection that begins anew from the same addresses has a story of its own.
func TestStoriesOfTwoConnectionsOfTheSameAddresses(t *testing.T) {
	for _, mode := range []session.Mode{session.CRC, session.AEAD} {
		first, second := newTaps(t, lossy, 1), newTaps(t, lossy, 2)
		second.attempt = 1
		connect(mode)(t, first)
		connect(mode)(t, second)
		both := newTaps(t, lossy, 3)
		for side := range both.sides {
			both.sides[side] = first.sides[side]
			for _, d := range second.sides[side] {
				d.at += time.Minute
				both.sides[side] = append(both.sides[side], d)
			}
		}
		for side := range both.sides {
			two := both.stories(side, worldOptions)
			check.Same(t, "stories", len(two), 2)
			for i, k := range []*taps{first, second} {
				alone := k.story(t, side, worldOptions)
				check.Equal(t, "ends", two[i].Ends, alone.Ends)
				check.Equal(t, "verdict", two[i].Verdict, alone.Verdict)
			}
		}
	}
}
