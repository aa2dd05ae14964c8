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
	flow func() flow
}{
	{"NewReno", func() flow { return of(Config{}) }},
	{"NewReno, 7/10", func() flow { return of(Config{Beta: Ratio{7, 10}}) }},
	{"NewReno, paced", func() flow { return of(Config{Paced: true}) }},
	{"CUBIC", func() flow { return of(Config{Control: Cubic}) }},
	{"CUBIC, HyStart++", func() flow { return of(Config{Control: Cubic, Start: HyStart}) }},
	{"CUBIC, HyStart++, paced", func() flow { return of(Config{Control: Cubic, Start: HyStart, Paced: true}) }},
}

var wires = []netsim.Path{
	wire(10_000_000, 50*time.Millisecond, 60),
	wire(20_000_000, 30*time.Millisecond, 71),
	wire(100_000_000, 50*time.Millisecond, 587),
	wire(1_000_000, 100*time.Millisecond, 73),
}

// Alone on a link whose queue holds what the link carries in a round trip, each fills it.
func TestAloneOnALink(t *testing.T) {
	for _, p := range wires {
		for _, m := range models {
			w := over(p, 1, m.flow())
			w.during(10 * second)
			got := w.during(60 * second)
			lost := float64(w.down.Stats().LostQueue) / float64(w.down.Stats().Sent)
			t.Logf("%d kbit/s, %v, %s: use %.3f, lost %.4f", p.Rate/1000, 2*p.Delay, m.name, w.use(sum(got), 60*second), lost)
			atLeast(t, fmt.Sprintf("%d bit/s, %s", p.Rate, m.name), w.use(sum(got), 60*second), 0.9)
		}
	}
}

// The throughput of NewReno under random loss is about 1.22 / (RTT sqrt p) datagrams a
// second (Mathis and others, 1997; 0.87 of it with delayed acks, if acks are counted).
func TestThroughputUnderLoss(t *testing.T) {
	for _, percent := range []float64{1, 0.1} {
		p := wire(1_000_000_000, 100*time.Millisecond, 10_000)
		p.Loss = percent
		w := over(p, 7, of(Config{}))
		w.during(20 * second)
		got := float64(sum(w.during(600 * second)))
		want := 600 * 1.22 / 0.1 / math.Sqrt(percent/100)
		t.Logf("%.1f %%: %.0f datagrams, formula %.0f", percent, got, want)
		if got < want*2/3 || got > want*4/3 {
			t.Errorf("%.1f %%: %.0f datagrams, want %.0f within a third", percent, got, want)
		}
	}
}

func TestShares(t *testing.T) {
	big := wire(100_000_000, 50*time.Millisecond, 587)
	for _, c := range []struct {
		name  string
		path  netsim.Path
		flows []flow
	}{
		{"two NewReno", wires[0], []flow{of(Config{}), of(Config{})}},
		{"two CUBIC", wires[0], []flow{of(Config{Control: Cubic}), of(Config{Control: Cubic})}},
		{"four NewReno", wires[0], []flow{of(Config{}), of(Config{}), of(Config{}), of(Config{})}},
		{"NewReno, CUBIC", big, []flow{of(Config{}), of(Config{Control: Cubic})}},
		{"NewReno, CUBIC small", wires[0], []flow{of(Config{}), of(Config{Control: Cubic})}},
	} {
		w := over(c.path, 1, c.flows...)
		w.during(60 * second)
		got := w.during(60 * second)
		t.Logf("%s: %v, J %.3f, use %.3f", c.name, got, jain(got), w.use(sum(got), 60*second))
	}
}
