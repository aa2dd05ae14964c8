package fuzz

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sim/packetsim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Two ends of a connection send each other packets over a network that loses, doubles,
// delays and reorders datagrams, and damages and forges them; they are polled late, and
// their clock goes back. After each event each end is what its model is, and the judge is
// asked (section 11): as long as nothing is forged, for all promises; then for those that
// need no assumptions, of which one is the bound of memory. At last nothing is lost any
// more, every number is settled, and both ends fall silent.
//
// An input is a configuration as readEndpointConfig reads it, and a script of operations,
// each a byte, of which bit 7 is the end, and what op reads.
var targetPacketEndpoint = newTarget("PacketEndpoint", "both ends of a connection are their models, and keep their promises and their bounds, whatever arrives", runPacketEndpoint, seedPacketEndpoints)

const (
	mostPackets = 700 // sent by both ends: more than the smallest ring holds
	mostEvents  = 3000
)

func runPacketEndpoint(t T, data []byte) {
	b := &endpointBench{T: t, script: script{data}}
	b.cfg = readEndpointConfig(&b.script)
	w, err := packetsim.NewWorld(b.cfg, t.Fatalf)
	if err != nil {
		t.Fatalf("%+v: %v", b.cfg, err)
	}
	b.World, b.full = w, packetsim.Complete(b.cfg)
	if b.cfg.SequenceBits != 0 {
		b.forge() // a datagram may outlive half of so small a space
	}
	for b.more() && b.events < mostEvents {
		b.op()
	}
	b.finish()
}

// endpointBench is a world and the script of what happens in it.
type endpointBench struct {
	T
	*packetsim.World
	script
	cfg, full    packet.Config
	forged       bool
	sent, events int
	latest       core.Micros // the latest time of an event
}

// smallRings are windows that a short script passes. The first are those of all traces.
var smallRings = []packet.Config{
	{},
	{Received: 64, SentMax: 256, Reassembly: 2, ReassemblyPackets: 2},
	{Received: 64, SentMax: 256, Reassembly: 32, ReassemblyPackets: 32},
	{Received: 128, SentMax: 512, Reassembly: 1, ReassemblyPackets: 1},
	{SequenceBits: 5, Received: 4, SentMax: 8, Reassembly: 2, ReassemblyPackets: 1},
	{SequenceBits: 8, Received: 64, SentMax: 16, Reassembly: 8, ReassemblyPackets: 2},
	{Profile: packet.ProfileArticle},
	{Received: 16384, SentMax: 16384, Reassembly: 8192, ReassemblyPackets: 3},
}

// readEndpointConfig reads: a byte for the rings; FRAGMENT_SIZE - 1, 2 bytes;
// MAX_FRAGMENTS - 2, a byte; FRAGMENT_ABOVE - FRAGMENT_SIZE, 2; a byte for
// REASSEMBLY_BYTES; the two first numbers, 4 each.
func readEndpointConfig(s *script) packet.Config {
	c := pick(s, smallRings)
	c.FragmentSize = 1 + int(s.uint16())%1160
	c.MaxFragments = 2 + int(s.byte())%255
	c.FragmentAbove = c.FragmentSize + int(s.uint16())%(1161-c.FragmentSize)
	if extra := s.byte(); extra > 0 {
		c.ReassemblyBytes = c.MaxPacket() + int(extra) - 1
	}
	c.NextToSend, c.NextToReceive = core.Number(s.uint32()), core.Number(s.uint32())
	return c
}

