package tcp

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

var models = []struct {
	name string
	Config
}{
	{"NewReno", Config{}},
	{"NewReno, 7/10", Config{Beta: Ratio{7, 10}}},
	{"NewReno, paced", Config{Paced: true}},
	{"CUBIC", Config{Model: Cubic}},
	{"CUBIC, HyStart++", Config{Model: Cubic, HyStart: true}},
	{"CUBIC, HyStart++, paced", Config{Model: Cubic, HyStart: true, Paced: true}},
	{"quic-go", Config{Model: QuicGo}},
	{"kcp-go turbo", Config{Model: Turbo}},
}

// Paths whose queue holds what the link carries in a round trip.
var (
	middle = wire(10_000_000, 50*time.Millisecond, 60)
	narrow = wire(1_000_000, 100*time.Millisecond, 12)
	large  = wire(100_000_000, 50*time.Millisecond, 587)
)

// Alone on a link each model fills it.
func TestAloneOnALink(t *testing.T) {
	for _, p := range []netsim.Path{narrow, middle, large} {
		for _, m := range models {
			f := figures(over(p, 1, m.Config), 10*second, 70*second)
			what := fmt.Sprintf("%s, %d kbit/s, use (queue drops %.2f %%)", m.name, p.Rate/1000, 100*f.LostQueue)
			t.Logf("%s: %.3f", what, f.Use)
			atLeast(t, what, f.Use, 0.9)
		}
	}
}

// The throughput of NewReno under random loss is about 1.22 / (RTT sqrt p) datagrams a
// second (Mathis and others, 1997).
func TestThroughputUnderLoss(t *testing.T) {
	for _, percent := range []float64{1, 0.1} {
		p := wire(1_000_000_000, 100*time.Millisecond, 10_000)
		p.Loss = percent
		got := float64(figures(over(p, 7, Config{}), 20*second, 620*second).Total.News)
		want := 600 * 1.22 / 0.1 / math.Sqrt(percent/100)
		t.Logf("%.1f %%: %.0f datagrams, formula %.0f", percent, got, want)
		if got < want*2/3 || got > want*4/3 {
			t.Errorf("%.1f %%: %.0f datagrams, want %.0f within a third", percent, got, want)
		}
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		name  string
		path  netsim.Path
		flows []Config
	}{
		{"two NewReno", middle, []Config{{}, {Start: 137 * ms}}},
		{"two CUBIC", middle, []Config{{Model: Cubic}, {Model: Cubic, Start: 5 * second}}},
		{"four NewReno", middle, []Config{{}, {Start: second}, {Start: 2 * second}, {Start: 3 * second}}},
		{"NewReno, CUBIC", large, []Config{{}, {Model: Cubic}}},
		{"two quic-go", middle, []Config{{Model: QuicGo}, {Model: QuicGo, Start: 5 * second}}},
		{"NewReno, quic-go", middle, []Config{{}, {Model: QuicGo}}},
		{"NewReno, turbo", middle, []Config{{}, {Model: Turbo}}},
		{"CUBIC, turbo", large, []Config{{Model: Cubic}, {Model: Turbo}}},
		{"NewReno, CUBIC small", middle, []Config{{}, {Model: Cubic}}},
	} {
		f := figures(over(c.path, 1, c.flows...), 60*second, 120*second)
		t.Logf("%s: %v, J %.3f, use %.3f", c.name, f.Shares, f.Jain, f.Use)
	}
}
