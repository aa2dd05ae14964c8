package transport_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
)

// The article's first stall: a slice arrives, its ack is lost, and the
// receiver ignores the duplicate. Here the second slice is kept back until the
// sender knows of the first, so nothing but an ack for the duplicate helps.
func TestStallDuplicateIsAckedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		acksLost, firstKnown := 0, false
		w.tapB.DropIf(func(p packet) bool {
			if acksLost == 0 {
				acksLost++
				return true
			}
			firstKnown = firstKnown || p.Ack.Acked.Has(0)
			return false
		})
		w.tapA.DropIf(func(p packet) bool { return p.Slice.SliceID == 1 && !firstKnown })

		mustSend(t, w.toB, content(1500, 1))
		mustRecv(t, w.toA, content(1500, 1))
		if acksLost != 1 || w.toA.Stats().Receiver.Duplicates == 0 {
			t.Errorf("%d acks were lost, %d duplicates came: the test tests nothing",
				acksLost, w.toA.Stats().Receiver.Duplicates)
		}
	})
}

// The article's second stall: the chunk is complete, its last acks
// are lost, and the receiver, which waits for the next chunk, ignores the slices
// of this one. It must answer them with this chunk's own bitmap.
func TestStallLastAckIsAnsweredAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		mustSend(t, w.toB, content(5*1024, 1)) // another number of slices
		mustRecv(t, w.toA, content(5*1024, 1))
		fullAcks := 0
		w.tapB.DropIf(func(p packet) bool {
			if p.Ack.ChunkID == 1 && isFullAck(p) {
				fullAcks++
				return fullAcks <= 3
			}
			return false
		})
		sent := during(func() error { return w.toB.Send(background, content(2500, 2)) })
		mustRecv(t, w.toA, content(2500, 2)) // the receiver has moved on
		if st := w.toA.Stats(); st.Receiving.ChunkID != 2 {
			t.Errorf("the receiver is at chunk %d, want 2", st.Receiving.ChunkID)
		}
		wantErr(t, "Send", <-sent, nil)
		if fullAcks < 4 {
			t.Errorf("%d full acks of chunk 1, want at least 4", fullAcks)
		}
		if n := w.tapB.Count(func(p packet) bool { return p.Ack.ChunkID == 1 && p.Ack.NumSlices != 3 }); n != 0 {
			t.Errorf("%d acks of chunk 1 have another number of slices", n)
		}
	})
}

// The same while the chunk waits to be read.
func TestStallLastAckWhileTheReaderSleeps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(func(cfg *transport.Config) { cfg.RecvQueue = 1 }))
		mustSend(t, w.toB, []byte("fills the queue"))
		fullAcks := 0
		w.tapB.DropIf(func(p packet) bool {
			fullAcks++
			return fullAcks <= 3
		})
		mustSend(t, w.toB, []byte("stays in the receiver"))
		if fullAcks < 4 || w.toA.Stats().RecvQueued != 2 {
			t.Errorf("%d full acks, %d chunks wait", fullAcks, w.toA.Stats().RecvQueued)
		}
		mustRecv(t, w.toA, []byte("fills the queue"))
		mustRecv(t, w.toA, []byte("stays in the receiver"))
		wantNothing(t, w.toA)
	})
}

// Every ack of a while is lost, then the path heals.
func TestAllAcksOfAWhileAreLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		heals := time.Now().Add(3 * time.Second)
		w.tapB.DropIf(func(p packet) bool { return time.Now().Before(heals) })
		start := time.Now()
		mustSend(t, w.toB, content(262_144, 1))
		wantTook(t, "the chunk", start, 3*time.Second, 4*time.Second)
		mustRecv(t, w.toA, content(262_144, 1))
		wantNothing(t, w.toA)
	})
}

// A forged first slice locks the genuine ones out, for half the time to
// give up.
func TestForgedFirstSlice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		forged, _ := framer.AppendSlice(nil, codec.Slice{NumSlices: 200, Data: content(1024, 9)})
		w.tapA.PacketConn.WriteTo(forged, netsim.Addr("b"))
		time.Sleep(20 * ms)
		start := time.Now()
		mustSend(t, w.toB, content(3000, 1))
		wantTook(t, "the chunk", start, 4*time.Second, 6*time.Second)
		mustRecv(t, w.toA, content(3000, 1))
		if st := w.toA.Stats().Receiver; st.Conflicts == 0 || st.Replaced != 1 {
			t.Errorf("%d conflicts, %d repins", st.Conflicts, st.Replaced)
		}
	})
}

