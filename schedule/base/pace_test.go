package base

import (
	"testing"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/statemachine"
)

// None goes out before its time (SPC-1, SPC-2).
func TestBurstSlicesAre85MicrosecondsApart(t *testing.T) {
	f := fly(t, Burst(), 256)
	for id := range 256 {
		f.sends(id)
		if id < 255 {
			f.silentUntil(machine.Micros(id+1) * 85)
		}
	}
	f.silentUntil(255*85 + 250*ms)
}

// And for no more (SPC-2).
func TestALateCallerMakesUpFor20Milliseconds(t *testing.T) {
	for _, c := range []struct {
		late machine.Micros
		want int // slices that go out then
	}{
		{84, 1},
		{85, 2},
		{20 * ms, 236}, // 20 ms are 235 and a bit
		{30 * ms, 236},
		{machine.Second, 236},
	} {
		f := fly(t, Burst(), 256)
		f.sends(0)
		f.at(85 + c.late)
		if got := len(f.all()); got != c.want {
			t.Errorf("%d us late: %d slices, want %d", c.late, got, c.want)
		}
		owed := min(c.late, 20*ms)
		check.Equal(t, "deadline", f.Deadline(), f.now-owed+machine.Micros(c.want)*85)
	}
}

// Slices that are found lost go out one by one (SPC-3).
func TestIdleTimeEarnsNoSpacing(t *testing.T) {
	f := fly(t, Burst(), 5)
	for id := range 5 {
		f.at(machine.Micros(id) * 85).sends(id)
	}
	f.at(50 * ms).acked(4)
	f.sends(0) // 0 to 2 are lost, but they go out one by one
	f.silentUntil(50*ms + 85)
	f.sends(1)
	f.silentUntil(50*ms + 170)
	f.sends(2)
}

func TestProbesAreSpacedToo(t *testing.T) {
	f := fly(t, Burst(), 2)
	f.sends(0)
	f.at(85).sends(1)
	f.silentUntil(85 + 250*ms)
	f.sends(0)
	f.silentUntil(85 + 250*ms + 85)
	f.sends(1)
}

func TestAChunkKeepsTheSpacingOfTheOneBefore(t *testing.T) {
	f := fly(t, Burst(), 1)
	f.sends(0)
	f.at(50).acked(0)
	f.begin(2)
	f.silentUntil(85)
	f.sends(0)
	f.silentUntil(170)
	f.sends(1)
}

func TestTheTimeBetweenChunksEarnsNothing(t *testing.T) {
	f := fly(t, Burst(), 1)
	f.sends(0)
	f.at(50 * ms).acked(0)
	f.at(machine.Second).begin(3)
	f.sends(0)
	f.silentUntil(machine.Second + 85)
	f.sends(1)
}

// The cost of a slice is its datagram and 28 bytes; a last one has its own
// length and a byte more (BUD-2).
func TestWhatASliceCosts(t *testing.T) {
	b := check.Must(New(atOnce))
	b.Begin(statemachine.Flight{NumSlices: 3, Bytes: 13 + 1024, LastBytes: 14 + 100})
	check.Equal(t, "first", b.cost(0), 13+1024+28)
	check.Equal(t, "last but one", b.cost(1), 13+1024+28)
	check.Equal(t, "last", b.cost(2), 14+100+28)
}

// By the full bucket once, by the rate from then on (SCH-4, BUD-2 to BUD-4).
func TestAFixedRateIsKept(t *testing.T) {
	f := fly(t, Fixed(8*106_500), 256) // 100 slices a second
	sent := len(f.all())
	check.Equal(t, "slices that a full bucket covers", sent, 16)
	// 16 slices cost 17040 of the bucket's 17056 bytes; 1049 more take 9.85 ms.
	f.silentUntil((1049*machine.Second + 106_499) / 106_500)
	f.sends(16)
	sent++
	for f.Deadline() <= machine.Second {
		f.at(f.Deadline())
		sent += len(f.all())
	}
	check.Equal(t, "slices in a second", sent, 116)
}

func TestTheBudgetKeepsWhatIsLeftForTheNextChunk(t *testing.T) {
	f := fly(t, Fixed(8*2000), 16)
	f.sends(chunktest.Range(0, 15)...)
	f.acked(chunktest.Range(0, 15)...)
	f.begin(2)
	f.sends() // 15 bytes are left
	f.silentUntil(1050 * machine.Second / 2000)
	f.sends(0)
}

// Whatever is left of the budget (BUD-5).
func TestTheBurstIsGrantedWithEachChunk(t *testing.T) {
	f := fly(t, Profile{Rate: 8 * 2000, Cap: 10 * 1066, Burst: 2 * 1066}, 12)
	f.sends(chunktest.Range(0, 9)...) // the cap
	f.acked(chunktest.Range(0, 11)...)
	f.begin(12)
	f.sends(0, 1) // the burst
}

// Less what time has paid (BUD-6).
func TestAcksPayForAsManyBytes(t *testing.T) {
	f := fly(t, Profile{Rate: 8 * 1066, Cap: 4 * 1065, AckPays: true}, 12)
	f.sends(0, 1, 2, 3)
	f.at(0).acked(0, 1)
	f.sends(4, 5)
	f.at(machine.Second/2).acked(2, 3, 4)
	f.sends(6, 7, 8) // time has paid half a slice of the three; not on top of them
	f.at(machine.Second).sends()
}

// Time that went by before an ack is paid before the ack is.
func TestTimeIsPaidBeforeTheAck(t *testing.T) {
	f := fly(t, Profile{Rate: 8 * 1066, Cap: 4 * 1065, AckPays: true}, 12)
	f.sends(0, 1, 2, 3)
	f.at(3 * machine.Second).acked(0)
	f.sends(4, 5, 6) // three seconds make three slices
	check.Equal(t, "what time has paid since the ack", f.budget.byTime, 0)
}

func TestTheLastSliceIsPaidWithItsOwnLength(t *testing.T) {
	b := check.Must(New(Profile{Rate: 8 * 1066, Cap: 4000, AckPays: true}))
	b.Begin(statemachine.Flight{NumSlices: 2, Bytes: fullDatagram, LastBytes: 14 + 1})
	b.Next(0)
	b.Next(0)
	check.Equal(t, "left", b.budget.left, (4000-1065-43)*perByte)
	b.Acked(0, bitset.Of(1))
	check.Equal(t, "left after the last one's ack", b.budget.left, (4000-1065)*perByte)
	b.Acked(0, bitset.Of(0))
	check.Equal(t, "left after the other's", b.budget.left, 4000*perByte)
}

func TestAChunkBeginsWithWhatTimeHasPaid(t *testing.T) {
	f := fly(t, Fixed(8*2132), 16)
	f.sends(chunktest.Range(0, 15)...)
	f.acked(chunktest.Range(0, 15)...)
	f.at(machine.Second).begin(8)
	check.Equal(t, "left", f.budget.left, (15+2132)*perByte)
	f.sends(0, 1)
}

func TestNoChunkIsTooLargeToGoOutAtOnce(t *testing.T) {
	for _, n := range []int{1, 255, codec.MaxSlices} {
		f := fly(t, atOnce, n)
		check.Equal(t, "slices", len(f.all()), n)
	}
}
