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
	for _, percent := range []int{0, 20, 50, 90} {
		for _, size := range []int{1, 1024, 1025, 262143, 262144} {
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
