package packet_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/packetsim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

const ms = core.Millisecond

// configs are small enough that windows are passed and rings are full in a short run.
var configs = []packet.Config{
	{},
	{Format: packet.Format{FragmentSize: 4, MaxFragments: 8}, FragmentAbove: 4, NextToSend: 65500, NextToReceive: 65500},
	{Format: packet.Format{FragmentSize: 4, MaxFragments: 4}, FragmentAbove: 8, Received: 64, SentMax: 256, Reassembly: 2, ReassemblyPackets: 2, ReassemblyBytes: 20},
	{Format: packet.Format{FragmentSize: 3, MaxFragments: 5}, FragmentAbove: 3, SequenceBits: 8, Received: 8, SentMax: 16, Reassembly: 4, ReassemblyPackets: 2, ReassemblyBytes: 16},
}

func payload(n core.Number, size int) []byte {
	p := bytes.Repeat([]byte{byte(n)}, size)
	p[size-1] = byte(size)
	return p
}

// anyRun draws what happens to two ends, step by step: sending, arriving in any order and
// again, losing, waiting, and polling at any time.
func anyRun(t *rapid.T, w *packetsim.World, cfg packet.Config, steps int) {
	size := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, min(cfg.MaxPacket(), 5000)))
	for range steps {
		end := rapid.IntRange(0, 1).Draw(t, "end")
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0, 1, 2:
			for range rapid.SampledFrom([]int{1, 1, 1, 3, 20}).Draw(t, "times") {
				w.Send(end, payload(core.Number(w.Now), size.Draw(t, "size")), rapid.IntRange(0, 9).Draw(t, "quiet") == 0)
			}
		case 3, 4, 5, 6:
			for range rapid.IntRange(1, 6).Draw(t, "arrivals") {
				if n := len(w.Flight[end]); n > 0 {
					_ = w.Arrive(end, rapid.IntRange(0, n-1).Draw(t, "which"), rapid.IntRange(0, 4).Draw(t, "kept") == 0)
				}
			}
		case 7:
			for len(w.Flight[end]) > 0 && rapid.IntRange(0, 2).Draw(t, "lost") > 0 {
				w.Drop(end, 0)
			}
		case 8:
			w.Wait(rapid.SampledFrom([]core.Micros{0, 1, ms, 19 * ms, 20 * ms, 300 * ms, 999 * ms, 1000 * ms, 4000 * ms}).Draw(t, "time"))
		case 9:
			w.Now += rapid.SampledFrom([]core.Micros{0, ms, 2000 * ms}).Draw(t, "late")
			w.Verdict(end, rapid.SampledFrom([]packet.Verdict{packet.Take, packet.Take, packet.TakeQuietly, packet.Refuse}).Draw(t, "verdict"))
			w.Poll(end)
		}
	}
}

// In any run without forgery: what is given up was sent, once, as it was; acked is true;
// every number is settled in time; memory is bounded; and the endpoints are their models
// (PKT-SAFE-1 to PKT-SAFE-3, PKT-LIVE-2).
func TestAnyRunOfTwoEnds(t *testing.T) {
	for _, cfg := range configs {
		rapid.Check(t, func(t *rapid.T) {
			w := check.Must(packetsim.NewWorld(cfg, t.Fatalf))
			// In a small space a datagram must not outlive half of it.
			steps := 60
			if cfg.SequenceBits != 0 {
				steps = 12
			}
			anyRun(t, w, packetsim.Complete(cfg), rapid.IntRange(1, steps).Draw(t, "steps"))
			for end := range w.Ends {
				w.Verdict(end, packet.Take)
			}
			w.Flight = [2][][]byte{}
			w.Wait(5 * core.Second)
			for end := range w.Ends {
				sent, _, acked, lost := w.Judge.Counts(end)
				check.That(t, acked+lost <= 2*sent, "each at most once")
			}
		})
	}
}

// Nothing old comes back: whatever was received or has fallen behind is never taken again,
// however often it arrives (PKR-3, P3).
func TestNothingOldComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := packet.Config{Received: 64, NextToSend: 65400, NextToReceive: 65400}
		w := check.Must(packetsim.NewWorld(cfg, t.Fatalf))
		var all [][]byte
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			for range rapid.IntRange(1, 100).Draw(t, "sends") {
				w.Send(0, []byte("x"), false)
			}
			all = append(all, w.Flight[1]...)
			for len(w.Flight[1]) > 0 {
				if i := rapid.IntRange(0, len(w.Flight[1])-1).Draw(t, "which"); i%3 == 0 {
					w.Drop(1, i)
				} else {
					_ = w.Arrive(1, i, false)
				}
			}
			for range 30 {
				_ = w.Receive(1, all[rapid.IntRange(0, len(all)-1).Draw(t, "old")])
			}
		}
	})
}

