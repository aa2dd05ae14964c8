package fuzz

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// An input of FuzzSender is a header: the first chunk id, 2 bytes, GIVE_UP, a
// byte, and a scheduler; and a script of operations, each a byte and what op takes.

// CheckSender gives a sender acks, true, forged and foreign, between submits,
// polls and pauses, and holds it against its table and its promises after each,
// whatever the scheduler is.
// At last honest acks complete what is in flight, or it gives up.
func CheckSender(t T, data []byte) { runSender(t, data, nil) }

func runSender(t T, data []byte, tell *story) {
	s := script{data}
	cfg := statemachine.SenderConfig{FirstChunkID: s.uint16(), GiveUp: readGiveUp(&s)}
	pace := readPacing(&s, func(*statemachine.Profile) {})
	b := &senderBench{T: t, story: tell, meter: newMeter(pace.envelope), atOnce: pace.atOnce, chunkID: cfg.FirstChunkID, giveUp: giveUpOf(cfg.GiveUp)}
	cfg.Scheduler, cfg.Observe = pace.Scheduler, b.observe
	b.s = statemachine.NewSender(cfg)
	if tell != nil {
		tell.say("sender of chunk %d on, gives up after %s; %+v", cfg.FirstChunkID, clockText(b.giveUp), pace.envelope)
	}
	for n := 0; s.more() && n < maxOps; n++ {
		b.op(&s)
	}
	b.finish()
}

// senderBench is a sender and what section 7 says that it must be.
type senderBench struct {
	T
	s     *statemachine.Sender
	story *story

	meter  *meter
	atOnce int // slices at one time, at most

	clock micros // what the sender is told next, which may run backward
	now   micros // the latest that it was told

	state     statemachine.SenderState
	chunkID   uint16
	giveUp    micros
	chunk     []byte
	numSlices int
	sent      codec.Bitset
	acked     codec.Bitset
	heardAt   micros
	lastAt    micros // the latest slice, news or START (SCH-2)
	packets   int64
	observed  int64 // slices that were observed to go out
	arrived   int64 // slices that were observed to have arrived
}

// op does one operation of the script.
func (b *senderBench) op(s *script) {
	b.Helper()
	switch op := s.byte() % 20; op {
	case 0, 1:
		b.submit(readSize(s))
	case 2: // any size, also one that is refused
		b.submit(pick(s, []int{0, 1, codec.MaxChunkSize, codec.MaxChunkSize + 1, 2 * codec.MaxChunkSize, 3000, 70_000}))
	case 3, 4, 5: // some of what was sent
		b.ack(codec.Ack{ChunkID: b.chunkID, NumSlices: b.numSlices, Acked: b.sent.Intersect(readBits(s))}, "true")
	case 6: // all of what was sent
		b.ack(codec.Ack{ChunkID: b.chunkID, NumSlices: b.numSlices, Acked: b.sent}, "true")
	case 7: // forged: also what was never sent
		a := codec.Ack{ChunkID: b.chunkID, NumSlices: b.numSlices, Acked: readBits(s)}
		a.Acked = a.Acked.Intersect(codec.FirstN(a.NumSlices))
		b.ack(a, "forged")
	case 8: // foreign, valid or not
		b.ack(codec.Ack{ChunkID: b.chunkID + s.uint16(), NumSlices: int(int16(s.uint16())), Acked: readBits(s)}, "any")
	case 9:
		b.ack(codec.Ack{ChunkID: b.chunkID, NumSlices: b.numSlices}, "hold")
	case 10, 11, 12:
		b.poll()
	case 13:
		b.pass(micros(s.byte()))
	case 14:
		b.pass(micros(s.byte()) * 1000)
	case 15:
		b.pass(micros(s.uint32()))
	case 16, 17: // as a driver does
		if at := b.s.Deadline(); at <= 1<<61 {
			b.pass(at - b.clock)
		}
		b.poll()
	case 18: // the clock runs backward for one event
		later := b.clock
		b.clock = max(0, later-micros(s.byte())*1000)
		b.poll()
		b.clock = later
	case 19: // an ack as traces have it
		a := codec.Ack{ChunkID: s.uint16(), NumSlices: 1 + int(s.byte()), Acked: readBits(s)}
		a.Acked = a.Acked.Intersect(codec.FirstN(a.NumSlices))
		b.ack(a, "as it comes")
	}
}

