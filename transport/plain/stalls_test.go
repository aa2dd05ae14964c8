package plain_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// The same while the chunk waits to be read.
func TestStallLastAckWhileTheReaderSleeps(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(func(cfg *plain.Config) { cfg.RecvQueue = 1 }))
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
	})
}

// paced makes a large chunk take more than a second.
func paced(cfg *plain.Config) {
	cfg.NewScheduler = func() (statemachine.Scheduler, error) { return base.New(base.Fixed(1_600_000)) }
	cfg.NewRepairScheduler = func() (statemachine.Scheduler, error) { return plain.Fixed.NewScheduler(codec.Repair, 1_600_000) }
}

// A longer one ends in an error at both ends, not in a silent wait.
func TestOutageThatIsTooLong(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(paced))
			sent := during(func() error { return w.toB.Send(background, content(262_144, 1)) })
			received := during(func() error { _, err := w.toA.Recv(background); return err })
			time.Sleep(time.Second)
			w.setPath(outage)
			start := time.Now()
			wantErr(t, "Recv", <-received, plain.ErrGaveUp)
			wantErr(t, "Send", <-sent, plain.ErrGaveUp)
			// Each says what it was about.
			if err := w.toA.Err(); !strings.Contains(err.Error(), "connection with a: lanes: receiving chunk 0") {
				t.Errorf("the receiver says: %v", err)
			}
			if err := w.toB.Err(); !strings.Contains(err.Error(), "connection with b: lanes: sending chunk 0") {
				t.Errorf("the sender says: %v", err)
			}
			wantTook(t, "giving up", start, 10*time.Second, 11*time.Second)
		})
	})
}

// A process that was stopped for longer than GiveUp finds packets in its socket.
// They come before the timers, so it goes on where it was.
func TestStoppedProcess(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := &world{t: t, net: netsim.NewNetwork(1)}
			w.net.SetDefault(short)
			_, b := w.open("b", v.with(func(cfg *plain.Config) { cfg.GiveUp = time.Minute }))
			pc, err := w.net.Listen("a")
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			stopped := &stoppedSocket{pc, start.Add(500 * ms), start.Add(11500 * ms)}
			a, err := plain.New(stopped, v.with(paced))
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
