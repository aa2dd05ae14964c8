package fuzz

import (
	"errors"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Two ends exchange chunks over a network that does whatever the fuzzer decides, and then loses
// nothing more. Models and judges watch every event (section 11). At the end all
// chunks must have come, once and in order.
//
// An input is a header as readConversation reads it, and then decisions in the order in
// which they are asked for: a fate for each datagram, and a byte for when a chunk is
// read and when the next one is submitted. A fate is a byte. Its upper three bits say
// what happens to the datagram:
//
//	0, 1, 2  it arrives in time
//	3        a few milliseconds late, so that others overtake it
//	4        lost; with all lower bits set the next byte says how many more; 30 and
//	         29 also let the sender or the receiver sleep for the next byte's 20 ms
//	5        duplicated, the copy some milliseconds later
//	6        late by some 100 ms
//	7        changed: in bits, or cut short, where the next two bytes say
//
// and the lower five how much.
var targetConversation = newTarget("Conversation", "both ends stay safe on any network, and deliver when it loses nothing more", runConversation, seedConversations)

const conversationID = 0x11223344 // the protocol id

// The two ends, by their numbers.
const (
	senderEnd = iota
	receiverEnd
)

// conversation is a sender and a receiver with the network between them, with either
// kind of slices.
type conversation struct {
	T
	*sim.World[[]byte]
	framer   codec.Framer
	sender   chunk.Sender
	receiver chunk.Receiver
	script   script
	firstID  uint16
	giveUp   core.Micros
	delay    core.Micros
	sizes    []int

	asleep    [2]core.Micros // when each end wakes up
	lose      int            // so many of the next datagrams are lost
	reading   bool           // a read is planned
	submitted int
	delivered int
	corrupted int64
	refused   int64
	good      int // datagrams sent when no decision was left
}

// place is where a machine is.
type place struct {
	state   fmt.Stringer
	chunkID uint16 // of the current chunk
	chunks  int64  // that were complete
}

// mostFaults is how many events there are at most until nothing is lost any more,
// whatever bytes are left: a byte can lose 255 datagrams, so a few thousand make hours.
const mostFaults = 50_000

func runConversation(t T, data []byte) { runConversationOf(t, codec.Named, data) }

func runConversationOf(t T, kind codec.Kind, data []byte) {
	c := readConversation(t, data)
	scheduler := readSchedulerOf(t, kind, &c.script, boundProfile)
	sender, err1 := chunk.NewCheckedSender(statemachine.SenderConfig{
		Kind: kind, FirstChunkID: c.firstID, GiveUp: c.giveUp, Scheduler: scheduler.Scheduler,
	}, scheduler.model, t.Fatalf)
	receiver, err2 := chunk.NewCheckedReceiver(statemachine.ReceiverConfig{Kind: kind, FirstChunkID: c.firstID, GiveUp: c.giveUp}, t.Fatalf)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatalf("%v", err)
	}
	stream := &chunk.Stream{FirstID: c.firstID}
	c.framer = kind.Framer(conversationID)
	c.sender.SenderMachine = chunk.NewJudgedSender(sender, chunk.NewSenderJudge(kind, stream, scheduler.pace, c.giveUp, anyLate), t.Fatalf)
	c.receiver.ReceiverMachine = chunk.NewJudgedReceiver(receiver, chunk.NewReceiverJudge(kind, stream, c.giveUp, anyLate), t.Fatalf)
	c.run()
}

// at returns where the machines are.
func (c *conversation) at() (sender, receiver place) {
	s, r := c.sender.Vars(), c.receiver.Vars()
	return place{s.State, s.ChunkID, c.sender.Stats().Chunks}, place{r.State, r.ChunkID, c.receiver.Stats().Chunks}
}

