package plain_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// The sizes around every boundary, at every loss. The
// second chunk of each pair begins from nothing, and each arrives once.
func TestEverySizeAtEveryLoss(t *testing.T) {
	for _, percent := range []int{0, 1, 5, 20, 50, 80, 90} {
		for _, size := range []int{1, 1023, 1024, 1025, 261121, 262143, 262144} {
			for _, v := range []variant{{false}, {true}} {
				t.Run(fmt.Sprintf("%d%%/%d/%t", percent, size, v.repair), func(t *testing.T) {
					t.Parallel()
					bubble(t, func(t *testing.T) { deliverTwo(t, v, percent, size) })
				})
			}
		}
	}
}

func deliverTwo(t *testing.T, v variant, percent, size int) {
	bad := netsim.Path{
		Delay: 20 * ms, Loss: float64(percent),
		Duplicate: 5, Reorder: 5, ReorderDelay: 3 * ms,
	}
	w := connect(t, bad, v.with(func(cfg *plain.Config) {
		if percent >= 80 {
			// Acks that arrive are one in 25 or one in 100.
			cfg.GiveUp = 10 * time.Minute
		}
	}))
	first, second := content(size, 1), content(max(1, size/3), 2)
	mustSend(t, w.toB, first)
	mustSend(t, w.toB, second)
	mustRecv(t, w.toA, first)
	mustRecv(t, w.toA, second)
	if percent < 50 {
		wantNothing(t, w.toA)
	}
}

// Slices of the one connection and acks of the other travel together (CON-1).
func TestBothDirectionsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, netsim.Path{Delay: 20 * ms, Loss: 5}, v.with(nil))
			there := during(func() error { return w.toB.Send(background, content(200_000, 1)) })
			back := during(func() error { return w.toA.Send(background, content(262_144, 2)) })
			mustRecv(t, w.toA, content(200_000, 1))
			mustRecv(t, w.toB, content(262_144, 2))
			wantErr(t, "there", <-there, nil)
			wantErr(t, "back", <-back, nil)
		})
	})
}

// In order, and each once, although the network doubles and reorders
// (CON-2, SAFE-1).
func TestManyChunksInOrder(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			const chunks = 300
			w := connect(t, netsim.Path{
				Delay: 5 * ms, Loss: 10, Duplicate: 20, Reorder: 20, ReorderDelay: 30 * ms,
			}, v.with(nil))
			sent := during(func() error {
				var last *plain.Delivery
				for i := range chunks {
					d, err := w.toB.Enqueue(background, content(1+i*7, uint64(i)))
					if err != nil {
						return err
					}
					last = d
				}
				return last.Wait(background)
			})
			for i := range chunks {
				mustRecv(t, w.toA, content(1+i*7, uint64(i)))
			}
			wantErr(t, "the last delivery", <-sent, nil)
			wantNothing(t, w.toA)
		})
	})
}

// What is due at time zero goes out at time zero. On a
// path without delay a chunk takes the time that its spacing takes, and that of the
// acks which open the first window, whatever the timers (SND-3).
func TestSendsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			start := time.Now()
			w := connect(t, netsim.Path{}, v.with(nil))
			mustSend(t, w.toB, []byte("now"))
			wantTook(t, "the first chunk", start, 0, 0)
			mustRecv(t, w.toA, []byte("now"))
			start = time.Now()
			mustSend(t, w.toB, content(262_144, 1))
			wantTook(t, "a large chunk", start, ms, 5*ms)
		})
	})
}

// A slice is the same bytes each time (SLC-4). No
// datagram exceeds 1200 bytes on the wire (LIM-4).
func TestDatagrams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, netsim.Path{Delay: 10 * ms, Loss: 20}, with(nil))
		mustSend(t, w.toB, content(100_000, 1))
		mustSend(t, w.toB, content(262_144, 2))
		w.tapA.Mu.Lock()
		defer w.tapA.Mu.Unlock()
		seen := map[[2]int][]byte{}
		again := 0
		for i, p := range w.tapA.Log {
			if size := len(w.tapA.Raw[i]); size > codec.MaxDatagramSize || size+48 > 1200 {
				t.Fatalf("a datagram of %d bytes", size)
			}
			key := [2]int{int(p.Slice.ChunkID), p.Slice.SliceID}
			if first, ok := seen[key]; ok {
				again++
				if !bytes.Equal(first, w.tapA.Raw[i]) {
					t.Fatalf("slice %v was not the same when it was sent again", key)
				}
			}
			seen[key] = w.tapA.Raw[i]
		}
		if again == 0 {
			t.Error("nothing was sent again: the test tests nothing")
		}
	})
}

// A size error comes at once, and changes nothing.
func TestChunkSize(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		for _, size := range []int{0, codec.MaxChunkSize + 1} {
			wantErr(t, "Send", w.toB.Send(background, make([]byte, size)), statemachine.ErrChunkSize)
			d, err := w.toB.Enqueue(background, make([]byte, size))
			wantErr(t, "Enqueue", err, statemachine.ErrChunkSize)
			if d != nil {
				t.Error("Enqueue returned a delivery and an error")
			}
		}
		time.Sleep(time.Second)
		if st := w.toB.Stats(); st.DatagramsOut != 0 || st.SendQueued != 0 {
			t.Errorf("refused chunks had an effect: %+v", st)
		}
		mustSend(t, w.toB, []byte("fine"))
		mustRecv(t, w.toA, []byte("fine"))
	})
}

