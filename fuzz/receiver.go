package fuzz

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// An input of FuzzReceiver is a header: the first chunk id, 2 bytes, GIVE_UP, a
// byte, and the sizes of the genuine chunks, three times 2 bytes; and a script of
// operations, each a byte and what readOp takes.

// CheckReceiver gives a receiver slices, half of them genuine, between reads,
// polls and pauses, and compares it with a model after each. At last a genuine
// sender brings the current chunk over, or one of the two gives up.
func CheckReceiver(t T, data []byte) { runReceiver(t, data, nil) }

// maxOps bounds the work of one execution.
const maxOps = 400

func runReceiver(t T, data []byte, tell *story) {
	s := script{data}
	cfg := statemachine.ReceiverConfig{FirstChunkID: s.uint16(), GiveUp: readGiveUp(&s)}
	b := &receiverBench{
		T: t, r: statemachine.NewReceiver(cfg), m: newModelReceiver(cfg), story: tell,
		sizes: [3]int{readSize(&s), readSize(&s), readSize(&s)},
	}
	if tell != nil {
		tell.say("receiver of chunk %d on, gives up after %s; genuine chunks of %d bytes in turn", cfg.FirstChunkID, clockText(giveUpOf(cfg.GiveUp)), b.sizes)
	}
	for n := 0; s.more() && n < maxOps; n++ {
		b.op(&s)
	}
	b.memory()
	b.finish()
}

// readGiveUp reads a GIVE_UP: mostly a usual one.
func readGiveUp(s *script) micros {
	return pick(s, []micros{0, 10_000_000, 2_000_000, 1_000_000, 60_000_000, 100_000, 1000, 1, 2, 3, 1 << 61})
}

// receiverBench is a receiver beside its model, and what they were given.
type receiverBench struct {
	T
	r     *statemachine.Receiver
	m     *modelReceiver
	story *story
	sizes [3]int // of genuine chunks, by their id

	now     micros
	next    int  // the genuine slice that is next in line
	forged  bool // something forged is stored in the current chunk
	slices  int64
	acks    int64
	pinned  int // the most slices that any chunk pinned
	scratch [codec.SliceSize + 1]byte
}

func (b *receiverBench) genuine(chunkID uint16) []byte {
	return content(chunkID, b.sizes[chunkID%3])
}

// op does one operation of the script.
func (b *receiverBench) op(s *script) {
	b.Helper()
	switch op := s.byte() % 24; op {
	case 0, 1, 2, 3, 4, 5: // the next genuine slice
		chunk := b.genuine(b.m.chunkID)
		b.next = (b.next + 1) % codec.NumSlices(len(chunk))
		b.give("genuine", sliceOf(b.m.chunkID, chunk, b.next), false)
	case 6, 7: // any genuine slice
		chunk := b.genuine(b.m.chunkID)
		b.give("genuine", sliceOf(b.m.chunkID, chunk, int(s.byte())%codec.NumSlices(len(chunk))), false)
	case 8: // one of the chunk before
		chunk := b.genuine(b.m.chunkID - 1)
		b.give("genuine", sliceOf(b.m.chunkID-1, chunk, int(s.byte())%codec.NumSlices(len(chunk))), false)
	case 9, 10, 11, 12, 13:
		b.give("forged", b.forge(op, s), true)
	case 14, 15:
		b.read()
	case 16, 17:
		b.poll()
	case 18:
		b.now += micros(s.byte())
	case 19:
		b.now += micros(s.byte()) * 1000
	case 20:
		b.now = min(b.now+micros(s.uint32()), 1<<61)
	case 21: // as a driver does
		if at := b.m.deadline(); at != never && at <= 1<<61 {
			b.now = max(b.now, at)
		}
		b.poll()
	case 22: // the clock runs backward
		later := b.now
		b.now = max(0, b.now-micros(s.byte())*1000)
		b.poll()
		b.now = later
	case 23: // half of GIVE_UP, when a pin may change, or just before
		b.now = min(max(b.now, b.m.progressAt+b.m.giveUp/2-micros(s.byte()&1)), 1<<61)
	}
}

// forge makes a slice that no genuine sender of these chunks sends: one that is
// changed in a field, or is all the fuzzer's own.
func (b *receiverBench) forge(op byte, s *script) codec.Slice {
	chunk := b.genuine(b.m.chunkID)
	g := sliceOf(b.m.chunkID, chunk, int(s.byte())%codec.NumSlices(len(chunk)))
	switch op {
	case 9: // another number of slices
		g.NumSlices = 1 + int(s.byte())
		g.SliceID %= g.NumSlices
		g.Data = noise[1 : 1+codec.SliceSize]
	case 10: // another content, and in the last slice another length
		n := len(g.Data)
		if g.Last() {
			n = 1 + int(s.uint16())%codec.SliceSize
		}
		g.Data = noise[2 : 2+n]
	case 11: // another chunk
		g.ChunkID += s.uint16()
	case 12: // any valid slice, as traces have them
		g = codec.Slice{ChunkID: s.uint16(), SliceID: int(s.byte()), NumSlices: 1 + int(s.byte())}
		g.SliceID %= g.NumSlices
		size := 1 + int(s.uint16())%codec.SliceSize
		if !g.Last() {
			size = codec.SliceSize
		}
		from := int(s.byte()) * 4
		g.Data = noise[from : from+size]
	case 13: // one that no decoder returns
		g.NumSlices = int(int16(s.uint16()))
		g.SliceID = int(int16(s.uint16()))
		g.Data = noise[:int(s.uint16())%1026]
	}
	return g
}