// Forged datagrams of any content: the endpoint is its model, and holds no more than it
// may (PKT-SAFE-3, PKR-5).
func TestForgedDatagrams(t *testing.T) {
	for _, cfg := range configs[1:] {
		rapid.Check(t, func(t *rapid.T) {
			full := packetsim.Complete(cfg)
			e := check.Must(packetsim.NewChecked(cfg, t.Fatalf))
			now := core.Micros(0)
			for range rapid.IntRange(1, 60).Draw(t, "events") {
				now += rapid.SampledFrom([]core.Micros{0, 0, 1, 20 * ms, 500 * ms, 1000 * ms}).Draw(t, "later")
				switch rapid.IntRange(0, 6).Draw(t, "event") {
				case 0:
					_, _ = e.Send(now, payload(1, rapid.IntRange(1, full.MaxPacket()+1).Draw(t, "size")), false)
				case 1:
					e.Poll(now)
				default:
					verdict := rapid.SampledFrom([]packet.Verdict{packet.Take, packet.Take, packet.TakeQuietly, packet.Refuse}).Draw(t, "verdict")
					_ = e.Receive(now, forged(t, full), func(packet.Delivery) packet.Verdict { return verdict })
				}
				stats := e.Endpoint.Stats()
				check.That(t, stats.Incomplete <= full.ReassemblyPackets && stats.IncompleteBytes <= full.ReassemblyBytes, "memory is bounded")
			}
		})
	}
}

// forged draws a datagram: mostly one that decodes, with any numbers, sometimes damaged.
func forged(t *rapid.T, cfg packet.Config) []byte {
	near := func(what string) uint16 {
		return uint16(65500 + rapid.OneOf(rapid.IntRange(-20, 40), rapid.IntRange(-40000, 40000)).Draw(t, what))
	}
	p := packet.Packet{Header: packet.Header{Sequence: near("sequence"), Ack: near("ack"), AckBits: rapid.Uint32().Draw(t, "bits")}}
	size := rapid.IntRange(1, 9).Draw(t, "size")
	if rapid.IntRange(0, 2).Draw(t, "fragment") > 0 {
		p.NumFragments = rapid.IntRange(2, cfg.MaxFragments).Draw(t, "count")
		p.FragmentID = rapid.IntRange(0, p.NumFragments-1).Draw(t, "id")
		size = cfg.FragmentSize
		if p.FragmentID == p.NumFragments-1 {
			size = rapid.IntRange(1, size).Draw(t, "last")
		}
	}
	p.Data = bytes.Repeat([]byte{0}, size)
	d := check.Must(cfg.Format.Append(nil, &p))
	if rapid.IntRange(0, 9).Draw(t, "damaged") == 0 {
		d = d[:rapid.IntRange(0, len(d)).Draw(t, "length")]
	}
	return d
}

// Two ends without news fall silent (PKT-LIVE-5), whatever happened before.
func TestEndsFallSilent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := configs[1]
		w := check.Must(packetsim.NewWorld(cfg, t.Fatalf))
		anyRun(t, w, packetsim.Complete(cfg), 30)
		for end := range w.Ends {
			w.Verdict(end, packet.Take)
			for len(w.Flight[end]) > 0 {
				_ = w.Arrive(end, 0, false)
			}
		}
		w.Wait(packet.AckDelay)
		sent := [2]int{len(w.Flight[0]), len(w.Flight[1])}
		check.That(t, sent[0] <= 1 && sent[1] <= 1, "one more each")
		for end := range w.Ends {
			for len(w.Flight[end]) > 0 {
				_ = w.Arrive(end, 0, false)
			}
		}
		w.Wait(1000 * core.Second)
		check.Equal(t, "in flight", [2]int{len(w.Flight[0]), len(w.Flight[1])}, [2]int{})
		check.Equal(t, "deadlines", [2]core.Micros{w.Ends[0].Deadline(), w.Ends[1].Deadline()}, [2]core.Micros{core.Never, core.Never})
	})
}

// Nothing is allocated once rings have grown, but for fragments.
func TestRegularPacketsAllocateNothing(t *testing.T) {
	p := newPair()
	for range 3000 {
		p.exchange()
	}
	check.Equal(t, "allocations", testing.AllocsPerRun(1000, p.exchange), 0)
	for _, d := range [][]byte{nil, {1, 2, 3}, {0x20, 0, 0, 0, 1}} {
		check.Equal(t, "allocations of a refusal", testing.AllocsPerRun(100, func() { sinkErr = p.ends[0].Receive(p.now, d, take) }), 0)
	}
}
