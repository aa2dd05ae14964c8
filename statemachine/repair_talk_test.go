package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// talk is a sender and a receiver, and a test that carries what they say.
type talk struct {
	t     check.T
	s     *Sender
	r     *Receiver
	now   core.Micros
	chunk []byte
}

// begin makes both ends begin with a chunk of k slices.
func begin(t check.T, k int) *talk {
	return (&talk{t: t, s: newSender(codec.Repair, 0, &scripted{deadline: core.Never}), r: newReceiver(codec.Repair, 0)}).next(k)
}

// next submits another chunk.
func (c *talk) next(k int) *talk {
	c.t.Helper()
	c.chunk = chunkOf(c.s.chunkID, k)
	check.Same(c.t, "submit", c.s.SubmitEncoded(c.now, erasure.Encode(c.chunk)), nil)
	return c
}

// wait lets time pass.
func (c *talk) wait(d core.Micros) { c.now += d }

// send makes the sender send n slices.
func (c *talk) send(n int) []codec.Slice {
	c.t.Helper()
	c.s.advance(c.now)
	slices := sends(c.s, n)
	check.Same(c.t, "slices sent", len(slices), n)
	return slices
}

// lose makes the sender send n slices that do not arrive.
func (c *talk) lose(n int) {
	c.t.Helper()
	c.send(n)
}

// pass makes the sender send n slices that arrive.
func (c *talk) pass(n int) {
	c.t.Helper()
	c.arrive(c.send(n)...)
}

func (c *talk) arrive(slices ...codec.Slice) {
	for _, s := range slices {
		c.r.HandleSlice(c.now, s)
	}
}

// ack waits until the receiver's ack is due, and returns it.
func (c *talk) ack() codec.Ack {
	c.t.Helper()
	c.now = max(c.now, c.r.Deadline())
	a, ok := c.r.Poll(c.now)
	check.That(c.t, ok, "an ack is due")
	return a
}

// hear gives the sender acks.
func (c *talk) hear(acks ...codec.Ack) {
	for _, a := range acks {
		c.s.HandleAck(c.now, a)
	}
}

// agree carries the ack that is due, and expects what the sender then knows.
func (c *talk) agree(have, top int) {
	c.t.Helper()
	c.hear(c.ack())
	c.knows(have, top)
}

// knows expects what the sender knows.
func (c *talk) knows(have, top int) {
	c.t.Helper()
	check.Equal(c.t, "have, top of the sender", []int{countedBy(c.s).have, countedBy(c.s).top}, []int{have, top})
}

// holds expects what the receiver holds.
func (c *talk) holds(have, top int) {
	c.t.Helper()
	check.Equal(c.t, "have, top of the receiver", []int{len(heldBy(c.r).held), heldBy(c.r).top}, []int{have, top})
}

// delivered carries the last ack, and reads the chunk.
func (c *talk) delivered() {
	c.t.Helper()
	c.hear(c.ack())
	check.Same(c.t, "state of the sender", c.s.State(), SenderIdle)
	c.read()
}

func (c *talk) read() {
	c.t.Helper()
	got, err := c.r.Read(c.now, nil)
	check.Same(c.t, "error", err, nil)
	check.Bytes(c.t, "chunk", got, c.chunk)
}

// rowsOf expects the latest rows of both.
func (c *talk) rows(sender, receiver core.Row) {
	c.t.Helper()
	check.Equal(c.t, "rows", []core.Row{c.s.row, c.r.row}, []core.Row{sender, receiver})
}

// Each ack says what is here (RPA-2, RPR-12).
func TestNothingIsLost(t *testing.T) {
	c := begin(t, 3)
	c.pass(2)
	c.holds(2, 2)
	c.agree(2, 2)
	c.pass(1)
	c.delivered()
	c.rows("T10", "U17")
}

// A repair slice takes the place of any slice that was lost: the ack of it is the last.
func TestOneIsLost(t *testing.T) {
	c := begin(t, 3)
	c.pass(1)
	c.lose(1)
	c.pass(1)
	c.agree(2, 3) // of three, one was lost
	c.pass(1)
	c.rows("T14", "U6")
	c.delivered()
}

