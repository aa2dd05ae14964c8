package main

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors/live/reliable"
)

// Results go here, so that the compiler keeps the work.
var (
	sinkError error
	sinkBytes []byte
)

// payload is what the benchmarks send.
var payload = bytes.Repeat([]byte{0xa5}, 200)

// BenchmarkEndpoint sends a packet of 200 bytes, one way and then the other, and receives
// it: package packet, the stand-in for reliable, and a copy of the same bytes take short
// turns, so that the machine's other load meets all. The figures are medians over turns.
func BenchmarkEndpoint(b *testing.B) {
	const turn = 500
	ours, theirs := newPair(b), newStandIns()
	to := make([]byte, len(payload))
	subjects := []struct {
		unit string
		do   func()
	}{
		{"ns/packet", ours.exchange},
		{"ns/stand-in", theirs.exchange},
		{"ns/copy", func() { copy(to, payload) }},
	}
	costs := make([][]float64, len(subjects))
	for range 4000 {
		ours.exchange()
		theirs.exchange()
	}
	for left := b.N; left > 0; left -= turn {
		for i, s := range subjects {
			start := time.Now()
			for range turn {
				s.do()
			}
			costs[i] = append(costs[i], float64(time.Since(start))/turn)
		}
	}
	for i, s := range subjects {
		slices.Sort(costs[i])
		b.ReportMetric(costs[i][len(costs[i])/2], s.unit)
	}
	b.ReportMetric(testing.AllocsPerRun(1000, ours.exchange), "allocs/packet")
	b.ReportMetric(testing.AllocsPerRun(1000, theirs.exchange), "allocs/stand-in")
	b.ReportMetric(0, "ns/op") // of all three
}

// endpointPair is two endpoints of package packet that send 60 packets a second each.
type endpointPair struct {
	ends [2]*packet.Endpoint
	now  core.Micros
	turn int
}

func newPair(tb testing.TB) *endpointPair {
	p := &endpointPair{}
	for i := range p.ends {
		var err error
		if p.ends[i], err = packet.NewEndpoint(packet.Config{}); err != nil {
			tb.Fatal(err)
		}
	}
	return p
}

func take(packet.Delivery) packet.Verdict { return packet.Take }

// exchange sends a packet, takes it at the other end, and does what is due at both.
func (p *endpointPair) exchange() {
	p.now += core.Second / 120
	from, to := p.ends[p.turn&1], p.ends[1-p.turn&1]
	p.turn++
	out, _, _ := from.Send(p.now, payload)
	sinkError = to.Receive(p.now+1000, out[0], take)
	from.Events()
	from.Poll(p.now)
}

type standIns struct {
	ends [2]*reliable.Endpoint
	now  int64
	turn int
}

func newStandIns() *standIns {
	return &standIns{ends: [2]*reliable.Endpoint{reliable.New(0), reliable.New(0)}}
}

func (p *standIns) exchange() {
	p.now += 1_000_000 / 120
	from, to := p.ends[p.turn&1], p.ends[1-p.turn&1]
	p.turn++
	out, _ := from.Send(p.now, payload)
	_, sinkBytes, _ = to.Receive(p.now+1000, out[0])
}

// BenchmarkMemory says how many bytes each of 10,000 endpoints holds: new; busy, after 10 s
// of 60 packets a second each way; quiet, 6 s after the last packet; and then with a packet
// of 3,000 bytes just sent, and one of which the last fragment is missing.
func BenchmarkMemory(b *testing.B) {
	const endpoints = 10_000
	for range b.N {
		pairs := make([]*endpointPair, endpoints/2)
		before := heap()
		report := func(unit string) {
			b.ReportMetric(float64(heap()-before)/endpoints, unit)
		}
		for i := range pairs {
			pairs[i] = newPair(b)
		}
		report("B/new")
		for _, p := range pairs {
			for range 1200 {
				p.exchange()
			}
		}
		report("B/busy")
		for _, p := range pairs {
			p.now += 6 * core.Second
			for _, e := range p.ends {
				e.Poll(p.now)
				e.Events()
			}
		}
		report("B/quiet")
		large := make([]byte, 3000)
		for _, p := range pairs {
			for i, from := range p.ends {
				out, _, _ := from.Send(p.now, large)
				for _, d := range out[:2] {
					sinkError = p.ends[1-i].Receive(p.now, d, take)
				}
			}
		}
		report("B/reassembling")
		runtime.KeepAlive(pairs)
	}
	b.ReportMetric(0, "ns/op")
}

// heap returns how many bytes are in use once garbage is collected.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The benchmarks' conversations are what they say: everything arrives.
func TestBenchmarksArrive(t *testing.T) {
	ours, theirs := newPair(t), newStandIns()
	for range 1000 {
		ours.exchange()
		theirs.exchange()
		if sinkError != nil || !bytes.Equal(sinkBytes, payload) {
			t.Fatal(sinkError, sinkBytes)
		}
	}
	for _, e := range ours.ends {
		if s := e.Stats(); s.Received < 500 || s.Acked < 490 || s.Lost > 0 {
			t.Errorf("%+v", s)
		}
	}
}
