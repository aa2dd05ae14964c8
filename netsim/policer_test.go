package netsim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

func TestPolicer(t *testing.T) {
	link := newLink(netsim.Path{PoliceRate: 8000, PoliceBurst: 100, Overhead: 2}, 1) // a byte a millisecond
	steps := []struct {
		at   time.Duration
		size int // with overhead
		pass bool
	}{
		{0, 60, true}, {0, 41, false}, {0, 40, true}, {0, 3, false},
		{10*ms - 1, 10, false}, {10 * ms, 10, true},
		{19 * ms, 10, false}, {20 * ms, 10, true}, // what is dropped costs nothing
		{500 * ms, 100, true}, {501 * ms, 2, false}, // no more than the burst comes back
		{601 * ms, 1000, true}, {1502 * ms, 2, false}, {1503 * ms, 2, true}, {1603*ms - 1, 200, false}, {1603 * ms, 200, true}, // larger than the burst
	}
	for i, s := range steps {
		if got := link.Send(s.at, s.size-2).Len() == 1; got != s.pass {
			t.Errorf("step %d, %d bytes at %v: passes is %v", i, s.size, s.at, got)
		}
	}
	if s := link.Stats(); s.LostPolicer != 7 || s.Delivered != 8 || s.LostQueue != 0 {
		t.Errorf("%+v", s)
	}
}

// bucket is the token bucket in the words of a book: tokens are bytes, in
// units of a nanosecond's share of the rate.
type bucket struct {
	rate, tokens, most int64
	last               time.Duration
}

func (b *bucket) pass(now time.Duration, size int) bool {
	b.tokens = min(b.most, b.tokens+int64(now-b.last)*b.rate)
	b.last = now
	need := int64(size) * 8e9
	if b.tokens < need && b.tokens < b.most {
		return false
	}
	b.tokens -= need
	return true
}

func TestPolicerIsATokenBucket(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		rate, burst := []int64{8000, 100_000, 1_000_000, 40_000_000}[random.IntN(4)], random.IntN(20_000)
		link := newLink(netsim.Path{PoliceRate: rate, PoliceBurst: burst, Rate: 1e9}, 1)
		want := bucket{rate: rate, tokens: int64(burst) * 8e9, most: int64(burst) * 8e9}
		var now time.Duration
		for i := range 1000 {
			size := 1 + random.IntN(1400)
			before := link.Stats()
			link.Send(now, size)
			if got := link.Stats().LostPolicer == before.LostPolicer; got != want.pass(now, size) {
				t.Fatalf("rate %d, burst %d, datagram %d of %d bytes at %v: passes is %v", rate, burst, i, size, now, got)
			}
			now += time.Duration(random.Int64N(int64(size) * 16e9 / rate)) // half of it more than the rate
		}
		s := link.Stats()
		wantStats(t, s, netsim.LinkStats{Sent: 1000, SentBytes: s.SentBytes, Delivered: 1000 - s.LostPolicer, LostPolicer: s.LostPolicer})
	}
}

// What a policer drops does not get into the queue.
func TestPolicerIsBeforeTheQueue(t *testing.T) {
	link := newLink(netsim.Path{PoliceRate: 8000, PoliceBurst: 100, Rate: 8000, Queue: 150}, 1)
	for range 10 {
		link.Send(0, 100)
	}
	if wait := link.Wait(0); wait != 100*ms {
		t.Errorf("the queue takes %v", wait)
	}
	if s := link.Stats(); s.LostPolicer != 9 || s.LostQueue != 0 {
		t.Errorf("%+v", s)
	}
}

func TestPolicerChangesWithThePath(t *testing.T) {
	link := newLink(netsim.Path{}, 1)
	pass := func(now time.Duration) bool { return link.Send(now, 100).Len() == 1 }
	for range 100 {
		if !pass(0) {
			t.Fatal("dropped without a policer")
		}
	}
	link.SetPath(netsim.Path{PoliceRate: 8000, PoliceBurst: 100})
	if !pass(0) || pass(0) || pass(99*ms) || !pass(100*ms) {
		t.Error("a new policer has not its burst, or more")
	}
	link.SetPath(netsim.Path{PoliceRate: 80_000, PoliceBurst: 100})
	if pass(150*ms) || !pass(200*ms) || pass(209*ms) || !pass(210*ms) {
		t.Error("what was used before comes back in its time, and then at the new rate")
	}
	link.SetPath(netsim.Path{})
	if !pass(210 * ms) {
		t.Error("dropped without a policer")
	}
}
