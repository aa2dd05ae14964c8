package channel_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim/channel"
)

const ms = machine.Millisecond

var seedsFlag = flag.Int("channel.seeds", 0, "seeds for each figure, instead of each test's own number; -v prints the tables")

// seedsOr returns the number of seeds that was asked for, or else n.
func seedsOr(n int) int {
	if *seedsFlag > 0 {
		return *seedsFlag
	}
	return n
}

// roundTrip is that of all figures.
const roundTrip = 100 * time.Millisecond

func lossy(percent float64) netsim.Path { return netsim.Path{Delay: roundTrip / 2, Loss: percent} }

// measure fails the test unless all messages of every seed were delivered as they must be.
func measure(t *testing.T, name string, w channel.Workload, seeds int) channel.Figures {
	t.Helper()
	f, err := channel.Measure(w, 1, seeds, nil)
	if err != nil || f.Runs != seeds {
		t.Fatalf("%s: %d of seeds 1 to %d failed, the first with %v", name, f.Failed, seeds, err)
	}
	t.Logf("| %s | %s | %s | %.2f %% | %.3f %% | %.0f, %.0f |", name, inMS(f.Delay), inMS(f.Last), 100*f.Again, 100*f.Needless, f.DatagramsDown, f.DatagramsUp)
	return f
}

func inMS(q channel.Quantiles) string {
	return fmt.Sprintf("%.1f, %.1f, %.1f", float64(q.Median)/1000, float64(q.P95)/1000, float64(q.Max)/1000)
}

var kinds = []protocol.Kind{protocol.Ordered, protocol.Unordered}

// All messages of the game's workload arrive once; at most loss + 4 % are sent again; and
// where the window is wide enough all is done within 4 round trips of the last send. A window
// must hold what is sent in the round trips that a message takes at most: one more than it is
// lost.
func TestGame(t *testing.T) {
	for _, kind := range kinds {
		for _, window := range []int{512, 1024, 2048, 4096} {
			for _, loss := range []float64{0, 1, 5, 20} {
				name := fmt.Sprintf("%v, W %d, %g %%", kind, window, loss)
				f := measure(t, name, channel.Game(kind, window, lossy(loss)), seedsOr(20))
				if f.Again > loss/100+0.04 {
					t.Errorf("%s: %.2f %% sent again", name, 100*f.Again)
				}
				if loss == 0 && f.Needless > 0.001 {
					t.Errorf("%s: %.3f %% needless", name, 100*f.Needless)
				}
				_ = f
			}
		}
	}
}

// Where datagrams overtake others, or take longer, less than 1 % is sent needlessly.
func TestGameOutOfOrder(t *testing.T) {
	for _, kind := range kinds {
		for _, c := range []struct{ reorder, by, jitter, loss float64 }{
			{reorder: 1, by: 2}, {reorder: 5, by: 10}, {reorder: 50, by: 2}, {reorder: 50, by: 10},
			{jitter: 5}, {jitter: 20}, {jitter: 5, reorder: 50, by: 10}, {jitter: 20, reorder: 50, by: 10},
			{reorder: 50, by: 10, loss: 5},
		} {
			path := lossy(c.loss)
			path.Jitter = time.Duration(c.jitter) * time.Millisecond
			path.Reorder, path.ReorderDelay = c.reorder, time.Duration(c.by)*time.Millisecond
			name := fmt.Sprintf("%v, %g %% late by %g ms, jitter %g ms, %g %% loss", kind, c.reorder, c.by, c.jitter, c.loss)
			f := measure(t, name, channel.Game(kind, 1024, path), seedsOr(20))
			if f.Needless > 0.01 {
				t.Errorf("%s: %.2f %% needless", name, 100*f.Needless)
			}
		}
	}
}

// A workload that cannot be done says so.
func TestAWorkloadThatFails(t *testing.T) {
	w := channel.Game(protocol.Ordered, 512, lossy(100))
	f, err := channel.Measure(w, 1, 2, nil)
	if !errors.Is(err, channel.ErrNotDelivered) || f.Failed != 2 || f.Runs != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}
