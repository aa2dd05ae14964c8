package connection_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
)

// liar is a client that has the keys, and acks what it did not get.
type liar struct {
	link     *session.Link
	rng      *rand.Rand
	sequence uint16
	came     int                  // datagrams, received or not
	got      map[core.Number]bool // numbers that it received
	newest   core.Number          // of them
	slices   int                  // up to the highest that it received
	unseen   int                  // bits that it set for numbers that it did not get
}

// sees notes a datagram that it receives.
func (l *liar) sees(t *testing.T, datagram []byte) {
	p := check.Must(packet.Format{}.Decode(check.Must(l.link.Open(nil, datagram))))
	l.newest = core.Space(16).UpTo(l.newest+1<<15, p.Sequence)
	l.got[l.newest] = true
	var r connection.Record
	if format := (connection.Format{Lanes: 1}); format.IsRecord(p.Data, 0) {
		check.Must(format.Decode(p.Data, 0, &r))
		check.That(t, r.Slice.ChunkID == 0, "the first chunk is not delivered yet")
		l.slices = max(l.slices, r.Slice.SliceID+1)
	}
}

// says returns a packet that acks numbers, and slices of the first chunk up to one.
func (l *liar) says(ack core.Number, bits uint32, slices int) []byte {
	var acked core.Set
	if slices > 0 {
		acked = core.FirstN(min(slices, codec.MaxSlices))
	}
	for n := range core.Number(32) {
		switch {
		case ack-n < 0:
			bits &^= 1 << n // nobody takes a number below 0 for one
		case bits>>n&1 == 1 && !l.got[ack-n]:
			l.unseen++
		}
	}
	return l.saysOf(ack, bits, acked)
}

// saysOf returns a packet that acks numbers and slices.
func (l *liar) saysOf(ack core.Number, bits uint32, acked core.Set) []byte {
	payload := check.Must(connection.Format{Lanes: 1}.Append(nil, &connection.Record{
		Type: connection.TypeChunkAck, Ack: codec.Ack{NumSlices: codec.MaxSlices, Acked: acked},
	}))
	return l.packet(ack, bits, payload)
}

// packet returns one with a payload that acks numbers.
func (l *liar) packet(ack core.Number, bits uint32, payload []byte) []byte {
	h := packet.Header{Sequence: l.sequence, Ack: uint16(ack), AckBits: bits}
	l.sequence++
	return l.link.Seal(nil, check.Must(packet.Format{}.Append(nil, &packet.Packet{Header: h, Data: payload})))
}

// true bits of a header.
func (l *liar) bits(ack core.Number) (bits uint32) {
	for n := range core.Number(32) {
		if l.got[ack-n] {
			bits |= 1 << n
		}
	}
	return bits
}

const all = 1<<32 - 1

// liars are what they know, how many datagrams pass for one that they receive (0: none), and what
// they say each millisecond.
var liars = []struct {
	name  string
	every int
	says  func(l *liar) []byte
}{
	{"sees nothing", 0, func(l *liar) []byte { l.newest += 4; return l.says(l.newest, all, int(l.newest)+1) }},
	{"sees nothing, and acks no packets", 0, func(l *liar) []byte { return l.says(-1, 0, codec.MaxSlices) }},
	{"sees only times", 0, func(l *liar) []byte { return l.says(core.Number(l.came)-1, all, l.came) }},
	{"receives every tenth, and acks all up to it", 10, func(l *liar) []byte { return l.says(l.newest, all, l.slices) }},
	{"receives every tenth, and acks slices up to it", 10, func(l *liar) []byte { return l.says(l.newest, l.bits(l.newest), l.slices) }},
	{"receives every tenth, and guesses one more", 10, func(l *liar) []byte {
		return l.says(l.newest, l.bits(l.newest)|1<<(1+l.rng.IntN(9)), 1)
	}},
}

// A peer that acks what it did not get is found: the connection ends when it has sent not many more
// slices, whatever the peer knows (CXM-18 to CXM-21, K23, CXA-42).
func TestLiars(t *testing.T) {
	const seeds = 40
	for _, kind := range liars {
		sent, unseen, most := 0, 0, 0
		for seed := range uint64(seeds) {
			slices, l := lie(t, seed, kind.every, kind.says)
			sent, unseen, most = sent+slices, unseen+l.unseen, max(most, slices)
		}
		t.Logf("%s: found after %d slices on average, and %d at most; %d bits of what it did not get", kind.name, sent/seeds, most, unseen/seeds)
		check.That(t, most <= 256, "it is found within one chunk")
		check.That(t, unseen/seeds <= 16*32, "it is found after 16 headers on average, most of which say the same again")
	}
}

