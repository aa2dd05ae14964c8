package statemachine

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

// Neither an ack without new slices nor a foreign one is a sign of life (SND-8, SND-9,
// SND-11, SND-15, SND-16, SND-19).
func TestASenderGivesUp(t *testing.T) {
	for _, limit := range []core.Micros{1, 3 * core.Second, MaxGiveUp} {
		s := check.Must(NewSender(SenderConfig{GiveUp: limit, Scheduler: &inTurn{deadline: core.Never}}))
		_ = s.Submit(core.Second, chunktest.Chunk(3000, 1))
		s.Poll(core.Second)
		s.HandleAck(core.Second, chunktest.Ack(0, "100"))
		for range 2 {
			s.Poll(core.Second)
		}
		start, end := core.Second, core.Second+limit
		s.HandleAck(end-1, chunktest.Ack(0, "100")) // nothing new
		s.HandleAck(end-1, chunktest.Ack(1, "100"))
		s.HandleAck(end-1, chunktest.Ack(0, "000")) // no hold: something was acked before
		check.Equal(t, "heard", s.heardAt, start)
		check.Equal(t, "deadline", s.Deadline(), end)
		s.Poll(end - 1)
		check.Same(t, "error", s.Err(), nil)
		_, ok := s.Poll(end)
		check.That(t, !ok, "nothing goes out any more")
		check.Same(t, "error", s.Err(), ErrGaveUp)
		check.Equal(t, "deadline", s.Deadline(), core.Never)
		check.Same(t, "submit", s.Submit(end, []byte{1}), ErrGaveUp)
		ignored := s.Stats().AcksIgnored
		s.HandleAck(end, chunktest.Ack(0, "111"))
		check.Equal(t, "state", s.state, SenderFailed)
		check.Equal(t, "acks ignored", s.Stats().AcksIgnored, ignored+1)
		check.That(t, sentOf(s).chunk == nil, "the chunk is released")
	}
}

// An ack of another chunk, with another number of slices, or with a bit that it cannot
// have changes nothing: it is taken whole or not at all (SND-5).
func TestForeignAcksChangeNothing(t *testing.T) {
	good := chunktest.Ack(7, "110")
	for _, a := range []struct {
		name  string
		wrong func(a *codec.Ack)
	}{
		{"the chunk before", func(a *codec.Ack) { a.ChunkID-- }},
		{"the chunk after", func(a *codec.Ack) { a.ChunkID++ }},
		{"half the ids away", func(a *codec.Ack) { a.ChunkID += 32768 }},
		{"a slice less", func(a *codec.Ack) { a.NumSlices-- }},
		{"a slice more", func(a *codec.Ack) { a.NumSlices++ }},
		{"no slices", func(a *codec.Ack) { a.NumSlices = 0 }},
		{"a bit too many", func(a *codec.Ack) { a.Acked.Add(3) }},
		{"a bit far too many", func(a *codec.Ack) { a.Acked.Add(255) }},
		{"all bits, and one too many", func(a *codec.Ack) { a.Acked = core.SetOf(0, 1, 2, 64) }},
	} {
		s := sentSender(codec.Named)
		before, acked, wrong := *s, sentOf(s).acked, good
		a.wrong(&wrong)
		ours := s.HandleAck(core.Second, wrong)
		if ours || s.row != "S6" || sentOf(s).acked != acked || s.heardAt != before.heardAt || s.Stats().AcksIgnored != 1 || s.Deadline() != before.Deadline() {
			t.Errorf("%s: the ack %v changed something", a.name, wrong)
		}
	}
	s := sentSender(codec.Named)
	check.That(t, s.HandleAck(core.Second, good), "the ack is ours")
	check.Equal(t, "row of a good one", s.row, "S9")
}

// An idle sender knows the acks of the chunk before as its own (CON-6).
func TestWhichAcksOfAnIdleSenderAreOurs(t *testing.T) {
	for _, kind := range kinds {
		s := idleSender(kind)
		check.That(t, !s.HandleAck(0, someAck(kind, 6, "1", 0, 0)), "there is no chunk before the first")
		s = idleAgainSender(kind)
		for id, ours := range map[uint16]bool{5: false, 6: true, 7: false} {
			check.Equal(t, "ours", s.HandleAck(0, someAck(kind, id, "1", 1, 1)), ours)
		}
	}
}