// Not one source slice needs to arrive (RPC-6, RPV-SAFE-5).
func TestOnlyRepairSlicesArrive(t *testing.T) {
	for _, k := range []int{1, 2, 3, 20, 72, 147, 256} {
		c := begin(t, k)
		c.lose(k)
		c.pass(k)
		if c.r.State() == ReceiverReceiving { // the rows of the first k repair slices are dependent
			c.pass(1)
		}
		c.delivered()
	}
}

// All that is sent differs, and has the bytes of its id (RPX-7, RPS-3, RPS-4).
func TestWhatASenderSends(t *testing.T) {
	c := begin(t, 3)
	code := erasure.Encode(c.chunk)
	for n, s := range c.send(300) {
		check.Bytes(t, "data", s.Data, code.Slice(n))
		check.Equal(t, "ids and figures", []int{int(s.ChunkID), s.SliceID, s.NumSlices, s.LastBytes}, []int{0, n, 3, lastBytes})
		check.Same(t, "valid", codec.Repair.ValidateSlice(&s), nil)
	}
	check.Same(t, "sent", c.s.Vars().Transmissions, 300)
}

// The largest chunk, of which every fifth slice is lost.
func TestAFifthIsLost(t *testing.T) {
	c := begin(t, 256)
	for n := 0; c.r.State() != ReceiverReady; n++ {
		if p := c.send(1); n%5 != 0 {
			c.arrive(p...)
		}
		for a, ok := c.r.Poll(c.now); ok; a, ok = c.r.Poll(c.now) {
			c.hear(a)
		}
		c.wait(100)
	}
	check.Same(t, "transmissions", c.s.stats.SlicesSent, 256+256/4)
	check.Same(t, "state of the sender", c.s.State(), SenderIdle)
	c.read()
}

// Acks may be doubled, overtake each other and be lost: each count is kept at its maximum
// (RPX-4, RPX-6, RPV-SAFE-3).
func TestAcksInAnyOrder(t *testing.T) {
	c := begin(t, 5)
	c.pass(1)
	first := c.ack()
	c.pass(1)
	second := c.ack()
	c.lose(1)
	c.pass(1)
	third := c.ack()
	check.Equal(t, "acks", []codec.Ack{first, second, third}, []codec.Ack{
		{NumSlices: 5, Have: 1, Top: 1}, {NumSlices: 5, Have: 2, Top: 2}, {NumSlices: 5, Have: 3, Top: 4},
	})
	c.hear(second)
	c.knows(2, 2)
	c.hear(second)
	c.rows("T7", "U22")
	c.hear(first)
	c.rows("T7", "U22")
	c.knows(2, 2)
	c.hear(third)
	c.rows("T9", "U22")
	c.knows(3, 4)
	c.hear(second, first, third)
	c.knows(3, 4)
	c.pass(2)
	c.delivered()
}

// Each of the two counts is news by itself, and neither takes the other back: a receiver
// that began anew has less, and an ack of that is late or early (RPX-6).
func TestEachCountIsNews(t *testing.T) {
	c := begin(t, 5)
	c.send(7)
	c.hear(codec.Ack{NumSlices: 5, Have: 2, Top: 3})
	c.hear(codec.Ack{NumSlices: 5, Have: 1, Top: 6})
	c.rows("T9", "")
	c.knows(2, 6)
	c.hear(codec.Ack{NumSlices: 5, Have: 4, Top: 4})
	c.rows("T9", "")
	c.knows(4, 6)
	c.hear(codec.Ack{NumSlices: 5, Have: 4, Top: 6})
	c.rows("T7", "")
	check.Equal(t, "what the scheduler was told", c.s.sched.(*scripted).log[1:], []string{"acked 0: 2 of 3", "acked 0: 2 of 6", "acked 0: 4 of 6"})
	c.hear(codec.Ack{NumSlices: 5, Have: 5, Top: 5})
	c.rows("T10", "")
	check.Equal(t, "what the scheduler was told", c.s.sched.(*scripted).log[4:], []string{"acked 0: 5 of 6"})
}