// op does one operation of the script.
func (b *endpointBench) op() {
	b.Helper()
	op := b.byte()
	end := int(op >> 7)
	switch op & 0x7f % 22 {
	case 0, 1, 2:
		b.send(end, 1, b.content(int(b.byte())%12), false)
	case 3: // any size, up to the first that is refused
		b.send(end, 1, b.content(1+int(b.uint16())%(b.cfg.MaxPacket()+1)), false)
	case 4: // the sizes at which a payload is cut otherwise
		size := pick(&b.script, []int{1, b.cfg.FragmentSize, b.cfg.FragmentAbove, b.cfg.FragmentAbove + 1, 2 * b.cfg.FragmentSize, b.cfg.MaxPacket(), b.cfg.MaxPacket() + 1, 0})
		b.send(end, 1, b.content(size), b.byte()&1 == 1)
	case 5: // many
		b.send(end, int(b.byte()), b.content(b.cfg.FragmentSize), b.byte() > 200)
	case 6: // as traces have it
		b.send(end, 1, b.take(int(b.uint16())), false)
	case 7, 8:
		b.arrive(end, int(b.byte()), 1, false)
	case 9: // and stays, so that it comes again
		b.arrive(end, int(b.byte()), 1, true)
	case 10: // all, in the order in which they were sent
		b.arrive(end, 0, mostEvents, false)
	case 11: // all, the newest first
		for n := len(b.Flight[end]); n > 0; n = len(b.Flight[end]) {
			b.arrive(end, n-1, 1, false)
		}
	case 12:
		for range int(b.byte()) % (len(b.Flight[end]) + 1) {
			b.Drop(end, 0)
		}
	case 13: // as a driver does
		b.Wait(core.Micros(b.byte()) * 10 * core.Millisecond)
		b.done("wait")
	case 14: // to the microsecond
		if at := b.Ends[end].Deadline(); at <= 1<<61 {
			b.pass(at - b.Now - core.Micros(b.byte()&1))
		}
		b.poll(end)
	case 15:
		b.poll(end)
	case 16:
		b.pass(core.Micros(b.uint32()))
	case 17:
		b.pass(core.Micros(b.byte()) * core.Millisecond)
	case 18:
		b.Now = max(0, b.Now-core.Micros(b.uint32()))
	case 19:
		b.Verdict(end, pick(&b.script, []packet.Verdict{packet.Take, packet.Refuse, packet.TakeQuietly}))
	case 20:
		b.receive(end, b.take(int(b.uint16())))
	case 21:
		b.receive(end, b.anyDatagram(end))
	}
}

// content is a payload of a size, whose bytes depend on how many were sent.
func (b *endpointBench) content(size int) []byte {
	p := bytes.Repeat([]byte{byte(b.sent)}, size)
	for i := range min(size, 3) {
		p[size-1-i] ^= byte(size >> (8 * i))
	}
	return p
}

// done ends an event.
func (b *endpointBench) done(event string) {
	b.events++
	b.latest = max(b.latest, b.Now)
	if verbose() {
		e := b.Ends[0].Endpoint
		b.Logf("at %d, %s: %d and %d in flight, mode %v, %+v", b.Now, event, len(b.Flight[0]), len(b.Flight[1]), e.Mode(), e.Stats())
	}
}

func (b *endpointBench) pass(d core.Micros) { b.Now = min(b.Now+max(d, 0), 1<<61) }

func (b *endpointBench) send(end, times int, payload []byte, quiet bool) {
	b.Helper()
	for range min(times, mostPackets-b.sent) {
		b.Send(end, payload, quiet)
		b.sent++
		b.done("send")
	}
}

// arrive lets datagrams in flight arrive.
func (b *endpointBench) arrive(end, which, times int, keep bool) {
	b.Helper()
	for n := len(b.Flight[end]); n > 0 && times > 0; n = len(b.Flight[end]) {
		err := b.Arrive(end, which%n, keep)
		b.logRefusal(err)
		times--
	}
}

func (b *endpointBench) poll(end int) {
	b.Helper()
	b.Poll(end)
	b.done("poll")
}

// receive lets something arrive that nobody sent.
func (b *endpointBench) receive(end int, datagram []byte) {
	b.Helper()
	b.forge()
	b.logRefusal(b.Receive(end, datagram))
}

func (b *endpointBench) logRefusal(err error) {
	b.Helper()
	if verbose() {
		b.Logf("arrived: %v", err)
	}
	b.done("arrival")
}

func (b *endpointBench) forge() {
	b.forged = true
	b.Judge.Forged()
}

