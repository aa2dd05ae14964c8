package base

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// slowBudget holds 2000 of at most 2000 bytes; time pays 1000 bytes a second.
func slowBudget() budget { return newBudget(Profile{Rate: 8 * 1000, Cap: 2000}) }

// emptyBudget is slowBudget without anything left.
func emptyBudget() budget {
	b := slowBudget()
	b.take(2000)
	return b
}

// holds makes sure that n bytes are left, and not one more.
func (b budget) holds(t testing.TB, n int64) {
	t.Helper()
	if !(&b).take(n) || (&b).take(1) {
		t.Fatalf("%d millionths of a byte are left, want %d bytes", b.left, n)
	}
}

func TestABudgetStartsFull(t *testing.T) { slowBudget().holds(t, 2000) }

func TestWhatIsNotThereIsNotTaken(t *testing.T) {
	b := slowBudget()
	check.That(t, !b.take(2001), "2001 of 2000 bytes are refused")
	b.holds(t, 2000)
	check.That(t, b.take(1999), "1999 of them are there")
	b.holds(t, 1)
}

// Once for each moment, up to the cap (BUD-3).
func TestTimePays(t *testing.T) {
	b := emptyBudget()
	b.refill(core.Second / 2)
	b.holds(t, 500)
	b.refill(core.Second / 2)
	b.holds(t, 500)
	b.refill(core.Second)
	b.holds(t, 1000)
	b.refill(5 * core.Second)
	b.holds(t, 2000)
}

// Rounded up, to the microsecond (BUD-4).
func TestWhenABudgetCoversACost(t *testing.T) {
	b := emptyBudget()
	b.refill(core.Second)
	check.Equal(t, "what is there", b.when(1000), core.Second)
	check.Equal(t, "one byte more", b.when(1001), core.Second+1000)

	thirds := newBudget(Profile{Rate: 8 * 3, Cap: 10})
	thirds.take(10)
	check.Equal(t, "a third of a second, rounded up", thirds.when(1), 333_334)
	thirds.refill(333_333)
	check.That(t, !thirds.take(1), "not there before")
	thirds.refill(333_334)
	check.That(t, thirds.take(1), "there then")
	check.Equal(t, "what was left over counts for the next", thirds.when(2), 1_000_000)
}

func TestNothingIsRoundedAway(t *testing.T) {
	p := Profile{Rate: 8 * 1_234_567, Cap: 1 << 20}
	inSteps, atOnce := newBudget(p), newBudget(p)
	inSteps.take(1 << 20)
	atOnce.take(1 << 20)
	for now := range 1000 * core.Micros(1) {
		inSteps.refill(now + 1)
	}
	atOnce.refill(1000)
	check.Equal(t, "left", inSteps.left, atOnce.left)
	check.Equal(t, "left", atOnce.left, 1_234_567_000)
}

func TestNoTimeAndNoRateOverflowABudget(t *testing.T) {
	for _, rate := range []int64{1, statemachine.MinRate / 8, 125_000, statemachine.MaxRate / 8} {
		for _, pause := range []core.Micros{longestRefill - 1, longestRefill, longestRefill + 1, year, 10_000 * year, core.Never} {
			b := newBudget(Profile{Rate: 8 * rate, Cap: maxBytes, AckPays: true})
			b.take(maxBytes)
			b.refill(pause)
			if want := min(rate*int64(min(pause, longestRefill)), maxBytes*perByte); b.left != want || b.byTime != want {
				t.Errorf("rate %d, pause %d: left %d, paid by time %d; want %d", rate, pause, b.left, b.byTime, want)
			}
			b.acked(maxBytes)
			check.That(t, b.left <= b.cap && b.left >= 0, "what is left is within its limits")
		}
	}
}

func TestALongPauseIsNotForgotten(t *testing.T) {
	b := newBudget(Profile{Rate: 8, Cap: 5000})
	b.take(5000)
	b.refill(1000 * core.Second)
	b.holds(t, 1000)
	b.refill(3000 * core.Second)
	b.holds(t, 2000) // 1000 s count at the most
}