// It is then the sender of the next one (SND-13, SND-16).
func TestACompleteSenderReleasesTheChunk(t *testing.T) {
	s := sentSender(codec.Named)
	s.HandleAck(0, chunktest.Ack(7, "111"))
	check.That(t, sentOf(s).chunk == nil, "the chunk is released")
	check.Equal(t, "slices", s.numSlices, 0)
	check.Equal(t, "next chunk", s.chunkID, 8)
	check.Equal(t, "deadline", s.Deadline(), core.Never)
}

// A refused submit leaves the sender as it was, and the next one that is right is
// taken (SND-1, LIM-1).
func TestARefusedSubmitChangesNothing(t *testing.T) {
	for _, kind := range kinds {
		for _, c := range []struct {
			name string
			from func(codec.Kind) *Sender
			size int
			want error
		}{
			{"empty", idleSender, 0, ErrChunkSize},
			{"too large", idleSender, 262145, ErrChunkSize},
			{"busy", ackedSender, 10, ErrBusy},
			{"busy, and empty", ackedSender, 0, ErrBusy},
			{"busy, and too large", startedSender, 262145, ErrBusy},
			{"failed", failedSender, 10, ErrGaveUp},
		} {
			checkRefusal(t, c.name, c.from(kind), c.from(kind), c.size, c.want)
		}
		s := idleSender(kind)
		check.Same(t, "none", s.Submit(0, nil), ErrChunkSize)
		check.Same(t, "too large", s.Submit(0, make([]byte, 262145)), ErrChunkSize)
		check.Same(t, "the largest", submit(s, make([]byte, 262144)), nil)
		check.Same(t, "it is sent", s.Submit(0, nil), ErrBusy)
	}
}

func checkRefusal(t *testing.T, name string, s, twin *Sender, size int, want error) {
	t.Helper()
	opaque := cmp.AllowUnexported(Sender{}, sentSet{}, sentCount{}, given{}, chunk{}, inTurn{}, scripted{})
	same := cmp.Comparer(func(a, b error) bool { return a == b })
	encoded := cmp.Comparer(func(a, b *erasure.Encoded) bool {
		return a == nil && b == nil || a != nil && b != nil && bytes.Equal(a.Bytes(), b.Bytes())
	})
	check.Same(t, name, submit(s, make([]byte, size)), want)
	twin.row, twin.refusal = s.row, s.refusal
	check.Equal(t, name+": the sender", s, twin, opaque, same, encoded)
}

// What a caller appends to a slice's data must not end up in the next slice.
func TestSlicesHaveNoRoomBehindThem(t *testing.T) {
	s := startedSender(codec.Named)
	p, _ := s.Poll(0)
	check.Equal(t, "length and room", []int{len(p.Data), cap(p.Data)}, []int{1024, 1024})
}

// Each size that has another last slice; and again, from the caller's bytes (LIM-2,
// LIM-3, SLC-4, SND-14, SND-18).
func TestSlicesAreCutAsTheyShould(t *testing.T) {
	for _, size := range []int{1, 1023, 1024, 1025, 2048, 3000} {
		chunk := chunktest.Chunk(size, 5)
		sched := &inTurn{}
		s := newSender(codec.Named, 99, sched)
		_ = s.Submit(0, chunk)
		for range 3 {
			var got []codec.Slice
			for p, ok := s.Poll(0); ok; p, ok = s.Poll(0) {
				got = append(got, p)
			}
			check.Equal(t, "slices", got, chunktest.Slices(99, chunk))
			sched.due = core.FirstN(len(got))
		}
	}
}

func TestSenderStats(t *testing.T) {
	sched := &inTurn{}
	s := newSender(codec.Named, 0, sched)
	_ = s.Submit(core.Second, chunktest.Chunk(2100, 1))
	for range 3 {
		s.Poll(core.Second)
	}
	s.HandleAck(core.Second+40*ms, chunktest.Ack(1, "111"))
	s.HandleAck(core.Second+40*ms, chunktest.Ack(0, "001"))
	sched.due = core.SetOf(0)
	s.Poll(core.Second + 40*ms) // slice 0 again
	s.HandleAck(core.Second+50*ms, chunktest.Ack(0, "001"))
	s.HandleAck(core.Second+80*ms, chunktest.Ack(0, "111"))
	s.HandleAck(core.Second+80*ms, chunktest.Ack(0, "111"))
	check.Equal(t, "stats", s.Stats(), SenderStats{
		Chunks: 1, ChunkBytes: 2100, SlicesSent: 4, SlicesResent: 1, SlicesAcked: 3,
		BytesSent: 3*(1024+13) + 52 + 14, AcksReceived: 5, AcksIgnored: 3, LastChunkTime: 80 * ms,
		Schedule: ScheduleStats{Lost: 4},
	})
}