// A slice that comes late counts when it comes; top stays (RPR-6).
func TestALateSlice(t *testing.T) {
	c := begin(t, 5)
	slices := c.send(4)
	c.arrive(slices[3])
	c.agree(1, 4)
	c.arrive(slices[0])
	c.agree(2, 4)
	c.rows("T9", "U22")
}

// A duplicate is answered, counts only for top, and is not stored (RPR-5, RPR-6, RPR-12).
func TestADuplicate(t *testing.T) {
	c := begin(t, 5)
	slices := c.send(4)
	c.arrive(slices[:2]...)
	c.agree(2, 2)
	progress := c.r.progressAt
	c.wait(ms)
	c.arrive(slices[1])
	c.rows("T9", "U7")
	check.Same(t, "answer", c.ack(), codec.Ack{NumSlices: 5, Have: 2, Top: 2})
	check.Same(t, "progress", c.r.progressAt, progress)
	check.Equal(t, "stored, duplicates", []int64{c.r.stats.SlicesStored, c.r.stats.Duplicates}, []int64{2, 1})
}

// Of two slices that are alike the second is answered, and counts only for top (RPR-5,
// RPR-6, RPR-10).
func TestADependentSlice(t *testing.T) {
	c := begin(t, 3)
	slices := c.send(alike[1] + 1)
	c.arrive(slices[alike[0]])
	c.agree(1, alike[0]+1)
	c.wait(5 * ms)
	progress := c.r.progressAt
	c.arrive(slices[alike[1]])
	c.rows("T9", "U8")
	c.holds(1, alike[1]+1)
	c.agree(1, alike[1]+1)
	c.rows("T9", "U22")
	check.Same(t, "progress", c.r.progressAt, progress)
	check.Equal(t, "dependent, stored, duplicates", []int64{c.r.stats.Dependent, c.r.stats.SlicesStored, c.r.stats.Duplicates}, []int64{1, 1, 0})
	c.arrive(slices[alike[1]]) // again: it is not held
	c.rows("T9", "U8")
	c.arrive(slices[0], slices[1])
	c.delivered()
}

// A source slice can be dependent, too: two repair slices whose rows differ by one place
// say what it is.
func TestADependentSourceSlice(t *testing.T) {
	i, j := rowsWithout(2)
	c := begin(t, 3)
	slices := c.send(3 + j + 1)
	c.arrive(slices[3+i], slices[3+j])
	c.holds(2, 3+j+1)
	c.arrive(slices[2])
	c.rows("T14", "U8")
	c.holds(2, 3+j+1)
	c.arrive(slices[0])
	c.delivered()
	check.Same(t, "inconsistent", c.r.stats.Inconsistent, 0)
}

// rowsWithout returns two repair slices of three slices that together give one of these.
func rowsWithout(source int) (i, j int) {
	for j = 1; ; j++ {
		for i = range j {
			var shift [3]int
			for column := range shift {
				shift[column] = erasure.Exponent(j, column) - erasure.Exponent(i, column)
			}
			if a, b := (source+1)%3, (source+2)%3; shift[a] == shift[b] && shift[a] != shift[source] {
				return i, j
			}
		}
	}
}

// What comes after the chunk is complete moves its top no more: have cannot grow, so the
// sender would count all of it as lost (RPR-9, RPR-12).
func TestTopIsFrozenWhenTheChunkIsComplete(t *testing.T) {
	c := begin(t, 3)
	slices := c.send(10)
	c.arrive(slices[1:4]...)
	check.Same(t, "ack", c.ack(), codec.Ack{NumSlices: 3, Have: 3, Top: 4})
	v := c.r.Vars()
	check.Equal(t, "what is left of the current one", []int{v.NumSlices, v.LastBytes, v.Have, v.Top, len(c.r.IDs())}, make([]int, 5))
	c.arrive(slices[4:]...)
	check.Same(t, "ack while it waits", c.ack(), codec.Ack{NumSlices: 3, Have: 3, Top: 4})
	c.read()
	c.arrive(slices[9])
	c.rows("T14", "U3")
	check.Same(t, "ack when it was read", c.ack(), codec.Ack{NumSlices: 3, Have: 3, Top: 4})
	c.r.HandleSlice(c.now, sliceOf(1, 0, 2))
	c.arrive(slices[8])
	c.rows("T14", "U12")
	check.Same(t, "ack while the next one comes", c.ack(), codec.Ack{NumSlices: 3, Have: 3, Top: 4})
	check.Same(t, "ack of the next one", c.ack(), codec.Ack{ChunkID: 1, NumSlices: 2, Have: 1, Top: 1})
	check.Equal(t, "previous", []int{c.r.Vars().PreviousSlices, c.r.Vars().PreviousTop}, []int{3, 4})
}