// lie lets a server send chunks to a liar until it is found, and returns how many slices it sent.
func lie(t *testing.T, seed uint64, every int, says func(l *liar) []byte) (slices int, l *liar) {
	agreed := plenty
	agreed.Lanes = 1
	client, server := links(session.AEAD, agreed)
	cfg := connection.Config{}
	binary.LittleEndian.PutUint64(cfg.Seed[:], seed+1)
	b := check.Must(connection.NewConn(cfg, server, connection.ServerSide, 0))
	l = &liar{link: client, rng: rand.New(rand.NewPCG(seed, 1)), got: map[core.Number]bool{}, newest: -1}
	check.Must(b.SendChunk(0, make([]byte, codec.MaxChunkSize)))
	for now := core.Micros(0); b.State() == connection.Open; now += ms {
		check.That(t, now < 10*second, "it is found in time")
		for _, d := range poll(b, now) {
			if l.came++; every > 0 && l.came%every == 1 {
				l.sees(t, d)
			}
		}
		give(b, now, says(l))
	}
	check.That(t, errors.Is(b.Err(), connection.ErrLied), "it ends since the peer lied")
	return int(b.ChunkStats().Sender.SlicesSent), l
}

// ghosts are clients that have left their address, and send from elsewhere as if they were there: the ack and the bits
// that they send each 100 ms, and for how many time-outs they get messages at most. They see nothing, and know how many
// packets are sent.
var ghosts = []struct {
	name     string
	timeouts int
	acks     func(l *liar, now core.Micros) (ack core.Number, bits uint32)
}{
	{"acks nothing", 1, func(*liar, core.Micros) (core.Number, uint32) { return -1, 0 }},
	{"acks each packet", 1, func(l *liar, _ core.Micros) (core.Number, uint32) {
		ack := core.Number(l.came) - 1
		return ack, all >> max(0, 31-ack)
	}},
	{"guesses one number in each time-out", 64, func(l *liar, now core.Micros) (core.Number, uint32) {
		if now%(9*second) == 0 {
			l.newest = core.Number(l.came) - 1
		}
		return l.newest, 1
	}},
}

// A client that has left its address gets the messages of one time-out there; one that guesses a number gets one
// time-out more, and each guess is a skipped number with a probability of 1/16 at least (CXM-18, CXL-18, CXA-43).
func TestAGhostGetsMessagesForATimeout(t *testing.T) {
	const seeds, rate = 40, 1_000_000
	for _, kind := range ghosts {
		lasted := core.Micros(0)
		for seed := range uint64(seeds) {
			client, server := links(session.AEAD, plenty)
			cfg := connection.Config{MessageRate: rate}
			binary.LittleEndian.PutUint64(cfg.Seed[:], seed+1)
			b := check.Must(connection.NewConn(cfg, server, connection.ServerSide, 0))
			l := &liar{link: client, got: map[core.Number]bool{}, newest: -1}
			drawn, now := 0, core.Micros(0)
			for ; b.State() == connection.Open; now += 10 * ms {
				check.That(t, now <= core.Micros(kind.timeouts)*session.DefaultTimeout, kind.name+": it ends in time")
				_ = b.Send(now, unreliable, make([]byte, 1000), 0)
				for _, d := range poll(b, now) {
					drawn += len(d) + codec.HeaderBytes
					l.came++
				}
				if now%(100*ms) == 0 {
					ack, bits := kind.acks(l, now)
					give(b, now, l.packet(ack, bits, []byte{0}))
				}
			}
			check.That(t, drawn <= rate/8*int(now/second+1)+connection.MessageBurst, "what it draws is within the budget")
			lasted += now
			check.That(t, errors.Is(b.Err(), connection.ErrLied) || errors.Is(b.Err(), connection.ErrUnacked) && errors.Is(b.Err(), session.ErrTimeout), "it says that nothing was acked, although something is heard")
		}
		t.Logf("%s: gets messages for %.1f s on average", kind.name, (lasted / seeds).Duration().Seconds())
	}
}

