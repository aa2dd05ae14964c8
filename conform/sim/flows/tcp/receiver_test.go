package tcp

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// Each second segment draws an ack, a lone one after 25 ms, one out of order at once.
func TestAcks(t *testing.T) {
	r := newReceiver()
	arrives := func(now core.Micros, n int64) { r.Handle(now, flows.Datagram{Message: &segment{n, n}}) }
	expect := func(now core.Micros, want *acks) {
		t.Helper()
		d, ok := r.Poll(now)
		check.Equal(t, "an ack", ok, want != nil)
		if ok {
			check.That(t, d.Message.(*acks).next == want.next, "next")
			check.Equal(t, "blocks", len(d.Message.(*acks).blocks), len(want.blocks))
			for i, b := range d.Message.(*acks).blocks {
				check.Same(t, "block", b, want.blocks[i])
			}
		}
	}
	arrives(0, 0)
	expect(0, nil)
	check.Equal(t, "deadline", r.Deadline(), 25*ms)
	arrives(1, 1)
	expect(1, &acks{next: 2})
	arrives(2*ms, 2)
	expect(26*ms, nil)
	expect(27*ms, &acks{next: 3})
	arrives(30*ms, 4)
	expect(30*ms, &acks{next: 3, blocks: []span{{4, 5}}})
	arrives(31*ms, 6)
	expect(31*ms, &acks{next: 3, blocks: []span{{6, 7}, {4, 5}}})
	arrives(32*ms, 5) // joins the two
	expect(32*ms, &acks{next: 3, blocks: []span{{4, 7}}})
	arrives(33*ms, 8)
	arrives(33*ms, 10)
	arrives(33*ms, 12)
	expect(33*ms, &acks{next: 3, blocks: []span{{12, 13}, {10, 11}, {8, 9}}}) // three at most
	arrives(34*ms, 3)
	expect(34*ms, &acks{next: 7, blocks: []span{{12, 13}, {10, 11}, {8, 9}}})
}

// Pieces in any order are news once each, and in the end all are below next.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "pieces")
		all := make([]int64, n)
		for i := range all {
			all[i] = int64(i)
		}
		var p pieces
		for i, x := range rapid.Permutation(all).Draw(t, "order") {
			check.That(t, p.add(x), "it is new")
			check.That(t, !p.add(x), "it is not new")
			covered := p.next
			for _, s := range p.above {
				check.That(t, s.from > p.next && s.to > s.from, "a block is above next")
				covered += s.to - s.from
			}
			check.Equal(t, "pieces", covered, int64(i+1))
			check.That(t, x < p.next || p.above[0].has(x), "the newest block is first")
		}
		check.Equal(t, "next", p.next, int64(n))
	})
}