// anyDatagram makes a datagram that decodes, mostly with numbers near those of both ends;
// or damages one in flight.
func (b *endpointBench) anyDatagram(end int) []byte {
	kind := b.byte()
	if n := len(b.Flight[end]); kind >= 0xe0 && n > 0 {
		d := slices.Clone(b.Flight[end][int(b.byte())%n])
		where := int(b.uint16())
		if kind >= 0xf0 {
			return d[:where%len(d)]
		}
		d[where/8%len(d)] ^= 1 << (where % 8)
		return d
	}
	peer, own, _ := b.numbers(end)
	p := packet.Packet{Header: packet.Header{Sequence: peer + b.near(), Ack: own + b.near(), AckBits: b.uint32()}}
	size := 1 + int(kind>>2)
	if kind&3 > 0 {
		p.NumFragments = 2 + int(b.byte())%(b.full.MaxFragments-1)
		p.FragmentID = int(b.byte()) % p.NumFragments
		size = b.full.FragmentSize
		if p.FragmentID == p.NumFragments-1 {
			size = 1 + int(kind>>2)%size
		}
	}
	p.Data = bytes.Repeat([]byte{kind}, min(size, b.full.MaxPacket()))
	d, err := b.full.Append(nil, &p)
	if err != nil {
		b.Fatalf("%+v: %v", p, err)
	}
	return d
}

// near is a distance of numbers, mostly a short one.
func (b *endpointBench) near() uint16 {
	switch v := b.byte(); {
	case v < 0x80:
		return uint16(v)/8 - 8
	case v < 0xf0:
		return uint16(v)*4 - 0x2c0
	}
	return b.uint16()
}

// numbers returns the bits on the wire of the peer's next number and of an end's own, and
// how many both ends have sent.
func (b *endpointBench) numbers(end int) (peer, own uint16, sent int) {
	var next [2]int
	for i := range next {
		next[i], _, _, _ = b.Judge.Counts(i)
	}
	first := [2]core.Number{b.cfg.NextToSend, b.cfg.NextToReceive}
	return uint16(first[1-end]) + uint16(next[1-end]), uint16(first[end]) + uint16(next[end]), next[0] + next[1]
}

// finish loses what is in flight and settles all numbers; then, if nothing was forged,
// each end sends a packet that must arrive and be acked. Both must then fall silent.
func (b *endpointBench) finish() {
	b.Helper()
	for end := range b.Ends {
		b.Flight[end] = nil
		b.Verdict(end, packet.Take)
	}
	b.Now = max(b.Now, b.latest)
	b.Wait(packet.Kept)
	if !b.forged {
		for end := range b.Ends {
			_, taken, acked, _ := b.Judge.Counts(end)
			b.Send(end, []byte{1}, false)
			b.Wait(packet.AckDelay / 2)
			b.arrive(1-end, 0, mostEvents, false)
			b.Wait(packet.AckDelay)
			b.arrive(end, 0, mostEvents, false)
			if _, t, a, _ := b.Judge.Counts(end); t <= taken || a <= acked {
				b.Fatalf("on a network that loses nothing, end %d had %d packets taken and %d acked, then %d and %d", end, taken, acked, t, a)
			}
		}
	}
	_, _, before := b.numbers(0)
	b.Wait(1000 * core.Second)
	for end, e := range b.Ends {
		if at := e.Deadline(); at != core.Never {
			b.Fatalf("end %d is due at %d, with nothing to do", end, at)
		}
	}
	if _, _, after := b.numbers(0); after > before {
		b.Fatalf("nobody sends anything, and %d packets go out", after-before)
	}
}

// seedPacketEndpoints are the traces of endpoints, whose peer is forged, and conversations
// of their own.
func seedPacketEndpoints(files []testvectors.File) (seeds [][]byte) {
	for _, tr := range packets.Endpoint.Traces(testvectors.Requests(files)) {
		seeds = append(seeds, append(configScript(0, tr.Config.(packets.EndpointConfig), 0), endpointScript(tr.Events)...))
	}
	first := packets.EndpointConfig{FragmentSize: 8, MaxFragments: 4, FragmentAbove: 8, NextToSend: 65_500, NextToReceive: 1<<32 - 5}
	for rings := range smallRings {
		head := configScript(rings, first, 1)
		for _, talk := range endpointTalks {
			seeds = append(seeds, append(slices.Clip(head), talk...))
		}
	}
	return seeds
}