// run runs until nothing happens any more.
func (c *conversation) run() {
	c.readSizes()
	c.World = sim.NewWorld(c.carry, sim.End[[]byte](sendingEnd{c}), receivingEnd{c})
	c.At(0, c.submit)
	for events := 0; c.Step(core.Never); events++ {
		if events == mostFaults {
			c.script.left, c.lose = nil, 0
		}
		if events > mostFaults+50_000 {
			c.Fatalf("no end: %d of %d chunks delivered", c.delivered, len(c.sizes))
		}
	}
	c.agree()
}

// readConversation reads the start of a header. A scheduler follows, and then what
// readSizes reads.
func readConversation(t T, data []byte) *conversation {
	c := &conversation{T: t, script: script{data}}
	s := &c.script
	c.firstID = s.uint16()
	c.giveUp = pick(s, []core.Micros{1 << 61, 1 << 61, 1 << 61, 10_000_000, 1_000_000, 100_000})
	c.delay = pick(s, []core.Micros{20_000, 0, 100, 1000, 50_000, 200_000, 400_000})
	return c
}

func (c *conversation) readSizes() {
	s, slices := &c.script, 0
	for range 1 + s.byte()%5 {
		size := readSize(s)
		if slices += codec.NumSlices(size); slices > codec.MaxSlices+16 {
			size = 1 // bounds the work
		}
		c.sizes = append(c.sizes, size)
	}
}

// boundProfile keeps a conversation from taking too long.
func boundProfile(p *base.Profile) {
	p.Spacing = min(p.Spacing, 100_000)
	if p.ResendDelay > 0 {
		p.ResendDelay = min(max(p.ResendDelay, 50_000), 5_000_000)
	}
}

// pause is for how long an application lets things wait: mostly not at all.
func (c *conversation) pause() core.Micros {
	return max(0, core.Micros(c.script.byte())-128) * 50_000
}

// awake calls do now, or when an end wakes up.
func (c *conversation) awake(end int, do func()) {
	if until := c.asleep[end]; until > c.Now() {
		c.At(until, func() { c.awake(end, do) })
		return
	}
	do()
}

func (c *conversation) submit() {
	c.awake(senderEnd, func() {
		if c.submitted == len(c.sizes) || c.sender.Err() != nil {
			return
		}
		if err := c.sender.Submit(c.Now(), content(c.firstID+uint16(c.submitted), c.sizes[c.submitted])); err != nil {
			c.Fatalf("submit: %v", err)
		}
		c.submitted++
	})
}

func (c *conversation) read() {
	c.awake(receiverEnd, func() {
		if _, err := c.receiver.Read(c.Now(), nil); err != nil {
			c.Fatalf("read: %v", err)
		}
		c.delivered++
		c.reading = false
	})
}

// arrived decodes a datagram that has arrived. One that was changed is refused and
// counted (CON-4). A machine keeps nothing of it (RCV-11).
func (c *conversation) arrived(datagram []byte) (p codec.Packet, ok bool) {
	p, err := c.framer.Decode(datagram)
	if verbose() {
		c.Logf("at %d, arrived: %s, %v", c.Now(), describe(p), err)
	}
	if err != nil {
		c.refused++
	}
	return p, err == nil
}

func (c *conversation) encode(p codec.Packet) []byte {
	datagram, err := c.framer.Append(nil, p)
	if err != nil {
		c.Fatalf("encoding: %v", err)
	}
	return datagram
}

// sendingEnd is the sender and its application, as an end of the world.
type sendingEnd struct{ *conversation }

func (e sendingEnd) Handle(_ core.Micros, datagram []byte) {
	e.awake(senderEnd, func() {
		p, ok := e.arrived(datagram)
		if !ok {
			return
		}
		before, _ := e.at()
		e.sender.Handle(e.Now(), p)
		if after, _ := e.at(); after.chunks > before.chunks {
			e.At(e.Now()+e.pause(), e.submit)
		}
	})
}

func (e sendingEnd) Poll(now core.Micros) ([]byte, bool) {
	return e.poll(senderEnd, now, e.sender)
}

func (e sendingEnd) Deadline() core.Micros {
	return max(e.asleep[senderEnd], e.sender.Deadline())
}

