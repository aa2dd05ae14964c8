package tcp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// The originals were measured in virtual time over links of package netsim: what follows are
// medians of tools/bench/RESULTS.md for a first block of 256 KiB and for a stream of 16 MiB, in
// milliseconds, and for kcp-go the bytes sent over those of the block. The originals' other
// direction, their random draws and their acks are not the models', so the figures are not
// the same ones.
var originals = []struct {
	model   Model
	network string
	loss    int // percent, each way
	kib     int64
	took    float64
	bytes   float64 // 0: not compared
}{
	{QuicGo, "S1", 0, 256, 153, 0},
	{QuicGo, "S1", 1, 256, 219, 0},
	{QuicGo, "S1", 5, 256, 594, 0},
	{QuicGo, "S1", 20, 256, 2828, 0},
	{QuicGo, "S2", 0, 256, 263, 0},
	{QuicGo, "S2", 5, 256, 567, 0},
	{QuicGo, "S3", 0, 256, 2246, 0},
	{QuicGo, "S3", 5, 256, 2463, 0},
	{QuicGo, "S1", 0, 16 << 10, 1579, 0},
	{QuicGo, "S1", 1, 16 << 10, 39783, 0},
	{QuicGo, "S1", 5, 16 << 10, 99283, 0},
	{QuicGo, "S2", 0, 16 << 10, 14079, 0},
	{QuicGo, "S2", 1, 16 << 10, 40962, 0},
	{QuicGo, "S2", 5, 16 << 10, 102989, 0},
	{Turbo, "S1", 0, 256, 47, 1.04},
	{Turbo, "S1", 1, 256, 92, 1.06},
	{Turbo, "S1", 5, 256, 105, 1.11},
	{Turbo, "S1", 20, 256, 325, 1.44},
	{Turbo, "S2", 0, 256, 302, 1.37},
	{Turbo, "S2", 5, 256, 331, 1.49},
	{Turbo, "S3", 0, 256, 3749, 4.10},
	{Turbo, "S1", 0, 16 << 10, 1618, 1.34},
	{Turbo, "S1", 1, 16 << 10, 2179, 1.23},
	{Turbo, "S1", 5, 16 << 10, 2789, 1.35},
	{Turbo, "S2", 0, 16 << 10, 16340, 3.12},
	{Turbo, "S2", 1, 16 << 10, 16438, 3.13},
	{Turbo, "S2", 5, 16 << 10, 17706, 3.12},
}

// overheads are the bytes of a datagram that are no data: QUIC's header, tag and frame, and
// kcp-go's header in datagrams of 1,400 bytes.
var overheads = map[Model]struct{ size, headers int64 }{QuicGo: {1280, 30}, Turbo: {turboMTU, 24}}

// tolerance is how far a model's median may be from the original's.
const tolerance = 0.25

func TestModelsAgreeWithTheirOriginals(t *testing.T) {
	for _, o := range originals {
		var times, bytes []float64
		payload := overheads[o.model].size - overheads[o.model].headers
		c := Config{Model: o.model, Size: int(overheads[o.model].size), Total: o.kib << 10 / payload}
		for seed := range uint64(5) {
			took, sent := transfer(t, measure.Cell{Network: o.network, Loss: o.loss}, seed, c)
			times = append(times, float64(took/ms))
			bytes = append(bytes, float64(sent*(overheads[o.model].size+headers))/float64(o.kib<<10))
		}
		slices.Sort(times)
		slices.Sort(bytes)
		what := fmt.Sprintf("%v, %s %d %%, %d KiB", o.model, o.network, o.loss, o.kib)
		near(t, what+": ms", times[2], o.took)
		if o.bytes > 0 {
			near(t, what+": bytes", bytes[2], o.bytes)
		}
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	t.Logf("%s: %.2f, original %.2f", what, got, want)
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: %.2f, original %.2f", what, got, want)
	}
}

// transfer returns how long a flow takes until all has arrived, without the round trip of a
// handshake, and how many datagrams of data it sends until a second later.
func transfer(t *testing.T, cell measure.Cell, seed uint64, c Config) (took core.Micros, sent int64) {
	t.Helper()
	p := cell.Path()
	w := check.Must(flows.NewWorld(flows.Path{Down: p, Up: p}, seed))
	sends, receives := New(c)
	f := w.Add("block", sends, receives)
	now := ms
	for ; f.Counts(flows.Down, 0, now+flows.Slot).News < c.Total; now += max(ms, now/500/ms*ms) {
		if w.Run(now); now > 600*second {
			t.Fatalf("%v: not done", cell)
		}
	}
	w.Run(now + second)
	if c.Model == QuicGo {
		took -= core.FromDuration(2 * p.Delay)
	}
	return took + now, f.Counts(flows.Down, 0, now+second+flows.Slot).Data
}