// A liar that receives every tenth datagram, and acks of the others those between which no number was
// left out, as far as the ids of slices say so, gains little until it is found, when slices are sent again and
// ids say nothing any more: slices need no holes of their own (CXM-21, section 8.3).
func TestACarefulLiar(t *testing.T) {
	missed, claimed, found := 0, 0, 0
	for seed := range uint64(40) {
		agreed := plenty
		agreed.Lanes = 1
		client, server := links(session.AEAD, agreed)
		cfg := connection.Config{}
		binary.LittleEndian.PutUint64(cfg.Seed[:], seed+1)
		b := check.Must(connection.NewConn(cfg, server, connection.ServerSide, 0))
		l := &liar{link: client, got: map[core.Number]bool{}, newest: -1}
		check.Must(b.SendChunk(0, make([]byte, codec.MaxChunkSize)))
		var acked core.Set // slices of which it is certain
		for now := core.Micros(0); now < 2*second; now += ms {
			for _, d := range poll(b, now) {
				if l.came++; l.came%10 != 1 {
					continue
				}
				number, slice := l.newest, l.slices-1
				l.slices = 0
				l.sees(t, d)
				last := l.slices - 1
				if number < 0 {
					acked.Add(last)
					continue
				}
				missed += int(l.newest-number) - 1
				if last-slice == int(l.newest-number) {
					claimed += last - slice - 1
					for n := number + 1; n < l.newest; n++ {
						l.got[n] = true
					}
					for id := slice + 1; id < last; id++ {
						acked.Add(id)
					}
				}
				acked.Add(last)
			}
			give(b, now, l.saysOf(l.newest, l.bits(l.newest), acked))
			if b.Err() != nil {
				found++
				break
			}
		}
	}
	t.Logf("of %d datagrams that it did not get it acks %.2f; %d of 40 are found", missed, float64(claimed)/float64(missed), found)
	check.That(t, missed > 1000 && claimed*4 < missed, "it gains little")
}

// What a peer is told of the end: CLOSE with the code 2.
func TestALiarIsTold(t *testing.T) {
	a, p := alone(connection.Config{})
	poll(a, 0)
	give(a, ms, p.write(9, 0, 4, 0, 0, 0, 1))
	wantRow(t, a, "K23", connection.Closing)
	check.Equal(t, "CLOSE", p.reads(poll(a, ms)...), [][]byte{{7, byte(connection.CodeLied), 0, 0}})
}

// No honest peer is called a liar, however much is lost, doubled and late, in either direction: its
// headers and its acks of chunks agree (CXM-24). All chunks arrive.
func TestHonestPeersDoNotLie(t *testing.T) {
	for name, bit := range variants {
		for seed := range uint64(12) {
			agreed := with(plenty, bit)
			agreed.Lanes = 1
			client, server := links(session.MAC, agreed)
			cfg := connection.Config{Seed: [connection.SeedSize]byte{byte(seed), 1}}
			a := check.Must(connection.NewConn(cfg, client, connection.ClientSide, 0))
			b := check.Must(connection.NewConn(cfg, server, connection.ServerSide, 0))
			path := netsim.Path{Delay: 20 * time.Millisecond, Jitter: time.Duration(seed) * 5 * time.Millisecond, Loss: 10 * float64(seed%3), Duplicate: 10}
			w := newWorld(path, seed, a, b)
			for range 1 {
				for _, c := range []*connection.Conn{a, b} {
					check.Must(c.SendChunk(w.Now(), make([]byte, 200_000)))
				}
			}
			read := 0
			done := func() bool {
				if read == 2 {
					return true
				}
				for _, c := range []*connection.Conn{a, b} {
					if _, ok := c.ReadChunk(w.Now(), nil); ok {
						read++
					}
				}
				return read == 2 || a.Err() != nil || b.Err() != nil
			}
			w.Run(60*second, done)
			check.That(t, a.Err() == nil && b.Err() == nil, name+": nobody lies")
			check.Equal(t, name+": chunks", read, 2)
		}
	}
}

// A peer that asks for a report of each of 64 channels every 10 ms draws a quarter of the rate of
// messages, and the other end's own messages still go (CXM-25, CXA-45).
func TestReportsHaveABudget(t *testing.T) {
	const during, rate = 4 * second, 8_000_000
	cfg := connection.Config{MessageRate: rate}
	for id := range uint8(channel.MaxChannels) {
		cfg.Channels = append(cfg.Channels, channel.Config{ID: id, Kind: channel.Ordered, Priority: 1})
	}
	a, p := alone(cfg)
	status := []byte{}
	for id := range byte(channel.MaxChannels) {
		status = append(status, byte(channel.TypeStatus), id, 0xe8, 3)
	}
	drawn, messages := 0, 0
	for now := core.Micros(0); now < during; now += ms {
		if now%(10*ms) == 0 {
			give(a, now, p.write(status...))
		}
		if now%(100*ms) == 0 {
			check.Same(t, "a message", a.Send(now, 0, []byte("own"), 0), nil)
		}
		for _, d := range poll(a, now) {
			drawn += len(d) + codec.HeaderBytes
			for _, payload := range p.reads([][]byte{d}...) {
				messages += bytes.Count(payload, []byte("own"))
			}
		}
	}
	most := rate/4/8*int(during/second) + connection.MessageBurst
	t.Logf("%d bytes draw %d, of at most %d, and %d messages", 400*(len(status)+20), drawn, most, messages)
	check.That(t, drawn < most+most/20, "reports are within their budget")
	check.That(t, messages >= 40, "messages go")
}