// receivingEnd is the receiver and its application, as an end of the world.
type receivingEnd struct{ *conversation }

func (e receivingEnd) Handle(_ core.Micros, datagram []byte) {
	e.awake(receiverEnd, func() {
		p, ok := e.arrived(datagram)
		if !ok {
			return
		}
		e.receiver.Handle(e.Now(), p)
		if e.receiver.Ready() && !e.reading {
			e.reading = true
			e.At(e.Now()+e.pause(), e.read)
		}
	})
}

func (e receivingEnd) Poll(now core.Micros) ([]byte, bool) {
	return e.poll(receiverEnd, now, e.receiver)
}

func (e receivingEnd) Deadline() core.Micros {
	return max(e.asleep[receiverEnd], e.receiver.Deadline())
}

// poll returns the next datagram of an end that is not asleep.
func (c *conversation) poll(number int, now core.Micros, end sim.End[codec.Packet]) ([]byte, bool) {
	if c.asleep[number] > now {
		return nil, false
	}
	p, ok := end.Poll(now)
	if !ok {
		return nil, false
	}
	return c.encode(p), true
}

// carry decides about a datagram.
func (c *conversation) carry(now time.Duration, from int, datagram []byte, deliver func(at time.Duration, to int, datagram []byte)) {
	if !c.script.more() && c.lose == 0 {
		c.good++
	}
	if c.good > 20_000 {
		c.Fatalf("%d datagrams on a network that loses nothing, and no end", c.good)
	}
	if c.lose > 0 {
		c.lose--
		return
	}
	fate, late := c.script.byte(), core.Micros(0)
	much := core.Micros(fate & 31)
	if verbose() {
		c.Logf("at %d, end %d sends %d bytes, fate %d", c.Now(), from, len(datagram), fate)
	}
	at := func(late core.Micros) time.Duration { return now + (c.delay + late).Duration() }
	switch fate >> 5 {
	case 3:
		late = much * 1000
	case 4:
		c.lost(fate & 31)
		return
	case 5:
		deliver(at(much*4000), 1-from, datagram)
	case 6:
		late = (much + 1) * 100_000
	case 7:
		c.corrupted++
		datagram = c.corrupt(datagram, fate&31)
	}
	deliver(at(late), 1-from, datagram)
}

func (c *conversation) lost(how byte) {
	switch how {
	case 31:
		c.lose = int(c.script.byte())
	case 30:
		c.asleep[senderEnd] = c.Now() + core.Micros(c.script.byte())*20_000
	case 29:
		c.asleep[receiverEnd] = c.Now() + core.Micros(c.script.byte())*20_000
	}
}

// corrupt flips one to three bits that stand together, which no crc misses, or
// cuts the datagram short.
func (c *conversation) corrupt(datagram []byte, how byte) []byte {
	where := int(c.script.uint16())
	if how >= 28 {
		return datagram[:where%len(datagram)]
	}
	where %= 8*len(datagram) - 2
	for bit := where; bit <= where+int(how%3); bit++ {
		datagram[bit/8] ^= 1 << (bit % 8)
	}
	return datagram
}

// agree is what must be true when nothing happens any more: all has been delivered
// and both ends know, or both have given up, where they may.
func (c *conversation) agree() {
	c.Helper()
	n := len(c.sizes)
	if c.refused != c.corrupted {
		c.Fatalf("%d datagrams were changed, %d refused", c.corrupted, c.refused)
	}
	if c.sender.Err() != nil || c.receiver.Err() != nil {
		c.gaveUp()
		return
	}
	s, r := c.at()
	switch {
	case s.state != statemachine.SenderIdle || r.state != statemachine.ReceiverWaiting:
		c.Fatalf("at the end the sender is %v, the receiver %v", s.state, r.state)
	case c.delivered != n || s.chunks != int64(n) || r.chunks != int64(n):
		c.Fatalf("%d chunks: %d delivered, %d done at the sender, %d at the receiver", n, c.delivered, s.chunks, r.chunks)
	case s.chunkID != r.chunkID || s.chunkID != c.firstID+uint16(n):
		c.Fatalf("the sender's next chunk is %d, the receiver's %d", s.chunkID, r.chunkID)
	}
}