// configScript is the inverse of readEndpointConfig.
func configScript(rings int, c packets.EndpointConfig, extra byte) []byte {
	out := append(appendUint16([]byte{byte(rings)}, uint16(c.FragmentSize-1)), byte(c.MaxFragments-2))
	out = append(appendUint16(out, uint16(c.FragmentAbove-c.FragmentSize)), extra)
	return appendUint32(appendUint32(out, uint32(c.NextToSend)), uint32(c.NextToReceive))
}

func endpointScript(events []conform.Timed) (out []byte) {
	now := int64(0)
	for _, e := range events {
		out = passBytes(out, 16, e.At-now)
		if e.At < now {
			out = passBytes(out, 18, now-e.At)
		}
		now = e.At
		switch e := e.Event.(type) {
		case packets.Poll:
			out = append(out, 15)
		case packets.Send:
			out = withBytes(append(out, 6), []byte(e.Payload))
		case packets.Receive:
			out = withBytes(append(out, 20), []byte(e.Datagram))
		}
	}
	return out
}

// withBytes appends a size and so many bytes.
func withBytes(out, b []byte) []byte { return append(appendUint16(out, uint16(len(b))), b...) }

// endpointTalks are scripts for both ends; 128 is the second.
var endpointTalks = [][]byte{
	// packets and fragments both ways, in order, with polls at the deadlines
	{0, 5, 138, 128, 9, 10, 14, 0, 142, 0, 3, 20, 0, 138, 10, 131, 31, 0, 10, 138, 13, 10, 141, 10, 138, 10, 15, 143},
	// reordered, doubled, lost
	{3, 30, 0, 0, 5, 0, 7, 137, 2, 135, 1, 137, 1, 139, 12, 9, 131, 18, 0, 11, 9, 0, 7, 0, 13, 99, 140, 3, 13, 255, 138, 10},
	// rings that are full, acks that come late, numbers pushed out
	{5, 255, 0, 17, 200, 133, 20, 0, 10, 138, 5, 255, 0, 13, 150, 138, 143, 10, 5, 150, 0, 13, 255, 138, 143, 10, 13, 255, 13, 255},
	// incomplete packets: too many, too long, given up, refused by the layer above
	{3, 31, 0, 3, 30, 0, 3, 29, 0, 3, 28, 0, 135, 0, 135, 3, 135, 6, 135, 9, 138, 13, 120, 3, 31, 0, 135, 0, 135, 1, 13, 100, 138, 147, 1, 3, 20, 0, 0, 4, 138, 147, 2, 138},
	// good conditions, then silence
	{0, 1, 138, 128, 1, 10, 13, 255, 0, 1, 138, 128, 1, 10, 13, 255, 0, 1, 138, 13, 10, 10, 13, 255, 0, 7, 13, 255, 0, 1, 138, 13, 2, 10, 13, 255},
	// the clock goes back; a driver that is late
	{0, 3, 17, 50, 138, 18, 0, 0, 1, 0, 128, 3, 143, 10, 18, 255, 255, 255, 0, 0, 2, 15, 17, 250, 17, 250, 17, 250, 17, 250, 15, 18, 0, 0, 1, 0, 3, 18, 0, 138, 17, 250, 143, 10, 15},
	// forged: far ahead, fragments of other counts, acks of what was never sent, damage
	{0, 3, 149, 4, 70, 70, 255, 255, 255, 255, 149, 5, 64, 64, 1, 0, 0, 0, 1, 0, 149, 9, 64, 64, 1, 0, 0, 0, 2, 1, 149, 0, 255, 0, 112, 64, 9, 9, 9, 9, 21, 224, 0, 9, 0, 149, 240, 0, 5, 0, 138, 148, 0, 0, 148, 3, 0, 1, 2, 3, 13, 200, 21, 0, 64, 200, 255, 0, 255, 0},
	// quiet packets, payloads that are none
	{4, 0, 1, 4, 6, 0, 4, 7, 0, 4, 5, 1, 138, 143, 141, 3, 10, 6, 1, 0, 0, 138, 13, 3, 10, 5, 20, 255, 138, 13, 150, 5, 16, 0, 138, 143, 10, 15},
}