// A chunk that comes while another waits to be read is held; what went out meanwhile is
// not sent again (RPR-12, RPX-4).
func TestAHold(t *testing.T) {
	c := begin(t, 2)
	c.pass(2)
	c.hear(c.ack())
	read := c.chunk
	c.next(3)
	c.wait(10 * ms)
	c.pass(2)
	c.rows("T14", "U14")
	hold := c.ack()
	check.Same(t, "hold", hold, codec.Ack{ChunkID: 1, NumSlices: 3})
	c.hear(hold)
	c.rows("T8", "U25")
	check.Same(t, "the sender hears it", c.s.heardAt, c.now)
	check.Equal(t, "what the scheduler was told", c.s.sched.(*scripted).log[3:], []string{"held 10000"})
	got, _ := c.r.Read(c.now, nil)
	check.Bytes(t, "chunk", got, read)
	c.pass(2) // ids 2 and 3
	c.agree(2, 4)
	c.hear(hold) // late: something has arrived
	c.rows("T7", "U22")
	c.pass(1)
	c.delivered()
}

// A chunk of other figures conflicts with the one that has begun, and replaces it when that
// made no progress for half the time to give up (RPR-4, RPR-7).
func TestConflicts(t *testing.T) {
	genuine := ids(0, 3, 0, 1, 2)
	shorter := sliceOf(0, 0, 3)
	shorter.LastBytes--
	for name, forged := range map[string]codec.Slice{"other num_slices": sliceOf(0, 0, 4), "other last_bytes": shorter} {
		r := newReceiver(codec.Repair, 0)
		r.HandleSlice(0, forged)
		nextAck(t, r, 0)
		r.HandleSlice(giveUp/2-1, genuine[0])
		check.Same(t, name+": row", r.row, "U9")
		noAck(t, r, giveUp/2-1)
		check.Equal(t, name+": have, conflicts", []int64{int64(len(heldBy(r).held)), r.stats.Conflicts}, []int64{1, 1})
		check.Same(t, name+": top", heldBy(r).top, 1)
		r.HandleSlice(giveUp/2, genuine[1])
		check.Same(t, name+": row", r.row, "U10")
		check.Equal(t, name+": held", r.IDs(), []int{1})
		check.Equal(t, name+": figures", []int{r.numSlices, r.lastBytes, heldBy(r).top}, []int{3, lastBytes, 2})
		check.Same(t, name+": progress", r.progressAt, giveUp/2)
		check.Same(t, name+": ack", nextAck(t, r, giveUp/2), codec.Ack{NumSlices: 3, Have: 1, Top: 2})
		give(r, genuine...)
		check.Same(t, name+": replaced", r.stats.Replaced, 1)
		got, err := r.Read(r.now, nil)
		check.Same(t, name+": error", err, nil)
		check.Bytes(t, name+": chunk", got, chunkOf(0, 3))
	}
}

// A chunk of one slice replaces and completes at once (U11).
func TestAReplacementThatCompletes(t *testing.T) {
	r := give(newReceiver(codec.Repair, 0), sliceOf(0, 5, 3))
	r.HandleSlice(giveUp/2, sliceOf(0, 7, 1))
	check.Same(t, "row", r.row, "U11")
	check.Same(t, "ack", nextAck(t, r, giveUp/2), codec.Ack{NumSlices: 1, Have: 1, Top: 8})
	got, _ := r.Read(r.now, nil)
	check.Bytes(t, "chunk", got, chunkOf(0, 1))
}

