package driver

import (
	"context"
	"testing"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// laborious is an end with one complete chunk, which takes some operations to make.
type laborious struct {
	ChunkEnd
	left, most int // operations; the most of them in one event
	done       int // in this event
	read       bool
}

func (e *laborious) ChunkDone() (int64, bool)   { return 0, false }
func (e *laborious) ChunkReadTime() core.Micros { return 0 }

func (e *laborious) ChunkSize() int { return count(!e.read) }

func (e *laborious) Work(operations int) bool {
	do := min(operations, e.left)
	e.left -= do
	e.done += do
	e.most = max(e.most, e.done)
	return e.left == 0
}

func (e *laborious) ReadChunk(_ core.Micros, dst []byte) ([]byte, bool) {
	e.Work(e.left)
	e.read = true
	return append(dst, 1), true
}

// plainOwner delivers, and nothing else.
type plainOwner struct{ *Link }

func (o plainOwner) UpdateLocked(now, _ core.Micros) { o.DeliverLocked(now) }
func (o plainOwner) AbandonLocked(error)             {}

// What takes long to make is made in steps, between which the others have their turn: one link after the other, also of
// connections that have ended. When the driver ends nothing is left.
func TestChunksAreMadeInSteps(t *testing.T) {
	p := &talker{t: t}
	p.d = New(udp.New(nowhere{closed: make(chan struct{})}), p, StartClock(), 100)
	links := make([]*Link, 3)
	ends := make([]*laborious, len(links))
	step := func(events func()) {
		for _, e := range ends {
			e.done = 0
		}
		events()
		sum := 0
		for _, e := range ends {
			sum += e.done
		}
		if sum > 2*stepOperations {
			t.Errorf("%d operations at once", sum)
		}
	}
	for i := range links {
		ends[i] = &laborious{left: 10 * stepOperations}
		links[i] = &Link{Links: &Links{Driver: p.d, RecvQueue: 1}, Chunks: ends[i]}
		links[i].Owner = plainOwner{links[i]}
	}
	step(func() {
		for _, l := range links {
			l.DeliverLocked(0)
		}
		links[1].EndLocked(errOver)
	})
	for turns := 0; len(p.d.working) > 1; turns++ {
		if turns > 100 {
			t.Fatal("it does not end")
		}
		if ends[1].left < ends[1].most && ends[0].left > 0 {
			t.Error("two are made at the same time")
		}
		step(func() { p.d.CollectForTest() })
	}
	p.d.EndLocked(errOver)
	for i, l := range links {
		q := NewChunkQueue(l)
		if chunk, err := q.Recv(context.Background()); len(chunk) != 1 || err != nil {
			t.Errorf("link %d: %v, %v", i, chunk, err)
		}
	}
}

// acker is a plainOwner whose link has something to send at once.
type acker struct {
	plainOwner
	p *talker
}

func (o acker) UpdateLocked(now, earliest core.Micros) {
	o.DeliverLocked(now)
	o.p.d.ScheduleLocked(&o.p.slot, earliest)
}

// The driver does not pause before the ack of a chunk that its last step has completed.
func TestNoPauseAfterAStep(t *testing.T) {
	p := &talker{t: t}
	p.d = New(udp.New(nowhere{closed: make(chan struct{})}), p, StartClock(), 100)
	p.d.pause = core.Second
	p.d.AddLocked(&p.slot, p)
	l := &Link{Links: &Links{Driver: p.d, RecvQueue: 1}, Chunks: &laborious{left: 2 * stepOperations}}
	l.Owner = acker{plainOwner{l}, p}
	l.DeliverLocked(0)
	p.d.CollectForTest()
	if l.CompleteLocked() != 1 || len(p.d.working) != 0 || p.d.sleepUntil > p.d.Now() {
		t.Errorf("%d chunks, %d in work; sleeps until %v, now is %v", l.CompleteLocked(), len(p.d.working), p.d.sleepUntil, p.d.Now())
	}
}