// give hands a slice to both. The receiver must copy what it keeps (RCV-11).
func (b *receiverBench) give(kind string, s codec.Slice, forged bool) {
	b.Helper()
	want := b.m.slice(b.now, s)
	lent := s
	lent.Data = b.scratch[:copy(b.scratch[:], s.Data)]
	b.r.HandleSlice(b.now, lent)
	clear(b.scratch[:])
	b.slices++
	switch want {
	case "R1", "R2", "R9", "R10":
		b.forged, b.pinned = forged, max(b.pinned, s.NumSlices)
	case "R5", "R6":
		b.forged = b.forged || forged
	}
	if b.story != nil {
		b.story.at(b.now, "-> slice %d of %d of chunk %d, %d bytes, %s: %s, %v", s.SliceID, s.NumSlices, s.ChunkID, len(s.Data), kind, want, b.m.state)
	}
	b.compare("slice", want)
}

// read reads behind what a buffer holds, as append does.
func (b *receiverBench) read() (chunk []byte) {
	b.Helper()
	row, want := b.m.read(b.now)
	got, err := b.r.Read(b.now, []byte("kept"))
	if b.story != nil {
		b.story.at(b.now, "read: %d bytes, %v: %s", len(got)-4, err, row)
	}
	switch {
	case (err == nil) != (row == "R16") || err != nil && !errors.Is(err, statemachine.ErrNothingToRead):
		b.Fatalf("read: %v, want row %s", err, row)
	case len(got) < 4 || string(got[:4]) != "kept" || !bytes.Equal(got[4:], want):
		b.Fatalf("read %d bytes that are not the %d that arrived", len(got)-4, len(want))
	}
	b.compare("read", row)
	return want
}

// poll polls until no ack comes.
func (b *receiverBench) poll() (acks []codec.Ack) {
	b.Helper()
	for {
		row, want, some := b.m.poll(b.now)
		got, ok := b.r.Poll(b.now)
		if b.story != nil && ok {
			b.story.at(b.now, "<- ack of chunk %d: %d of %d slices", got.ChunkID, got.Acked.Count(), got.NumSlices)
		}
		if ok != some || got != want {
			b.Fatalf("poll: %+v, %v, want %+v, %v", got, ok, want, some)
		}
		b.compare("poll", row)
		if !ok {
			break
		}
		acks = append(acks, got)
		b.ack(got, len(acks))
	}
	if now := max(b.now, b.m.now); b.r.Deadline() <= now {
		b.Fatalf("at %d, after a poll, the deadline is %d", now, b.r.Deadline())
	}
	return acks
}

// ack is what holds for every ack, whatever the model says (ACQ-2, BND-2).
func (b *receiverBench) ack(a codec.Ack, atOnce int) {
	b.Helper()
	b.acks++
	switch {
	case !ackIsValid(a):
		b.Fatalf("an ack that is none: %+v", a)
	case atOnce > 3:
		b.Fatalf("%d acks at a time", atOnce)
	case b.acks > b.slices:
		b.Fatalf("%d acks for %d slices", b.acks, b.slices)
	}
}

// compare holds the receiver against the model.
func (b *receiverBench) compare(event, row string) {
	b.Helper()
	r, m := b.r, b.m
	b.story.took(r.Row())
	if got := r.Row().String(); got != row {
		b.Fatalf("%s took row %s, want %s", event, got, row)
	}
	if r.State() != m.state || r.ChunkID() != m.chunkID || r.NumSlices() != m.numSlices || r.Received() != m.bits() {
		b.Fatalf("after %s (%s): %v, chunk %d of %d slices, %x here, want %v, %d, %d, %x", event, row,
			r.State(), r.ChunkID(), r.NumSlices(), r.Received(), m.state, m.chunkID, m.numSlices, m.bits())
	}
	if r.Deadline() != m.deadline() {
		b.Fatalf("after %s (%s): deadline %d, want %d", event, row, r.Deadline(), m.deadline())
	}
	if failed := m.state == statemachine.ReceiverFailed; failed != errors.Is(r.Err(), statemachine.ErrGaveUp) {
		b.Fatalf("in %v the error is %v", m.state, r.Err())
	}
	if waiting := m.state == statemachine.ReceiverReady; waiting && r.ReadSize() != len(m.whole) || !waiting && r.ReadSize() != 0 {
		b.Fatalf("in %v, %d bytes are to be read, want %d", m.state, r.ReadSize(), len(m.whole))
	}
	st := r.Stats()
	if sum := st.SlicesStored + st.Duplicates + st.Held + st.Conflicts + st.Ignored; sum != b.slices || st.SlicesReceived != b.slices {
		b.Fatalf("%d slices were given, %d counted, %d by kind", b.slices, st.SlicesReceived, sum)
	}
}

// memory is BND-1 and RCV-18: a receiver keeps no more slices than were stored,
// nor more than a chunk has.
func (b *receiverBench) memory() {
	b.Helper()
	kept := reflect.ValueOf(b.r).Elem().FieldByName("slices")
	held := 0
	for i := range kept.Len() {
		if !kept.Index(i).IsNil() {
			held++
		}
	}
	if int64(held) > b.r.Stats().SlicesStored || kept.Len() > b.pinned {
		b.Fatalf("%d slices and %d pointers are kept; %d slices were stored, of chunks of up to %d", held, kept.Len(), b.r.Stats().SlicesStored, b.pinned)
	}
}
