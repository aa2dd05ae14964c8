package plain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/transport/plain"
)

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