// What time pays while nothing is sent is not held against a chunk's acks, so
// that the clock's origin and idle time make no difference.
func TestAChunkOwesNothingForIdleTime(t *testing.T) {
	for _, idle := range []core.Micros{0, 1, core.Second, year} {
		b := newBudget(Profile{Rate: 8 * 1000, Cap: 5000, AckPays: true})
		b.refill(idle)
		b.startChunk(0)
		check.That(t, b.take(5000), "the cap is there")
		b.acked(700)
		b.holds(t, 700)
	}
}

func TestRateZeroIsUnlimited(t *testing.T) {
	b := newBudget(Profile{Cap: 1000})
	for range 5 {
		check.That(t, b.take(1<<40), "everything is there")
	}
	b.refill(7)
	check.Equal(t, "when", b.when(1<<40), 7)
	b.refill(year)
	check.That(t, b.take(1), "everything is there")
}

// Nothing that is left is taken away (BUD-5).
func TestABurstOnlyRaises(t *testing.T) {
	b := emptyBudget()
	b.startChunk(700)
	b.holds(t, 700)
	b.startChunk(600)
	b.holds(t, 700)
}

func TestAcksPayOnlyIfTheProfileSaysSo(t *testing.T) {
	b := emptyBudget()
	b.acked(500)
	b.holds(t, 0)
}

// What acks and time pay is the larger of the two, not the sum (BUD-6).
func TestAcksPayWhatTimeHasNotPaid(t *testing.T) {
	for _, c := range []struct {
		name  string
		after core.Micros
		acked int64
		want  int64
	}{
		{"no time has passed", 0, 500, 500},
		{"time has paid less", core.Second / 5, 500, 500},
		{"time has paid as much", core.Second / 2, 500, 500},
		{"time has paid more", core.Second, 500, 1000},
		{"not beyond the cap", core.Second, 5000, 2000},
	} {
		b := emptyBudget()
		b.ackPays = true
		b.refill(c.after)
		b.acked(c.acked)
		if b.left != c.want*perByte {
			t.Errorf("%s: %d left, want %d bytes", c.name, b.left, c.want)
		}
	}
}

func TestWhatTimePaidCountsForOneAckOnly(t *testing.T) {
	b := emptyBudget()
	b.ackPays = true
	b.refill(core.Second)
	b.acked(100) // time has paid more; this is settled
	b.acked(400)
	b.holds(t, 1400)
	b.refill(core.Second + core.Second/10)
	b.acked(150)
	b.holds(t, 1550)
}

// In any window no more is taken than the cap and what the rate makes of the
// window; and what is not taken was not there (SCH-4, BUD-2, BUD-4).
func TestNoWindowExceedsTheBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(4, 5000).Draw(t, "rate")
		capacity := rapid.Int64Range(1, 3000).Draw(t, "cap")
		b := newBudget(Profile{Rate: 8 * rate, Cap: capacity})
		type spent struct {
			at core.Micros
			n  int64
		}
		var all []spent
		now := core.Micros(0)
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			now += core.Micros(rapid.Int64Range(0, 400_000).Draw(t, "later"))
			b.refill(now)
			n := rapid.Int64Range(1, capacity).Draw(t, "cost")
			if b.take(n) {
				all = append(all, spent{now, n})
				continue
			}
			at := b.when(n)
			before := b
			before.refill(at - 1)
			b.refill(at)
			now = at
			if before.take(n) || !b.take(n) {
				t.Fatalf("%d bytes are not there from %d on", n, at)
			}
			all = append(all, spent{now, n})
		}
		for i := range all {
			sum := int64(0)
			for j := i; j < len(all); j++ {
				sum += all[j].n
				if sum*perByte > capacity*perByte+rate*int64(all[j].at-all[i].at) {
					t.Fatalf("%d bytes from %d to %d", sum, all[i].at, all[j].at)
				}
			}
		}
	})
}

// A budget counts millionths of a byte, and each of them (BUD-4, BUD-6).
func TestTheLastMillionthOfAByteCounts(t *testing.T) {
	b := newBudget(Profile{Rate: 8 * (perByte - 1), Cap: 10, AckPays: true})
	check.That(t, b.take(10), "all is taken")
	b.refill(1)
	check.Equal(t, "when, with one millionth missing", b.when(1), 2)
	b.acked(1)
	check.Equal(t, "left after an ack that pays it", b.left, perByte)
	check.Equal(t, "when a byte is there", b.when(1), 1)
}