// Acks of other chunks, or with another number of slices, do nothing.
func TestForeignAcksChangeNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		w.setPath(outage)
		d, err := w.toB.Enqueue(background, content(2048, 1))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(ms)
		w.setPath(short)
		for _, a := range []codec.Ack{
			{ChunkID: 1, NumSlices: 2, Acked: bitset.FirstN(2)},
			{ChunkID: 65535, NumSlices: 2, Acked: bitset.FirstN(2)},
			{ChunkID: 0, NumSlices: 3, Acked: bitset.FirstN(3)},
		} {
			datagram, _ := framer.AppendAck(nil, a)
			w.tapB.PacketConn.WriteTo(datagram, netsim.Addr("a"))
		}
		time.Sleep(20 * ms)
		if st := w.toB.Stats(); st.Sender.AcksIgnored != 3 || !st.Sending.Acked.Empty() || d.Err() != nil {
			t.Errorf("after foreign acks: %+v", st.Sending)
		}
		wantErr(t, "the delivery", d.Wait(background), nil)
	})
}

// paced makes a large chunk take more than a second.
func paced(cfg *transport.Config) {
	cfg.NewScheduler = func() (statemachine.Scheduler, error) { return base.New(base.Fixed(1_600_000)) }
}

// A reader that takes longer than the time to give up does not fail (CON-3).
func TestSlowReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(func(cfg *transport.Config) { cfg.RecvQueue = 1 }))
		sent := during(func() error {
			for i := range 6 {
				if err := w.toB.Send(background, content(20_000, uint64(i))); err != nil {
					return err
				}
			}
			return nil
		})
		for i := range 6 {
			time.Sleep(time.Minute)
			if n := w.toA.Stats().RecvQueued; n > 2 {
				t.Errorf("%d chunks wait to be read, want at most 2", n)
			}
			mustRecv(t, w.toA, content(20_000, uint64(i)))
		}
		wantErr(t, "sending", <-sent, nil)
	})
}

// An outage of 6 s in the middle of a chunk ends in delivery.
func TestOutageThatIsSurvived(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(paced))
		sent := during(func() error { return w.toB.Send(background, content(262_144, 1)) })
		time.Sleep(time.Second)
		if n := w.toA.Stats().Receiving.Received.Count(); n == 0 || n == 256 {
			t.Errorf("%d slices before the outage: the test tests nothing", n)
		}
		w.setPath(outage)
		time.Sleep(6 * time.Second)
		w.setPath(short)
		mustRecv(t, w.toA, content(262_144, 1))
		wantErr(t, "Send", <-sent, nil)
	})
}

// A longer one ends in an error at both ends, not in a silent wait.
func TestOutageThatIsTooLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(paced))
		sent := during(func() error { return w.toB.Send(background, content(262_144, 1)) })
		received := during(func() error { _, err := w.toA.Recv(background); return err })
		time.Sleep(time.Second)
		w.setPath(outage)
		start := time.Now()
		wantErr(t, "Recv", <-received, transport.ErrGaveUp)
		wantErr(t, "Send", <-sent, transport.ErrGaveUp)
		// Each says what it was about.
		if err := w.toA.Err(); !strings.Contains(err.Error(), "receiving chunk 0 from a") {
			t.Errorf("the receiver says: %v", err)
		}
		if err := w.toB.Err(); !strings.Contains(err.Error(), "sending chunk 0 to b") {
			t.Errorf("the sender says: %v", err)
		}
		wantTook(t, "giving up", start, 10*time.Second, 11*time.Second)
	})
}

// A process that was stopped for longer than GiveUp finds packets in its socket.
// They come before the timers, so it goes on where it was.
func TestStoppedProcess(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := &world{t: t, net: netsim.NewNetwork(1)}
		w.net.SetDefault(short)
		_, b := w.open("b", with(func(cfg *transport.Config) { cfg.GiveUp = time.Minute }))
		pc, err := w.net.Listen("a")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		stopped := &stoppedSocket{pc, start.Add(500 * ms), start.Add(11500 * ms)}
		a, err := transport.New(stopped, with(paced))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		mustSend(t, w.dial(a, "b"), content(262_144, 1))
		wantTook(t, "the chunk", start, 12*time.Second, 13*time.Second)
		c, err := b.Accept(background)
		if err != nil {
			t.Fatal(err)
		}
		mustRecv(t, c, content(262_144, 1))
	})
}

// stoppedSocket stops both goroutines of an endpoint for a while. The reader
// comes back last, so that nothing but the driver's patience helps.
type stoppedSocket struct {
	*netsim.Conn
	from, to time.Time
}

func (s *stoppedSocket) WriteTo(b []byte, addr net.Addr) (int, error) {
	s.stop(s.to)
	return s.Conn.WriteTo(b, addr)
}

func (s *stoppedSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	n, addr, err := s.Conn.ReadFrom(b)
	s.stop(s.to.Add(ms))
	return n, addr, err
}

func (s *stoppedSocket) stop(until time.Time) {
	if now := time.Now(); now.After(s.from) && now.Before(until) {
		time.Sleep(until.Sub(now))
	}
}
