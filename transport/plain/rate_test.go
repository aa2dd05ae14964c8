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
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// A rate that the application sets is the connection's: all lanes together keep
// to it, with what they send again, whatever their schedulers would do (LAN-12).
func TestMaxRateIsThatOfAllLanes(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const rate, size, chunks = 10 * million, 100_000, 12
		schedulers := map[string]func() (statemachine.Scheduler, error){
			"the default":       nil,
			"one without limit": func() (statemachine.Scheduler, error) { return adaptive.New(adaptive.Burst()) },
			"the base":          func() (statemachine.Scheduler, error) { return base.New(base.Burst()) },
			"one that is limited": func() (statemachine.Scheduler, error) {
				return adaptive.New(adaptive.Fixed(rate))
			},
		}
		for name, scheduler := range schedulers {
			for _, n := range []int{1, 4, 16} {
				t.Run(fmt.Sprintf("%s, %d lanes", name, n), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						cfg := v.lanes(n, func(cfg *plain.Config) { cfg.MaxRate, cfg.NewScheduler = rate, scheduler })
						r := connectEnds(t, netsim.Path{Delay: 20 * ms, Loss: 5}, cfg, v.lanes(n))
						type sent struct {
							at   time.Time
							bits int64
						}
						var all []sent
						r.tapA.DropIf(func(p packet) bool {
							if p.Type == codec.TypeSlice {
								all = append(all, sent{time.Now(), 8 * int64(p.Slice.DatagramSize()+codec.HeaderBytes)})
							}
							return false
						})
						start := time.Now()
						stream(t, r.toB, r.toA, chunks, func(int) int { return size })
						// From any slice to any later one no more goes than the rate and 21 ms of it allow:
						// what went beyond the rate until the later one is no more than that above the least.
						beyond, least := int64(0), int64(0)
						for i, s := range all {
							if i > 0 {
								beyond += all[i-1].bits*int64(time.Second) - rate*int64(s.at.Sub(all[i-1].at))
							}
							if least = min(least, beyond); beyond-least > rate*int64(21*ms) {
								t.Fatalf("%d bits too many until %v", (beyond-least)/int64(time.Second), s.at.Sub(start))
							}
						}
						// 1.2 MB take a second, and what is lost a little more.
						if took := time.Since(start); n > 1 && name != "the base" && took > 1500*ms {
							t.Errorf("it took %v", took)
						}
					})
				})
			}
		}
	})
}

// An idle connection saves nothing for later.
func TestMaxRateAfterAPause(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(func(cfg *plain.Config) {
				cfg.MaxRate = million
				cfg.NewScheduler = func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }
			}))
			for range 3 {
				start := time.Now()
				mustSend(t, w.toB, content(100*codec.SliceSize, 1))
				wantTook(t, "a chunk", start, 99*8528*time.Microsecond, 101*8528*time.Microsecond+20*ms)
				mustRecv(t, w.toA, content(100*codec.SliceSize, 1))
				time.Sleep(time.Minute)
			}
		})
	})
}

// A sender whose next slice must wait for long gives up in time.
func TestMaxRateDoesNotDelayGivingUp(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, outage, v.with(func(cfg *plain.Config) { cfg.MaxRate = statemachine.MinRate; cfg.GiveUp = 2500 * ms }))
			start := time.Now()
			wantErr(t, "Send", w.toB.Send(background, content(5000, 1)), plain.ErrGaveUp)
			wantTook(t, "Send", start, 2500*ms, 2502*ms)
		})
		for _, rate := range []int64{1, statemachine.MinRate - 1, statemachine.MaxRate + 1, -1} {
			pc, _ := netsim.NewNetwork(1).Listen("a")
			_, err := plain.New(pc, v.with(func(cfg *plain.Config) { cfg.MaxRate = rate }))
			wantErr(t, fmt.Sprint("MaxRate ", rate), err, core.ErrConfig)
			pc.Close()
		}
	})
}