// gaveUp: where the network kept a chunk from progress for GIVE_UP both ends end with
// that error, unless the receiver was done with the chunk (LIVE-3). Where GIVE_UP is
// longer than any conversation nobody may.
func (c *conversation) gaveUp() {
	c.Helper()
	s, r := c.at()
	switch {
	case c.giveUp >= 1<<60:
		c.Fatalf("gave up without a reason: sender %v, receiver %v", s.state, r.state)
	case s.state != statemachine.SenderFailed:
		c.Fatalf("the receiver gave up, but the sender is %v", s.state)
	case r.state == statemachine.ReceiverReceiving || r.state == statemachine.ReceiverReady:
		c.Fatalf("the sender gave up, but the receiver stays %v", r.state)
	}
}

// Fates.
const (
	fateArrives    = 0x00
	fateLate       = 0x7f
	fateLost       = 0x80
	fateOutage     = 0x9f
	fateSleep      = 0x9d
	fateDuplicated = 0xa3
	fateVeryLate   = 0xc2
	fateChanged    = 0xe0
)

// conversationHead is a header: first id, GIVE_UP and delay by their place in the
// list, a scheduler, and the sizes of chunks.
func conversationHead(firstID uint16, giveUp, delay byte, scheduler []byte, sizes ...int) []byte {
	out := append(appendUint16(nil, firstID), giveUp, delay)
	out = append(append(out, scheduler...), byte(len(sizes)-1))
	for _, size := range sizes {
		out = append(out, sizeBytes(size)...)
	}
	return out
}

// seedConversations turns the traces of senders into conversations: the same chunks and
// pace, and what an ack did not have is lost. Then come hard fates, at several round trips
// and schedulers.
func seedConversations(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.SenderRequest](files, contract.OpSender) {
		var sizes []int
		var fates []byte
		for _, e := range q.Events {
			switch {
			case e.Event == "submit" && e.Size != nil && *e.Size >= 1 && *e.Size <= codec.MaxChunkSize && len(sizes) < 5:
				sizes = append(sizes, *e.Size)
			case e.Event == "ack" && e.Acked != nil:
				for _, bit := range *e.Acked {
					fates = append(fates, map[rune]byte{'0': fateLost, '1': fateArrives}[bit])
				}
			}
		}
		if len(sizes) > 0 {
			seeds = append(seeds, append(conversationHead(q.Config.FirstChunkID, 0, 0, profileSeed(q.Config.Profile), sizes...), fates...))
		}
	}
	for i, fates := range hardFates {
		for k, scheduler := range schedulerSeeds() {
			seeds = append(seeds,
				append(conversationHead(65534, byte(i%6), byte(i+k), scheduler, 3000, 1, 1024, 1025), fates...),
				append(conversationHead(0, 0, byte(k), scheduler, 20000, 5000), fates...))
		}
	}
	return seeds
}

// hardFates are stalls that other implementations had: lost last acks, a slow reader,
// outages long and short, an end that sleeps.
var hardFates = [][]byte{
	{fateArrives, fateLost, fateArrives, fateLost, fateLost},
	{fateArrives, fateArrives, fateArrives, fateLost, fateLost, fateLost, fateLost, 200, 255},
	{fateOutage, 20, fateArrives, fateOutage, 40},
	{fateArrives, fateArrives, fateSleep, 200, fateArrives, fateSleep + 1, 200},
	{fateDuplicated, fateLate, fateDuplicated, fateVeryLate, fateLate, fateDuplicated, fateVeryLate},
	{fateChanged, 7, 1, fateChanged + 29, 9, 0, fateChanged + 2, 200, 3, fateArrives, fateChanged, 1, 0},
	{255, 200, 255, 200, 255, 200, 200, 255, 200},
}