// readBits reads a set: its first 64 by 8 bytes, and the others by a byte of
// which each bit stands for 24.
func readBits(s *script) (set codec.Bitset) {
	set[0] = s.uint64()
	rest := s.byte()
	for id := 64; id < codec.MaxSlices; id++ {
		if rest>>((id-64)/24)&1 == 1 {
			set.Set(id)
		}
	}
	return set
}

func (b *senderBench) pass(d micros) { b.clock = min(b.clock+max(d, 0), 1<<61) }

// tick is TIM-1: every event carries the time.
func (b *senderBench) tick() { b.now = max(b.now, b.clock) }

// submit is S1 to S4 (SND-1, SND-10).
func (b *senderBench) submit(size int) {
	b.Helper()
	var chunk []byte
	if size <= codec.MaxChunkSize {
		chunk = content(b.chunkID, size)
	} else {
		chunk = make([]byte, size)
	}
	b.tick()
	before, row := b.look(), "S1"
	err := b.s.Submit(b.clock, chunk)
	var want error
	switch {
	case b.state == statemachine.SenderSending:
		row, want = "S3", statemachine.ErrBusy
	case b.state == statemachine.SenderFailed:
		row, want = "S4", statemachine.ErrGaveUp
	case size < 1 || size > codec.MaxChunkSize:
		row, want = "S2", statemachine.ErrChunkSize
	}
	if b.story != nil {
		b.story.at(b.now, "submit %d bytes: %s, %v", size, row, err)
	}
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		b.Fatalf("submit of %d bytes: %v, want %v", size, err, want)
	}
	if want != nil {
		b.unchanged(before, row)
	} else {
		b.state, b.chunk, b.numSlices = statemachine.SenderSending, chunk, (size+1023)/1024
		b.sent, b.acked = codec.Bitset{}, codec.Bitset{}
		b.heardAt, b.lastAt = b.now, b.now
		b.meter.begin(b.now)
	}
	b.compare("submit", row)
}

// ack is S5 to S11 (SND-5 to SND-8).
func (b *senderBench) ack(a codec.Ack, kind string) {
	b.Helper()
	b.tick()
	before, row := b.look(), ""
	news := a.Acked.Intersect(b.sent).Minus(b.acked)
	b.s.HandleAck(b.clock, a)
	switch {
	case b.state == statemachine.SenderIdle:
		row = "S5"
	case b.state == statemachine.SenderFailed:
		row = "S11"
	case a.ChunkID != b.chunkID || a.NumSlices != b.numSlices || !ackIsValid(a):
		row = "S6"
	case !news.Empty() && b.acked.Union(news) == codec.FirstN(b.numSlices):
		row = "S10"
	case !news.Empty():
		row = "S9"
	case a.Acked.Empty() && b.acked.Empty():
		row = "S8"
	default:
		row = "S7"
	}
	if b.story != nil {
		b.story.at(b.now, "<- ack of chunk %d, %d of %d slices, %s: %s", a.ChunkID, a.Acked.Count(), a.NumSlices, kind, row)
	}
	switch row {
	case "S8":
		b.heardAt = b.now
	case "S9", "S10":
		b.news(news, row == "S10")
	default:
		b.unchanged(before, row)
	}
	b.compare("ack", row)
}

// news is NOTE, and COMPLETE (SND-12, SND-13).
func (b *senderBench) news(news codec.Bitset, all bool) {
	b.heardAt, b.lastAt = b.now, b.now
	b.acked = b.acked.Union(news)
	if b.arrived -= int64(news.Count()); b.arrived != 0 {
		b.Fatalf("%d slices of news, and %d more observed", news.Count(), b.arrived)
	}
	b.meter.pass(b.now)
	for id := news.Next(0); id >= 0; id = news.Next(id + 1) {
		b.meter.acked(b.cost(id))
	}
	if all {
		b.state, b.chunk, b.numSlices = statemachine.SenderIdle, nil, 0
		if b.chunkID++; b.chunkID%2 == 0 {
			b.s.Rest() // it may come at any time between chunks
		}
	}
}

