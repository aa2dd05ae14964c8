package plain_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/transport/internal/transporttest"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// RecvAppend appends, leaves what was there before, and returns dst with an error.
func TestRecvAppend(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(nil))
			for i := range 3 {
				mustSend(t, w.toB, content(1000*(i+1), uint64(i)))
			}
			dst := []byte("before")
			for i := range 3 {
				got, err := w.toA.RecvAppend(background, dst)
				wantErr(t, "RecvAppend", err, nil)
				if string(got[:len(dst)]) != string(dst) || string(got[len(dst):]) != string(content(1000*(i+1), uint64(i))) {
					t.Errorf("chunk %d is not behind what was there", i)
				}
			}
			ctx, cancel := context.WithTimeout(background, time.Second)
			defer cancel()
			got, err := w.toA.RecvAppend(ctx, dst)
			wantErr(t, "RecvAppend", err, plain.ErrCanceled)
			w.toA.Close()
			again, err := w.toA.RecvAppend(background, dst)
			wantErr(t, "RecvAppend", err, plain.ErrClosed)
			if string(got) != "before" || string(again) != "before" {
				t.Errorf("with an error: %q, %q", got, again)
			}
		})
	})
}

// A chunk that Recv has returned is the caller's, whatever RecvAppend does later.
func TestRecvAndRecvAppendShareNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		var kept [][]byte
		var dst []byte
		for i := range 20 {
			mustSend(t, w.toB, content(5000, uint64(i)))
			if i%3 == 0 {
				chunk, err := w.toA.Recv(background)
				wantErr(t, "Recv", err, nil)
				kept = append(kept, chunk)
				continue
			}
			var err error
			dst, err = w.toA.RecvAppend(background, dst[:0])
			wantErr(t, "RecvAppend", err, nil)
		}
		for i, chunk := range kept {
			if string(chunk) != string(content(5000, uint64(3*i))) {
				t.Errorf("chunk %d has changed", 3*i)
			}
		}
	})
}

// RecvReady says when Recv does not wait: for a chunk, and for the end.
func TestRecvReady(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		isReady := func(c *plain.Conn) bool {
			select {
			case <-c.RecvReady():
				return true
			default:
				return false
			}
		}
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(nil))
			if isReady(w.toA) {
				t.Error("ready before there is anything")
			}
			waiting := w.toA.RecvReady()
			mustSend(t, w.toB, []byte("one"))
			mustSend(t, w.toB, []byte("two"))
			<-waiting
			for _, want := range []string{"one", "two"} {
				if !isReady(w.toA) {
					t.Errorf("not ready for %q", want)
				}
				mustRecv(t, w.toA, []byte(want))
			}
			if isReady(w.toA) {
				t.Error("ready after everything was received")
			}
			waiting = w.toA.RecvReady()
			w.toA.Close()
			<-waiting
			if !isReady(w.toA) {
				t.Error("not ready for the end")
			}
		})
	})
}

// Flush returns when what was received is acked, and not before.
func TestFlush(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := &world{t: t, net: netsim.NewNetwork(1)}
			_, a := w.open("a", v.with(nil))
			pc, _ := w.net.Listen("b")
			tapped := transporttest.NewTap(pc, &w.mu, 1)
			tapped.Takes = ms
			b, err := plain.New(tapped, v.with(nil))
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			sent := during(func() error { return w.dial(a, "b").Send(background, []byte("hello")) })
			c, err := b.Accept(background)
			wantErr(t, "Accept", err, nil)
			mustRecv(t, c, []byte("hello"))
			wantErr(t, "Flush", c.Flush(background), nil)
			if tapped.Count(isFullAck) == 0 {
				t.Error("Flush returned before the chunk was acked")
			}
			wantErr(t, "Send", <-sent, nil)
			wantErr(t, "Flush of nothing", c.Flush(background), nil)
			c.Close()
			wantErr(t, "Flush after the end", c.Flush(background), plain.ErrClosed)
		})
	})
}

// With a limit, chunks beyond it are neither received nor answered, on any number
// of lanes; what came before is answered as long as it is asked for.
func TestRecvLimit(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		for _, n := range []int{1, 3} {
			for _, limit := range []int64{1, 2, 5} {
				t.Run(fmt.Sprintf("%d lanes, limit %d", n, limit), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						r := connectEnds(t, netsim.Path{Delay: 10 * ms, Loss: 20}, v.lanes(n), v.lanes(n, func(cfg *plain.Config) { cfg.RecvLimit = limit }))
						var all []*plain.Delivery
						for i := range 7 {
							all = append(all, enqueue(t, r.toB, content(3000, uint64(i)))...)
						}
						for i := range limit {
							mustRecv(t, r.toA, content(3000, uint64(i)))
						}
						<-r.toB.Done()
						wantErr(t, "the sender", r.toB.Err(), plain.ErrGaveUp)
						for i, d := range all {
							if want := int64(i) < limit; (d.Err() == nil) != want {
								t.Errorf("chunk %d: %v", i, d.Err())
							}
						}
						wantErr(t, "the receiver", r.toA.Err(), nil)
						if st := r.toA.Stats(); st.RecvQueued != 0 || st.Receiver.Chunks != limit || st.Receiver.SlicesStored != 3*limit {
							t.Errorf("%+v", st.Receiver)
						}
					})
				})
			}
		}
	})
}

