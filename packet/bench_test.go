package packet_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// Results go here, so that the compiler keeps the work.
var (
	sinkBytes  []byte
	sinkHeader packet.Header
	sinkSize   int
	sinkErr    error
)

// compare reports what one subject costs, and how much more than a copy of the same bytes.
// The two take short turns, so that the machine's other load meets both, and the figures
// are medians over the turns.
func compare(b *testing.B, size int, subject func(n int)) {
	compareAfter(b, size, func(int) {}, subject)
}

// turn is how often each is done in a turn.
const turn = 1000

// compareAfter is compare with something before each turn that does not count.
func compareAfter(b *testing.B, size int, before, subject func(n int)) {
	from, to := bytes.Repeat([]byte{0xa5}, size), make([]byte, size)
	var costs, floors []float64
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; left -= turn {
		n := min(left, turn)
		before(n)
		start := time.Now()
		for range n {
			copy(to, from)
		}
		middle := time.Now()
		subject(n)
		costs = append(costs, float64(time.Since(middle))/float64(n))
		floors = append(floors, float64(middle.Sub(start))/float64(n))
	}
	slices.Sort(costs)
	slices.Sort(floors)
	b.ReportMetric(costs[len(costs)/2], "ns/op")
	b.ReportMetric(floors[len(floors)/2], "ns/copy")
}

func BenchmarkHeader(b *testing.B) {
	for _, c := range []struct {
		name   string
		header packet.Header
	}{
		{"4 bytes", packet.Header{Sequence: 100, Ack: 99, AckBits: 0xffffffff}},
		{"6 bytes", packet.Header{Sequence: 100, Ack: 99, AckBits: 0xffff7ffd}},
		{"9 bytes", packet.Header{Sequence: 100, Ack: 60000, AckBits: 0x12345678}},
	} {
		encoded := append(c.header.Append(nil), 1)
		b.Run("encode "+c.name, func(b *testing.B) {
			dst := make([]byte, 0, 16)
			compare(b, len(encoded)-1, func(n int) {
				for range n {
					sinkBytes = c.header.Append(dst)
				}
			})
		})
		b.Run("decode "+c.name, func(b *testing.B) {
			compare(b, len(encoded)-1, func(n int) {
				for range n {
					sinkHeader, sinkSize, sinkErr = packet.DecodeHeader(encoded)
				}
			})
		})
	}
}

// pair is two endpoints that send each other packets of 200 bytes, 60 times a second.
type pair struct {
	ends    [2]*packet.Endpoint
	now     core.Micros
	payload []byte
	turn    int
}

func newPair() *pair {
	p := &pair{payload: bytes.Repeat([]byte{1}, 200)}
	for i := range p.ends {
		p.ends[i], sinkErr = packet.NewEndpoint(packet.Config{})
	}
	return p
}

func take(packet.Delivery) packet.Verdict { return packet.Take }

// exchange sends a packet, one way and then the other, and takes it.
func (p *pair) exchange() {
	p.now += 8333
	from, to := p.ends[p.turn&1], p.ends[1-p.turn&1]
	p.turn++
	out, _, _ := from.Send(p.now, p.payload)
	sinkErr = to.Receive(p.now+1000, out[0], take)
	from.Events()
	from.Poll(p.now)
}

func BenchmarkEndpoint(b *testing.B) {
	b.Run("send, receive and poll of 200 bytes", func(b *testing.B) {
		p := newPair()
		for range 2000 {
			p.exchange()
		}
		compare(b, 200, func(n int) {
			for range n {
				p.exchange()
			}
		})
	})
	b.Run("send of 200 bytes", func(b *testing.B) {
		p := newPair()
		for range 2000 {
			p.exchange()
		}
		e := p.ends[0]
		compare(b, 200, func(n int) {
			for range n {
				p.now += 16667
				out, _, _ := e.Send(p.now, p.payload)
				sinkBytes = out[0]
				if p.turn++; p.turn%60 == 0 {
					e.Poll(p.now)
					e.Events()
				}
			}
		})
	})
	b.Run("receive of 200 bytes", func(b *testing.B) {
		p := newPair()
		var datagrams [turn][]byte
		compareAfter(b, 200, func(n int) {
			for i := range n {
				p.now += 8333
				out, _, _ := p.ends[0].Send(p.now, p.payload)
				datagrams[i] = append(datagrams[i][:0], out[0]...)
				p.ends[0].Poll(p.now)
				p.ends[0].Events()
			}
		}, func(n int) {
			for _, d := range datagrams[:n] {
				sinkErr = p.ends[1].Receive(p.now, d, take)
			}
		})
	})
}

// The memory of an endpoint: new, with traffic both ways 60 times a second, and when that
// has ended and everything has come to rest.
func BenchmarkMemory(b *testing.B) {
	const pairs = 500
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for range b.N {
		before := held()
		list := make([]*pair, pairs)
		for i := range list {
			list[i] = newPair()
		}
		idle := held()
		for _, p := range list {
			for range 10 * 120 { // 10 s
				p.exchange()
			}
		}
		busy := held()
		for _, p := range list {
			p.now += 5 * core.Second
			for _, e := range p.ends {
				e.Poll(p.now)
				e.Events()
			}
		}
		rest := held()
		b.ReportMetric(float64(idle-before)/(2*pairs), "B/new")
		b.ReportMetric(float64(busy-before)/(2*pairs), "B/busy")
		b.ReportMetric(float64(rest-before)/(2*pairs), "B/rested")
		runtime.KeepAlive(list)
	}
	b.ReportMetric(0, "ns/op")
}
