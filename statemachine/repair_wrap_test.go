package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
)

// After id 8,191 the repair slices come again, with the bytes that they had (RPX-7, RPN-2).
func TestIDsOfASenderWrap(t *testing.T) {
	c := begin(t, 3)
	first := c.send(8192)
	check.Same(t, "last id", first[8191].SliceID, 8191)
	again := c.send(8189 + 5)
	for i, s := range again[:8189] {
		check.Same(t, "id", s.SliceID, 3+i)
	}
	check.Bytes(t, "data", again[1].Data, first[4].Data)
	check.Equal(t, "ids of the third round", []int{again[8189].SliceID, again[8193].SliceID}, []int{3, 7})
	check.Equal(t, "slices sent, repair slices", []int64{c.s.stats.SlicesSent, c.s.stats.SlicesRepair}, []int64{16386, 16383})
}

// Thousands of transmissions in a row are lost, fewer than half a round: both ends know each
// number (RPN-3 to RPN-5, RPV-SAFE-6).
func TestThousandsAreLost(t *testing.T) {
	c := begin(t, 4)
	c.pass(1)
	c.agree(1, 1)
	c.lose(4094) // half a round is 4,094
	c.pass(1)
	c.agree(2, 4096)
	c.lose(4093)
	c.pass(1)
	check.Same(t, "field of 8,190", countedBy(c.s).sent, 8190)
	c.agree(3, 8190)
	c.lose(3)
	c.arrive(c.send(1)[0]) // number 8,193 with id 5: a new slice
	check.Same(t, "top, before it is complete", heldBy(c.r).previousTop, 8194)
	check.Same(t, "field", c.ack(), codec.Ack{NumSlices: 4, Have: 4, Top: 6})
}

// The same id a round later is a duplicate, by which top grows (RPR-5, RPR-6).
func TestADuplicateARoundLater(t *testing.T) {
	c := begin(t, 4)
	for _, n := range []int{4, 4094, 8000} {
		c.lose(n - countedBy(c.s).sent)
		c.pass(1)
		c.agree(len(heldBy(c.r).held), n+1)
	}
	c.arrive(sliceOf(0, 4094, 4)) // doubled by the network
	c.agree(3, 8001)
	c.lose(8192 - 8001)
	c.pass(1) // id 4 again
	c.rows("T14", "U7")
	c.agree(3, 8193)
	check.Same(t, "duplicates", c.r.stats.Duplicates, 2)
}

// A receiver of which nothing came counts fewer rounds than its sender: the sender takes
// each field as the latest number that fits (RPN-5, RPV-SAFE-6).
func TestTheFirstRoundsAreLost(t *testing.T) {
	for _, lost := range []int{8192, 16_384, 30_000} {
		c := begin(t, 2)
		c.lose(lost)
		c.pass(1)
		check.That(t, heldBy(c.r).top < 8193, "the receiver counts no rounds")
		c.agree(1, lost+1)
		c.lose(10)
		c.pass(1)
		c.delivered()
	}
}

// Beyond 16,384 transmissions with one in a thousand arriving both agree on every number.
func TestTopBeyondTwoRounds(t *testing.T) {
	c := begin(t, 20)
	for len(heldBy(c.r).held) < 18 {
		c.lose(999)
		c.pass(1)
		check.Same(t, "top of the receiver", heldBy(c.r).top, countedBy(c.s).sent)
		c.agree(len(heldBy(c.r).held), countedBy(c.s).sent)
	}
	check.That(t, countedBy(c.s).top > 16_384, "they are beyond two rounds")
}

// An ack that is late by a round is read as one of now: top then says that more was lost
// than was, and nothing else (RPN-5).
func TestAnAckThatIsLateByARound(t *testing.T) {
	c := begin(t, 3)
	c.lose(3)
	c.pass(1)
	late := c.ack()
	check.Same(t, "field", late.Top, 4)
	c.lose(8189)
	c.hear(late)
	c.knows(1, 4+8189)
	for c.r.State() != ReceiverReady {
		c.pass(1)
	}
	c.delivered()
}

// Whatever is lost, as long as no datagram is overtaken by half a round: top of both is
// right (RPV-SAFE-6).
func TestTopOfBothIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]int{2, 3, 255, 256}).Draw(t, "slices")
		c := begin(t, k)
		for countedBy(c.s).sent < 20_000 && len(heldBy(c.r).held) < k-1 {
			countedBy(c.s).sent += rapid.IntRange(0, 3900).Draw(t, "lost")
			n := rapid.IntRange(1, 5).Draw(t, "passed")
			slices, top := c.send(n), countedBy(c.s).sent
			for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4}[:n]).Draw(t, "order") {
				if len(heldBy(c.r).held) < k-1 {
					c.arrive(slices[i])
				} else {
					top = heldBy(c.r).top // the rest is lost
				}
			}
			check.Same(t, "top of the receiver", heldBy(c.r).top, top)
			c.agree(len(heldBy(c.r).held), top)
		}
	})
}