// Neither an ack with nothing new nor a foreign one is a sign of life; news of top alone is
// one (RPX-6, RPX-8, SND-9, SND-11, SND-15, SND-16).
func TestRepairASenderGivesUp(t *testing.T) {
	for _, limit := range []core.Micros{1, 3 * core.Second, MaxGiveUp} {
		s := check.Must(NewSender(SenderConfig{Kind: codec.Repair, GiveUp: limit, Scheduler: &scripted{deadline: core.Never}}))
		start, end := core.Second, core.Second+limit
		_ = s.SubmitEncoded(0, erasure.Encode(chunkOf(0, 3)))
		s.sched.(*scripted).due = 2
		s.Poll(0)
		s.Poll(0)
		ack := codec.Ack{NumSlices: 3, Have: 1, Top: 1}
		s.HandleAck(0, ack)
		s.heardAt = 0
		ack.Top = 2
		s.HandleAck(start, ack)
		check.Same(t, "heard", s.heardAt, start)
		s.HandleAck(end-1, ack)
		s.HandleAck(end-1, codec.Ack{NumSlices: 3, Have: 2, Top: 3}) // more than was sent
		s.HandleAck(end-1, codec.Ack{NumSlices: 3})                  // no hold: something has arrived
		check.Same(t, "heard", s.heardAt, start)
		check.Same(t, "deadline", s.Deadline(), end)
		s.Poll(end - 1)
		check.Same(t, "error", s.Err(), nil)
		s.sched.(*scripted).due = 1
		_, ok := s.Poll(end)
		check.That(t, !ok, "nothing goes out any more")
		check.Same(t, "error", s.Err(), ErrGaveUp)
		check.Same(t, "deadline", s.Deadline(), core.Never)
		check.Same(t, "submit", s.SubmitEncoded(end, erasure.Encode([]byte{1})), ErrGaveUp)
		check.That(t, countedBy(s).chunk == nil, "the chunk is released")
		check.Equal(t, "what was counted", s.Vars(), SenderVars{State: SenderFailed, Row: "T4", NumSlices: 3, HeardAt: start})
	}
}

// Only a slice that is stored is progress: neither a duplicate nor a dependent one is
// (RPR-10, RPR-13, RCV-9).
func TestAReceiverGivesUp(t *testing.T) {
	for _, limit := range []core.Micros{1, 3 * core.Second, MaxGiveUp} {
		r := check.Must(NewReceiver(ReceiverConfig{Kind: codec.Repair, GiveUp: limit}))
		r.HandleSlice(0, sliceOf(0, alike[0], 3))
		quiet(r)
		r.HandleSlice(limit-1, sliceOf(0, alike[1], 3))
		check.Same(t, "row", r.row, "U8")
		r.HandleSlice(limit-1, sliceOf(0, alike[0], 3))
		check.That(t, r.Deadline() <= limit, "it has something to do")
		r.Poll(limit - 1)
		check.Same(t, "error before", r.Err(), nil)
		noAck(t, r, limit)
		check.Same(t, "error", r.Err(), ErrGaveUp)
		check.Same(t, "deadline", r.Deadline(), core.Never)
		check.Equal(t, "what is left", r.Vars(), ReceiverVars{State: ReceiverFailed, Row: "U24", ProgressAt: 0})
		check.That(t, heldBy(r).memory == nil && heldBy(r).spare.data == nil && !heldBy(r).code.Has(alike[0]), "all memory is released")
		noAck(t, r, limit+core.Second)
	}
}