func TestEnqueueBlocksOnlyWhileTheQueueIsFull(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, netsim.Path{Delay: 50 * ms}, v.with(func(cfg *plain.Config) { cfg.SendQueue = 2 }))
			start := time.Now()
			for i := range 3 { // one in flight, two behind
				if _, err := w.toB.Enqueue(background, []byte{byte(i)}); err != nil {
					t.Fatal(err)
				}
			}
			wantTook(t, "three chunks", start, 0, 0)
			if st := w.toB.Stats(); st.SendQueued != 2 {
				t.Errorf("%d chunks are queued, want 2", st.SendQueued)
			}
			d, err := w.toB.Enqueue(background, []byte{3})
			if err != nil {
				t.Fatal(err)
			}
			wantTook(t, "the fourth", start, 100*ms, 101*ms)
			if err := d.Err(); err != nil {
				t.Errorf("Err before the delivery is done: %v", err)
			}
			wantErr(t, "the fourth", d.Wait(background), nil)
			wantTook(t, "its delivery", start, 400*ms, 401*ms)
			for i := range 4 {
				mustRecv(t, w.toA, []byte{byte(i)})
			}
		})
	})
}

func TestStats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, netsim.Path{Delay: 50 * ms}, with(nil))
		w.tapA.DropIf(func(p packet) bool {
			return isSlice(p) && p.Slice.SliceID == 1 && time.Now().Nanosecond() < 120e6
		})
		w.toB.Enqueue(background, content(3*1024, 1))
		w.toB.Enqueue(background, content(10, 2))
		time.Sleep(101 * ms)
		from, to := w.toB.Stats(), w.toA.Stats()
		if v := from.Sending; v.NumSlices != 3 || v.Sent != 3 || v.Have != 2 || from.SendQueued != 1 {
			t.Errorf("sending %+v with %d queued", from.Sending, from.SendQueued)
		}
		if v := to.Receiving; v.NumSlices != 3 || v.Have != 2 || to.RecvQueued != 0 {
			t.Errorf("receiving %+v with %d queued", to.Receiving, to.RecvQueued)
		}
		time.Sleep(time.Second)
		from, to = w.toB.Stats(), w.toA.Stats()
		if from.Sending.ChunkID != 2 || from.Sending.NumSlices != 0 || to.Receiving.ChunkID != 2 || to.Receiving.NumSlices != 0 || to.RecvQueued != 2 {
			t.Errorf("at the end: sending %+v, receiving %+v, %d wait", from.Sending, to.Receiving, to.RecvQueued)
		}
		if from.Sender.Chunks != 2 || to.Receiver.ChunkBytes != 3*1024+10 {
			t.Errorf("%d chunks sent, %d bytes received", from.Sender.Chunks, to.Receiver.ChunkBytes)
		}
		slices, acks := int64(w.tapA.Count(isSlice)), int64(w.tapB.Count(isAck))
		if from.DatagramsOut != slices || from.DatagramsIn != acks || to.DatagramsOut != acks || to.BytesOut != from.BytesIn {
			t.Errorf("traffic %+v and %+v, but %d slices and %d acks", from.Traffic, to.Traffic, slices, acks)
		}
	})
}

func TestLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		seen := map[eventlog.Kind]int{}
		w := connect(t, netsim.Path{Delay: 10 * ms}, with(func(cfg *plain.Config) {
			cfg.Log = func(e eventlog.Event) {
				if e.End == eventlog.Client {
					seen[e.Kind]++
				}
			}
		}))
		mustSend(t, w.toB, content(5000, 1))
		if seen[eventlog.SliceSent] != 5 || seen[eventlog.SliceAcked] != 5 || seen[eventlog.RTTSampled] == 0 {
			t.Errorf("logged %v", seen)
		}
	})
}

func TestSchedulerOfOnesOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		made := 0
		w := connect(t, short, with(func(cfg *plain.Config) {
			cfg.NewScheduler = func() (statemachine.Scheduler, error) {
				made++
				return base.New(base.Fixed(0))
			}
		}))
		if made != 4 { // New makes one each, to see whether it can
			t.Errorf("%d schedulers for two connections", made)
		}
		start := time.Now()
		mustSend(t, w.toB, content(262_144, 1))
		wantTook(t, "a chunk without pacing", start, 20*ms, 20*ms)
	})
}

// A scheduler whose deadline lies in the past must not stop time.
func TestSchedulerWithoutPatience(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(func(cfg *plain.Config) {
			cfg.NewScheduler = func() (statemachine.Scheduler, error) {
				s, err := base.New(base.Burst())
				return impatient{s}, err
			}
		}))
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		wantErr(t, "Send", w.toB.Send(ctx, []byte("go")), nil)
	})
}

type impatient struct{ *base.Scheduler }

func (impatient) Deadline() core.Micros { return 0 }
