package bench

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Two paths are on one link: what one sends, the other waits for.
func TestPathsShareALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		paths := newPaths(Cell{Rate: 1e6, RTT: 20 * ms, Queue: 64 * kilo}, 1, 2)
		payload := make([]byte, 1250-overhead) // 10 ms
		start := time.Now()
		for range 5 {
			for _, p := range paths {
				if _, err := p.server.WriteTo(payload, clientAddr); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, p := range paths {
			for range 5 {
				if _, from, err := p.client.ReadFrom(make([]byte, 2000)); err != nil || from != serverAddr {
					t.Fatalf("from %v: %v", from, err)
				}
			}
			if got, want := p.toClient.Load(), int64(5*1250); got != want {
				t.Errorf("path %d: %d bytes came, want %d", i, got, want)
			}
			p.close()
		}
		if took := time.Since(start); took != 110*ms {
			t.Errorf("ten datagrams of 10 ms took %v", took)
		}
		if down, _ := paths[1].links(); down.Sent != 10 || paths[0].bytes() != 10*1250 {
			t.Errorf("%d datagrams, %d bytes on the link", down.Sent, paths[0].bytes())
		}
	})
}

// Without kcp-go, whose timers do not run in virtual time as they are.
func flowPeers() []Peer { return append(ourFlows(), quicPeer()) }

// Everything that every load has arrives, in no less time than the path allows.
func TestLoads(t *testing.T) {
	c := link(10, 40, 128)
	slow, both := stream(3*block), stream(2*block)
	slow.Pause, both.Both = 500*ms, true
	for _, of := range []struct {
		name  string
		load  Load
		flows int
		least time.Duration
	}{
		{"one by one", oneByOne(2, block), 1, settle + 2*210*ms},
		{"two streams", stream(2 * block), 2, 4 * 210 * ms},
		{"slow reader", slow, 1, 3 * 500 * ms},
		{"both ways", both, 1, 2 * 210 * ms},
	} {
		for _, p := range flowPeers() {
			t.Run(of.name+", "+p.Name, func(t *testing.T) {
				plan := FlowPlan{Cell: c, Sample: 20 * ms}
				for range of.flows {
					plan.Flows = append(plan.Flows, Flow{Peer: p, Load: of.load})
				}
				r := runFlows(t, plan, 1)
				if _, err := r.failures(); err != nil {
					t.Fatal(err)
				}
				for i, f := range r.Flows {
					if len(f.Took) != len(of.load.Sizes) || !slices.IsSorted(f.At) || f.At[len(f.At)-1] > r.All {
						t.Errorf("flow %d: its blocks came at %v, all by %v", i, f.At, r.All)
					}
				}
				if ways := len(r.Flows) / of.flows; (ways == 2) != of.load.Both {
					t.Errorf("%d ways", ways)
				}
				if ratio := r.ratio(plan); r.All < of.least || r.All > 3*of.least || ratio < 1.03 {
					t.Errorf("all took %v, with %.2f times the bytes", r.All, ratio)
				}
			})
		}
	}
}

// A run of streams without end ends when it is to, and a flow that begins late is late.
func TestStreamsEnd(t *testing.T) {
	for _, p := range flowPeers()[3:] {
		c := Couple{Cell: link(10, 40, 128), First: p, Second: p, Late: 2 * time.Second, For: 6 * time.Second}
		r := runFlows(t, c.plan(), 1)
		if _, err := r.failures(); err != nil || r.All != c.For {
			t.Fatalf("%s ended after %v: %v", p.Name, r.All, err)
		}
		if first := r.Flows[1].At[0]; first < c.Late {
			t.Errorf("%s: the second had a block after %v", p.Name, first)
		}
		if rates := r.rates(c.plan(), 0, c.For); total(rates) < 5 || total(rates) > 10 {
			t.Errorf("%s: %v Mbit/s", p.Name, rates)
		}
		s := share(c, r.Samples)
		if len(s.Points) < 5 || s.Points[0].Mbits[1] > 0.1 || s.Points[0].Mbits[0] < 1 {
			t.Errorf("%s: seconds %v", p.Name, s.Points)
		}
	}
}

// A peer that gives up is a failure, not a time.
func TestFlowFails(t *testing.T) {
	s := Situation{Name: "an outage", Cell: link(10, 40, 128), Load: oneByOne(2, block), Counts: Sum,
		Trouble: func(p *path) { p.set(link(10, 40, 128).with(100)) }}
	plan := s.plan(ourFlows()[0])
	r := runFlows(t, plan, 1)
	sum, f := summarizeFamily(s, plan, []FlowsRun{r})
	if sum.Failed != 1 || sum.Median != 0 || r.All > patience || f.Dropped != 0 {
		t.Errorf("%+v, %+v", sum, f)
	}
}

func TestSituations(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range Situations() {
		name := s.Family + ", " + s.Name
		if names[name] || s.Family == "" || s.Counts == "" || len(s.Sizes) == 0 || s.Again != (s.For > 0) {
			t.Error(name)
		}
		names[name] = true
		if err := s.Cell.down().Validate(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if err := s.Cell.up().Validate(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func TestLeast(t *testing.T) {
	s := Situation{Cell: Cell{Rate: 1e6, RTT: 100 * ms}, Load: oneByOne(3, 12500)} // 100 ms
	for counts, want := range map[Figure]time.Duration{Last: 154 * ms, Sum: 3 * 154 * ms, All: 3*104*ms + 50*ms} {
		if s.Counts = counts; s.least() != want {
			t.Errorf("%s: %v, want %v", counts, s.least(), want)
		}
	}
}

func TestJain(t *testing.T) {
	for _, of := range []struct {
		values []float64
		want   float64
	}{{[]float64{3, 3, 3}, 1}, {[]float64{4, 0, 0, 0}, 0.25}, {[]float64{0, 0}, 0}, {[]float64{1, 3}, 0.8}} {
		if got := jain(of.values); math.Abs(got-of.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", of.values, got, of.want)
		}
	}
}