// cost is BUD-2.
func (b *senderBench) cost(id int) int64 {
	if id < b.numSlices-1 {
		return 1037 + 28
	}
	return int64(14 + len(b.chunk) - 1024*id + 28)
}

// poll polls until another row than S13 is taken (SND-3).
func (b *senderBench) poll() (slices []codec.Slice) {
	b.Helper()
	b.tick()
	for {
		deadline := b.s.Deadline()
		s, ok := b.s.Poll(b.clock)
		if !ok {
			break
		}
		if b.story != nil {
			b.story.at(b.now, "-> slice %d of %d of chunk %d", s.SliceID, s.NumSlices, s.ChunkID)
		}
		slices = append(slices, s)
		b.slice(s, deadline, len(slices))
	}
	row := [...]string{"S12", "S14", "S16"}[b.state]
	if b.state == statemachine.SenderSending && b.now-b.heardAt >= b.giveUp {
		row, b.state, b.chunk = "S15", statemachine.SenderFailed, nil
		if len(slices) > 0 {
			b.Fatalf("sent a slice when it had to give up")
		}
	}
	if b.story != nil {
		b.story.at(b.now, "polled: %s", row)
	}
	b.compare("poll", row)
	b.deadline()
	return slices
}

// slice is what holds for every slice that goes out (SND-14, SLC-4, SCH-1,
// SCH-3, SPC-1, section 9.5).
func (b *senderBench) slice(s codec.Slice, deadline micros, atOnce int) {
	b.Helper()
	b.story.took(b.s.Row())
	switch {
	case b.state != statemachine.SenderSending:
		b.Fatalf("a slice goes out in %v", b.state)
	case s.ChunkID != b.chunkID || s.NumSlices != b.numSlices || !sliceIsValid(s):
		b.Fatalf("slice %d of %d of chunk %d", s.SliceID, s.NumSlices, s.ChunkID)
	case b.acked.Has(s.SliceID):
		b.Fatalf("slice %d goes out, though it is acked", s.SliceID)
	case !bytes.Equal(s.Data, sliceOf(b.chunkID, b.chunk, s.SliceID).Data):
		b.Fatalf("slice %d is not what was submitted", s.SliceID)
	case deadline > b.now:
		b.Fatalf("at %d slice %d goes out before the deadline %d", b.now, s.SliceID, deadline)
	case atOnce > b.atOnce:
		b.Fatalf("%d slices at a time", atOnce)
	}
	if wrong := b.meter.take(b.now, b.cost(s.SliceID)); wrong != "" {
		b.Fatalf("at %d slice %d %s", b.now, s.SliceID, wrong)
	}
	b.sent.Set(s.SliceID)
	b.lastAt = b.now
	if b.packets++; b.observed != b.packets {
		b.Fatalf("%d slices went out, %d were observed", b.packets, b.observed)
	}
}

// deadline is what holds after a poll (SCH-2, SCH-3, SND-16).
func (b *senderBench) deadline() {
	b.Helper()
	at := b.s.Deadline()
	if b.state != statemachine.SenderSending {
		if at != never {
			b.Fatalf("in %v the deadline is %d", b.state, at)
		}
		return
	}
	latest := b.lastAt + b.slowest()
	if at <= b.now || at > b.heardAt+b.giveUp || at > max(latest, b.now+1) {
		b.Fatalf("at %d the deadline is %d; the latest slice, news or START was at %d", b.now, at, b.lastAt)
	}
}

// slowest is how long the next slice may take: 5 s, or what the profile's rate,
// spacing and resend delay ask for if that is longer (SCH-2).
func (b *senderBench) slowest() micros {
	p := b.meter.profile
	d := max(5_000_000, p.ResendDelay)
	if p.Rate != 0 {
		d = max(d, 1_066_000_000/micros(p.Rate)+1)
	}
	return max(d, p.Spacing)
}
