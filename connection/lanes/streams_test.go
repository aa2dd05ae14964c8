package lanes_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// Two networks of the tables, and what they lose in percent.
var networks = []struct {
	name   string
	losses []float64
	netsim.Path
}{
	{"S1", []float64{0, 5, 20}, netsim.Path{Rate: 100 * million, Delay: 25 * time.Millisecond, Queue: 1 << 20, Overhead: codec.HeaderBytes}},
	{"S2", []float64{5}, netsim.Path{Rate: 10 * million, Delay: 25 * time.Millisecond, Queue: 256 << 10, Overhead: codec.HeaderBytes}},
}

// 16 MiB over eight lanes: with repair slices a stream is not slower than with named ones, and
// chunks are not sent in vain because a lane still waits for its turn (RPI-4).
func TestStreamsOfBothVariants(t *testing.T) {
	const chunks, n = 64, 8
	for _, network := range networks {
		for _, loss := range network.losses {
			var took [2]core.Micros
			for i, v := range variants {
				path := network.Path
				path.Loss = loss
				w := newWorld(path, v.of(n), v.of(n))
				w.stream(t, chunks, 600*second, func(int) int { return codec.MaxChunkSize })
				took[i] = w.Now()
				sender, receiver := w.a.Stats().Sender, w.b.Stats().Receiver
				t.Logf("%s %2g %%, %-6s: %6.2f s, %.3f of the slices, %5d held, %4d dependent, %3d timeouts, %d lost", network.name, loss, v.name, took[i].Duration().Seconds(),
					float64(sender.SlicesSent)/(chunks*codec.MaxSlices), receiver.Held, receiver.Dependent, sender.Schedule.Timeouts, sender.Schedule.Lost)
			}
			if took[1] > took[0]*105/100 {
				t.Errorf("%s %g %%: %d us with repair, %d without", network.name, loss, took[1], took[0])
			}
		}
	}
}

// Many that send one chunk share its repair slices: each is made once, however many receivers ask
// for it, and whatever each of them has lost.
func TestManySendersShareAnEncoding(t *testing.T) {
	const receivers = 1000
	chunk := erasure.Encode(content(codec.MaxChunkSize, 1))
	sent, made := 0, map[int]map[*byte]bool{} // where the bytes of a repair slice are
	for i := range receivers {
		w := newWorldOf(uint64(i+1), netsim.Path{Delay: 25 * time.Millisecond, Loss: 5}, variants[1].of(1), variants[1].of(1))
		check.Must(w.a.SubmitEncoded(0, chunk))
		check.That(t, w.Run(10*second, func() bool { return w.b.ReadSize() > 0 }), "it arrives")
		check.Bytes(t, "chunk", first(w.b.Read(w.Now(), nil)), chunk.Bytes())
		for _, p := range w.a.sent {
			if s := p.slice; p.typ == codec.TypeSlice && !s.Source() {
				if made[s.SliceID] == nil {
					made[s.SliceID] = map[*byte]bool{}
				}
				made[s.SliceID][&s.Data[0]] = true
				sent++
			}
		}
	}
	encodings := 0
	for _, places := range made {
		encodings += len(places)
	}
	t.Logf("%d repair slices were sent to %d receivers, and %d were made", sent, receivers, encodings)
	check.Equal(t, "repair slices that were made", encodings, len(made))
	check.That(t, sent > 4*receivers && encodings < 64, "each is sent often")
}