// Messages and reports count for the bounds of a server: what it sends to all clients, and to those without an
// identity, is within them, of which each client has its share, and nobody is asked before its turn (CXA-8).
func TestMessagesAreWithinTheTotals(t *testing.T) {
	const during, rate, many = 4 * second, 2_000_000, 5
	all := lanes.NewTotal(rate, nil)
	some := lanes.NewTotal(rate/4, all)
	var conns [many]*connection.Conn
	var pens [many]*pen
	for i := range conns {
		cfg := connection.Config{MessageRate: 8_000_000}
		if cfg.Chunks.Total = some; i == 0 {
			cfg.Chunks.Total = all
		}
		conns[i], pens[i] = alone(cfg)
	}
	var sent [many]float64
	asked, datagrams := 0, 0
	for now := core.Micros(0); now < during; asked++ {
		next := now + 10*ms
		for i, c := range conns {
			if i == 1 { // draws reports alone
				give(c, now, pens[i].write(byte(channel.TypeStatus), ordered, 0xe8, 3))
			} else if c.Send(now, unreliable, make([]byte, 1000), 0) == nil {
				_ = c.Send(now, unreliable, make([]byte, 1000), 0)
			}
			for _, d := range poll(c, now) {
				sent[i] += float64(len(d) + codec.HeaderBytes)
				datagrams++
			}
			next = min(next, c.Deadline())
		}
		now = max(next, now+1)
	}
	for i := range sent {
		sent[i] *= 8 * float64(second) / float64(during) / rate
	}
	t.Logf("shares of the rate %.3f; %d datagrams, asked %d times", sent, datagrams, asked)
	check.That(t, sent[1]+sent[2]+sent[3]+sent[4] < 1.1/4 && sent[0] > .6 && sent[0]+1./4 < 1.1, "the bounds hold")
	for i := range 3 {
		check.That(t, sent[2+i] > 1./4/5, "each has its share")
	}
	check.That(t, asked < 4*datagrams, "nobody is asked before its turn")
}

// A peer that reports each message as missing, or everything as received, or room without end, gets no more than
// what is sent to it and MESSAGE_RATE, and nothing is kept for it that is done (CXA-46).
func TestLyingReports(t *testing.T) {
	const during, rate = 4 * second, 1_000_000
	for name, says := range map[string]func(base uint16) channel.Record{
		"all is missing": func(uint16) channel.Record {
			missing := make([]uint16, 600)
			for i := range missing {
				missing[i] = uint16(i)
			}
			return channel.NewReport(ordered, 0, 1024, missing)
		},
		"all has come":     func(base uint16) channel.Record { return channel.NewReport(ordered, base+1000, 16384, nil) },
		"room without end": func(base uint16) channel.Record { return channel.NewReport(ordered, base, 65535, nil) },
		"no room":          func(base uint16) channel.Record { return channel.NewReport(ordered, base, 0, nil) },
	} {
		a, p := alone(connection.Config{MessageRate: rate})
		drawn, given := 0, 0
		for now := core.Micros(0); now < during; now += ms {
			if now%(10*ms) == 0 {
				r := says(uint16(given))
				payload, err := channel.Format{}.WithDefaults().Append(nil, &r)
				if err == nil {
					give(a, now, p.write(payload...))
				}
			}
			for a.Send(now, ordered, make([]byte, 100), 0) == nil {
				given++
			}
			for _, d := range poll(a, now) {
				drawn += len(d) + codec.HeaderBytes
				p.reads(d)
			}
		}
		most := rate/8*int(during/second) + connection.MessageBurst
		t.Logf("%s: %d bytes of at most %d, %d messages accepted, channel %v", name, drawn, most, given, a.ChannelErr(ordered))
		check.That(t, drawn <= most+most/20, name+": messages and what is sent again are within their budget")
	}
}