// The last chunk within the limit is answered again if its ack was lost.
func TestRecvLimitAnswersTheLastChunkAgain(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(func(cfg *plain.Config) { cfg.RecvLimit = 1 }))
			lost := 0
			w.tapB.DropIf(func(p packet) bool { lost++; return lost <= 3 })
			sent := during(func() error { return w.toB.Send(background, []byte("the only one")) })
			mustRecv(t, w.toA, []byte("the only one"))
			wantErr(t, "Send", <-sent, nil)
			if lost < 4 {
				t.Errorf("%d acks were sent", lost)
			}
		})
	})
}

// What does not decode is no sign of a peer, wherever it comes from (CON-4).
func TestWhatDoesNotDecodeIsNoSignOfLife(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(func(cfg *plain.Config) { cfg.IdleTimeout = 3 * time.Second }))
		mustSend(t, w.toB, []byte("hello"))
		mustRecv(t, w.toA, []byte("hello"))
		start := time.Now()
		bad := sliceDatagram(codec.Slice{ChunkID: 1, NumSlices: 1, Data: []byte("x")})
		bad[0] ^= 1
		for w.toA.Err() == nil && time.Since(start) < time.Minute {
			w.tapA.PacketConn.WriteTo(bad, netsim.Addr("b"))
			time.Sleep(100 * ms)
		}
		wantErr(t, "the connection", w.toA.Err(), plain.ErrIdle)
		wantTook(t, "its end", start, 2900*ms, 3200*ms)
		st := w.b.Stats()
		if st.Undecodable == 0 || st.UndecodableFrom != netsim.Addr("a") || w.toA.Stats().DatagramsIn != 1 {
			t.Errorf("%d undecodable from %v", st.Undecodable, st.UndecodableFrom)
		}
	})
}

// Wait stops waiting with its context, and leaves the delivery alone; one that is
// done is reported whatever the context.
func TestWaitOnlyWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, netsim.Path{Delay: time.Second}, with(nil))
		d, err := w.toB.Enqueue(background, []byte("takes two seconds"))
		wantErr(t, "Enqueue", err, nil)
		queued, err := w.toB.Enqueue(background, []byte("and this one more"))
		wantErr(t, "Enqueue", err, nil)
		reason := errors.New("limit reached")
		ctx, cancel := context.WithTimeoutCause(background, time.Second, reason)
		defer cancel()
		wantErr(t, "Wait", d.Wait(ctx), plain.ErrCanceled, context.DeadlineExceeded, reason)
		wantErr(t, "Wait", queued.Wait(ctx), plain.ErrCanceled)
		wantErr(t, "the connection", w.toB.Err(), nil)
		wantErr(t, "Wait again", d.Wait(background), nil)
		wantErr(t, "Wait again", queued.Wait(background), nil)
		wantErr(t, "Wait when it is done", d.Wait(ctx), nil)
		d.Cancel(reason) // too late
		wantErr(t, "the connection", w.toB.Err(), nil)
		synctest.Wait()
	})
}

// A scheduler that cannot be made is found when the endpoint is.
func TestSchedulerThatCannotBeMade(t *testing.T) {
	for name, make := range map[string]func() (statemachine.Scheduler, error){
		"an error": func() (statemachine.Scheduler, error) { return nil, core.ConfigError("Profile.Rate", 1, "more") },
		"nil":      func() (statemachine.Scheduler, error) { return nil, nil },
	} {
		pc, _ := netsim.NewNetwork(1).Listen("a")
		_, err := plain.New(pc, with(func(cfg *plain.Config) { cfg.NewScheduler = make }))
		wantErr(t, name, err, core.ErrConfig)
		wantErr(t, "the socket", pc.Close(), nil)
	}
	bubble(t, func(t *testing.T) { // one that can, but not for long
		made := 0
		s := serve(t, with(func(cfg *plain.Config) {
			cfg.NewScheduler = func() (statemachine.Scheduler, error) {
				if made++; made > 1 {
					return nil, errBroken
				}
				return adaptive.New(adaptive.Adaptive())
			}
		}))
		s.says("x", beginning())
		if st := s.b.Stats(); st.Peers != 0 || st.Refused != 1 {
			t.Errorf("%d peers, %d refused", st.Peers, st.Refused)
		}
		_, err := s.b.Dial(netsim.Addr("x"))
		wantErr(t, "Dial", err, errBroken)
	})
}
