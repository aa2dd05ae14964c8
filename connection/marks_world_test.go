package connection_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

// fielded is a datagram with the field ECN.
type fielded struct {
	data  []byte
	field connection.ECN
}

// fieldedEnd is a connection in a world of such datagrams.
type fieldedEnd struct{ *connection.Conn }

func (e fieldedEnd) Handle(now core.Micros, d fielded) {
	_ = e.ReceiveECN(now, d.data, d.field)
	e.ReadChunk(now, nil)
}

func (e fieldedEnd) Poll(now core.Micros) (d fielded, ok bool) {
	if d.data, ok = e.Conn.Poll(now, nil); e.ECT() {
		d.field = connection.ECT0
	}
	return d, ok
}

// answering is a scheduler that knows nothing of the path but marks: it halves its rate for them, at
// most once in 100 ms, and else lets it grow by a slice a second for each that arrives.
type answering struct {
	statemachine.Scheduler
	rate       int64 // slices a second
	at, marked core.Micros
}

func newAnswering() (statemachine.Scheduler, error) {
	s, err := lanes.Burst.NewScheduler(codec.Named, 0)
	return &answering{Scheduler: s, rate: 200}, err
}

func (s *answering) Acked(now core.Micros, p statemachine.Progress) {
	s.rate += int64(p.News.Count())
	s.Scheduler.Acked(now, p)
}

func (s *answering) Marked(now core.Micros, _ int) {
	if now >= s.marked+100*ms {
		s.rate, s.marked = max(s.rate/2, 1), now
	}
}

func (s *answering) Next(now core.Micros) (id int, ok bool) {
	if now < s.at {
		return 0, false
	}
	if id, ok = s.Scheduler.Next(now); ok {
		s.at = max(now, s.at) + core.Second/core.Micros(s.rate)
	}
	return id, ok
}

func (s *answering) Deadline() core.Micros { return max(s.at, s.Scheduler.Deadline()) }

// crossing is two connections that send chunks without end over one link of 10 Mbit/s, whose queue
// holds 100 ms and marks above 10 ms.
type crossing struct {
	senders [2]*connection.Conn
	link    *netsim.Link
	longest time.Duration // that a datagram has waited, from the fifth second on
	done    [2]int        // chunks
}

// talker is an end that also sends 60 messages a second.
type talker struct {
	fieldedEnd
	next core.Micros
}

func (e *talker) Poll(now core.Micros) (d fielded, ok bool) {
	if now >= e.next {
		_ = e.Send(now, unreliable, make([]byte, 60), 0)
		e.next = now + core.Second/60
	}
	return e.fieldedEnd.Poll(now)
}

func (e *talker) Deadline() core.Micros { return min(e.next, e.fieldedEnd.Deadline()) }

func cross(agreed session.Agreed, newScheduler func() (statemachine.Scheduler, error), onPath func(connection.ECN) connection.ECN, reorder float64) *crossing {
	const bytesPerMS = 1250
	path := netsim.Path{Delay: 20 * time.Millisecond, Rate: 10e6, Queue: 100 * bytesPerMS, MarkAbove: 10 * bytesPerMS, Overhead: codec.HeaderBytes}
	c := &crossing{link: check.Must(netsim.NewLink(path, 1))}
	back := check.Must(netsim.NewLink(netsim.Path{Delay: 20 * time.Millisecond, Reorder: reorder, ReorderDelay: 1500 * time.Microsecond}, 2))
	var ends []sim.End[fielded]
	for i := range c.senders {
		agreed.Lanes = 1
		cfg := connection.Config{Chunks: lanes.Config{NewScheduler: newScheduler}}
		a, b := pairOf(session.CRC, agreed, cfg, connection.Config{})
		c.senders[i] = a
		ends = append(ends, fieldedEnd{a}, &talker{fieldedEnd: fieldedEnd{b}})
	}
	w := sim.NewWorld(func(now time.Duration, from int, d fielded, deliver func(time.Duration, int, fielded)) {
		through, to := c.link, from^1
		if from%2 == 1 {
			through = back
		}
		arrivals := through.Send(now, len(d.data))
		if d.field = onPath(d.field); arrivals.Marked() && d.field == connection.ECT0 {
			d.field = connection.CE
		}
		for i := range arrivals.Len() {
			deliver(arrivals.At(i), to, d)
		}
		if from%2 == 0 && now > 5*time.Second {
			c.longest = max(c.longest, c.link.Wait(now))
		}
	}, ends...)
	chunk := make([]byte, codec.MaxChunkSize)
	for _, a := range c.senders {
		check.Must(a.SendChunk(0, chunk))
		check.Must(a.SendChunk(0, chunk))
	}
	w.Run(20*second, func() bool {
		for i, a := range c.senders {
			if _, ok := a.ChunkDone(); ok {
				c.done[i]++
				check.Must(a.SendChunk(w.Now(), chunk))
			}
		}
		return false
	})
	return c
}

// Two connections that answer marks keep the queue of a link that marks short, and lose nothing;
// where the marks are taken away they fill it, as they do without, and are told nothing (CXM-16).
func TestMarksKeepAQueueShort(t *testing.T) {
	with, without, taken := cross(marking, newAnswering, asSent, 0), cross(plenty, newAnswering, asSent, 0), cross(marking, newAnswering, bleached, 0)
	usual := cross(marking, nil, asSent, 0)
	for name, c := range map[string]*crossing{"with marks": with, "without": without, "taken away": taken, "with marks and the usual scheduler": usual} {
		stats := c.link.Stats()
		t.Logf("%s: at most %v in the queue, %d of %d lost, %v chunks, %d and %d told", name, c.longest, stats.LostQueue, stats.Sent, c.done,
			c.senders[0].Counts().CEReported, c.senders[1].Counts().CEReported)
	}
	for _, c := range []*crossing{with, usual} {
		check.Equal(t, "lost with marks", c.link.Stats().LostQueue, 0)
		check.That(t, c.longest < 50*time.Millisecond, "the queue is short")
		check.That(t, c.senders[0].Counts().CEReported > 0, "marks are told")
	}
	check.That(t, without.link.Stats().LostQueue > 0 && taken.link.Stats().LostQueue > 0, "without marks it is full")
	for i, a := range taken.senders {
		check.That(t, with.senders[i].Counts().CEReported > 0, "marks are told")
		check.Equal(t, "told, where they are taken away", a.Counts().CEReported, 0)
		check.That(t, a.Counts().ECTSent <= 2*connection.ECNProbes, "where they are taken away nothing is marked any more")
		check.That(t, 10*with.done[i] >= 7*without.done[i], "as many chunks come")
	}
}

// Acks that overtake each other end nothing: nearly all slices go with ECT(0) (CXM-16).
func TestMarksOutliveReorderedAcks(t *testing.T) {
	for _, percent := range []float64{0.1, 1, 10} {
		for _, a := range cross(marking, nil, asSent, percent).senders {
			counts, slices := a.Counts(), a.ChunkStats().Sender.SlicesSent
			t.Logf("%v %% of the acks are late: %d of %d slices with ECT(0), %d marks told", percent, counts.ECTSent, slices, counts.CEReported)
			check.That(t, counts.ECTSent*100 >= slices*99, "they go with ECT(0)")
			check.That(t, counts.CEReported > 0, "marks are told")
		}
	}
}