// An ack of another chunk, of other figures, or of more than was sent changes nothing: it
// is taken whole or not at all (RPX-3).
func TestRepairForeignAcksChangeNothing(t *testing.T) {
	for name, wrong := range map[string]func(a *codec.Ack){
		"the chunk before":                func(a *codec.Ack) { a.ChunkID-- },
		"the chunk after":                 func(a *codec.Ack) { a.ChunkID++ },
		"half the ids away":               func(a *codec.Ack) { a.ChunkID += 32768 },
		"a slice less":                    func(a *codec.Ack) { a.NumSlices-- },
		"a slice more":                    func(a *codec.Ack) { a.NumSlices++ },
		"no slices":                       func(a *codec.Ack) { a.NumSlices = 0 },
		"more than there are":             func(a *codec.Ack) { a.Have = 4 },
		"less than nothing":               func(a *codec.Ack) { a.Have = -1 },
		"top is what was not sent":        func(a *codec.Ack) { a.Top = 5 },
		"top is an id of the next round":  func(a *codec.Ack) { a.Top = 8191 },
		"top is no id":                    func(a *codec.Ack) { a.Top = 8192 },
		"top below 0":                     func(a *codec.Ack) { a.Top = -1 },
		"have above top":                  func(a *codec.Ack) { a.Top = 1 },
		"all, but above top":              func(a *codec.Ack) { a.Have, a.Top = 3, 2 },
		"all, but top is not sent":        func(a *codec.Ack) { a.Have, a.Top = 3, 5 },
		"something, though nothing came":  func(a *codec.Ack) { a.Top = 0 },
		"a hold of another number":        func(a *codec.Ack) { *a = codec.Ack{ChunkID: 7, NumSlices: 2} },
		"a hold of the chunk before":      func(a *codec.Ack) { *a = codec.Ack{ChunkID: 6, NumSlices: 3} },
		"all of the chunk before, in use": func(a *codec.Ack) { *a = codec.Ack{ChunkID: 6, NumSlices: 3, Have: 3, Top: 3} },
	} {
		s := sentSender(codec.Repair)
		before, a := s.Vars(), ackOf(2, 4)
		wrong(&a)
		check.That(t, !s.HandleAck(core.Second, a), name+": it is not ours")
		before.Row = "T6"
		check.Equal(t, name+": variables", s.Vars(), before)
		check.Same(t, name+": ignored", s.Stats().AcksIgnored, 1)
	}
	s := sentSender(codec.Repair)
	check.That(t, s.HandleAck(core.Second, ackOf(2, 4)), "the good one is ours")
	check.Same(t, "row of the good one", s.row, "T9")
}

// At the start there is no chunk before (RCV-6), and ids of chunks go on from 65,535 with 0.
func TestIDsOfChunksWrap(t *testing.T) {
	c := begin(t, 1)
	c.s, c.r = newSender(codec.Repair, 65535, &scripted{deadline: core.Never}), newReceiver(codec.Repair, 65535)
	c.r.HandleSlice(0, sliceOf(65534, 0, 1))
	check.Same(t, "row", c.r.row, "U4")
	for _, id := range []uint16{0, 1} {
		c.next(2)
		c.lose(1)
		c.pass(2)
		c.delivered()
		check.Equal(t, "next chunk", []uint16{c.s.chunkID, c.r.chunkID}, []uint16{id, id})
	}
}

// What the scheduler is told of a chunk: the sizes of the datagrams of each id (SCH-2,
// RPX-5).
func TestWhatAFlightIs(t *testing.T) {
	for size, want := range map[int]string{
		1:      "begin 5: chunk 7, 1 slices, datagrams of 15 and 15 bytes",
		1024:   "begin 5: chunk 7, 1 slices, datagrams of 1038 and 1038 bytes",
		1025:   "begin 5: chunk 7, 2 slices, datagrams of 1038 and 15 bytes",
		262144: "begin 5: chunk 7, 256 slices, datagrams of 1038 and 1038 bytes",
	} {
		s := idleSender(codec.Repair)
		check.Same(t, "submit", s.SubmitEncoded(5, erasure.Encode(make([]byte, size))), nil)
		check.Equal(t, "what the scheduler was told", s.sched.(*scripted).log, []string{want})
	}
}

// Nothing of a replaced chunk is left, top included (RPR-7).
func TestAReplacementForgetsTop(t *testing.T) {
	r := give(newReceiver(codec.Repair, 0), sliceOf(0, 300, 4))
	r.HandleSlice(giveUp/2, sliceOf(0, 1, 3))
	check.Equal(t, "held, top", []any{r.IDs(), heldBy(r).top}, []any{[]int{1}, 2})
}
