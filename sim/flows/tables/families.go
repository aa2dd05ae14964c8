package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim/flows"
	"github.com/chunkwire/chunkwire/sim/transfers"
)

// families are paths and loads on which a sender can do harm, an example of each and others
// like it; and those on which senders did none.
var families = set{"families", []column{first, each, last, idealEach, whole, idealAll, bytesDown, dropsAll, jain, use, wait, wait95, missing}, func() []situation {
	return slices.Concat(shortQueues(), severalStreams(), severalChunks(), bothWays(), policed(), smallChunks(), slowReaders(), clumps(),
		longerTrips(), muchLoss(), thinBacks(), coldChunks(), risingRates(), harmless())
}, 0}

// of names a situation of a family.
func of(family string, s situation) situation {
	s.name = family + ": " + s.name
	return s
}

// at returns a place whose name is its figures and what else is to be said of it.
func at(p netsim.Path, also ...any) place {
	name := fmt.Sprintf("%v Mbit/s, %d ms", float64(p.Rate)/1e6, 2*p.Delay.Milliseconds())
	if p.Queue > 0 {
		name += fmt.Sprintf(", %d KiB", p.Queue/kib)
	}
	if len(also) > 0 {
		name += ", " + fmt.Sprint(also...)
	}
	return place{name, p, limit}
}

// stream is so many chunks, of which the next is always waiting.
func stream(p place, k kind, n int) situation {
	return situation{
		name: fmt.Sprintf("%d chunks, %s, %s", n, p.name, k.name), path: both(p.path), until: p.time,
		flows:     []flows.Options{{Lanes: k.lanes, Chunks: n}},
		idealEach: math.NaN(), idealAll: ideal(p.path, codec.MaxChunkSize, n),
	}
}

func shortQueues() (all []situation) {
	jitter := link(20, 30, 64)
	jitter.Jitter = 10 * ms
	for _, p := range []place{at(link(20, 30, 64)), at(jitter, "10 ms of jitter"), at(link(50, 40, 64)), at(link(10, 80, 32)), at(link(100, 20, 48))} {
		for _, k := range kinds(8, 1) {
			all = append(all, of("short queue", stream(p, k, 64)))
		}
	}
	return all
}

func severalStreams() (all []situation) {
	for _, one := range []struct {
		n int
		p netsim.Path
	}{{4, link(5, 40, 64)}, {8, link(5, 40, 64)}, {6, link(8, 60, 48)}, {3, link(50, 20, 128)}} {
		p := at(one.p)
		p.time = 60 * second
		for _, k := range kinds(8) {
			all = append(all, of("streams", streams(p, k, one.n, 0)))
		}
	}
	return all
}

func severalChunks() (all []situation) {
	for _, one := range []struct {
		n int
		p netsim.Path
	}{{4, link(5, 40, 64)}, {8, link(5, 40, 64)}, {16, link(20, 30, 64)}, {6, link(10, 80, 48)}} {
		for _, k := range kinds(1) {
			all = append(all, of("chunks at once", atOnce(at(one.p), k, one.n)))
		}
	}
	return all
}

func bothWays() (all []situation) {
	for _, one := range []struct {
		n int
		p netsim.Path
	}{{8, link(2, 40, 64)}, {4, link(1, 100, 64)}, {8, link(10, 50, 48)}} {
		for _, k := range kinds(1, 8) {
			s := stream(at(one.p), k, one.n)
			s.flows[0].BothWays = true
			all = append(all, of("both ways", s))
		}
	}
	return all
}

func policed() (all []situation) {
	for _, one := range []struct {
		mbits  float64
		burst  int
		chunks int
	}{{1, 32, 1}, {1, 32, 16}, {5, 16, 16}, {8, 8, 40}, {2, 128, 16}, {10, 64, 64}} {
		p := link(100, 30, 1024)
		p.PoliceRate, p.PoliceBurst = int64(one.mbits*1e6), one.burst*kib
		for _, k := range kinds(8, 1) {
			s := stream(at(p, fmt.Sprintf("policed to %v with %d KiB", one.mbits, one.burst)), k, one.chunks)
			at := link(one.mbits, 30, 0)
			s.idealAll = ideal(at, codec.MaxChunkSize, one.chunks) - float64(p.PoliceBurst)*8e3/float64(p.PoliceRate)
			all = append(all, of("policer", s))
		}
	}
	return all
}

func smallChunks() (all []situation) {
	for _, one := range []struct {
		size int
		loss float64
		p    netsim.Path
	}{{8, 1, link(20, 60, 256)}, {16, 2, link(10, 100, 256)}, {4, 1, link(50, 20, 256)}} {
		p := one.p
		p.Loss = one.loss
		where := at(p, fmt.Sprintf("%v %% lost", one.loss))
		sizes := slices.Repeat([]int{one.size * kib}, 20)
		for _, k := range kinds(1) {
			small, large := oneByOne(where, k, 200, 100_000, one.size*kib), oneByOne(where, k, 21, 100_000, append(sizes, codec.MaxChunkSize)...)
			small.name = fmt.Sprintf("200 of %d KiB, %s", one.size, small.name)
			large.name = fmt.Sprintf("256 KiB after 20 of %d KiB, %s", one.size, large.name)
			all = append(all, of("small chunks", small), of("small chunks", large))
		}
	}
	return all
}

func slowReaders() (all []situation) {
	for _, one := range []struct {
		chunks int
		every  machine.Micros
		p      netsim.Path
	}{{40, 200_000, link(100, 50, 1024)}, {100, 10_000, link(1000, 1, 1024)}, {20, 300_000, link(20, 30, 128)}} {
		for _, k := range kinds(1, 8) {
			s := stream(at(one.p, "read each ", one.every.Duration()), k, one.chunks)
			s.flows[0].ReadEvery = one.every
			s.idealAll = max(s.idealAll, float64(one.every)/1000*float64(one.chunks-1)+ideal(one.p, codec.MaxChunkSize, 1))
			all = append(all, of("slow reader", s))
		}
	}
	return all
}

func clumps() (all []situation) {
	for _, one := range []struct {
		tick time.Duration
		p    netsim.Path
	}{{20 * ms, link(20, 40, 256)}, {30 * ms, link(50, 30, 512)}, {10 * ms, link(10, 50, 256)}} {
		up := one.p
		up.Tick = one.tick
		for _, k := range kinds(1) {
			s := oneByOne(at(one.p, "acks each ", one.tick), k, 6, second)
			s.path.Up = up
			all = append(all, of("clumps", s))
		}
	}
	return all
}

func longerTrips() (all []situation) {
	for _, one := range []struct {
		rtt time.Duration
		p   netsim.Path
	}{{100, link(20, 10, 256)}, {200, link(50, 20, 512)}, {150, link(10, 50, 256)}} {
		longer := one.p
		longer.Delay = one.rtt * ms / 2
		for _, k := range kinds(1) {
			s := oneByOne(at(one.p, "then ", one.rtt*ms), k, 10, second)
			s.path.Changes = []flows.Change{{At: 5 * second / 2, Down: longer, Up: longer}}
			s.idealEach = ideal(longer, codec.MaxChunkSize, 1)
			all = append(all, of("longer round trip", s))
		}
	}
	return all
}

func muchLoss() (all []situation) {
	for _, one := range []struct {
		loss float64
		p    netsim.Path
	}{{55, link(5, 50, 256)}, {60, link(20, 50, 256)}, {50, link(10, 100, 256)}, {70, link(10, 50, 256)}} {
		p := one.p
		p.Loss = one.loss
		for _, k := range kinds(1) {
			all = append(all, of("much loss", oneByOne(at(p, one.loss, " % lost"), k, 8, second)))
		}
	}
	return all
}

func thinBacks() (all []situation) {
	for _, one := range []struct {
		kbits int64
		p     netsim.Path
	}{{128, link(50, 40, 512)}, {64, link(20, 40, 256)}, {256, link(100, 20, 512)}} {
		up := one.p
		up.Rate = one.kbits * 1000
		for _, k := range kinds(1) {
			s := oneByOne(at(one.p, one.kbits, " kbit/s back"), k, 6, second)
			s.path.Up = up
			all = append(all, of("thin acks", s))
		}
	}
	return all
}

func coldChunks() (all []situation) {
	for _, one := range []struct {
		size int
		p    netsim.Path
	}{{64, link(1, 50, 48)}, {64, link(2, 100, 32)}, {128, link(1, 100, 64)}, {256, link(5, 40, 16)}} {
		for _, k := range kinds(1) {
			s := oneByOne(at(one.p), k, 1, 0, one.size*kib)
			s.name = fmt.Sprintf("%d KiB, %s", one.size, s.name)
			all = append(all, of("cold", s))
		}
	}
	return all
}

func risingRates() (all []situation) {
	for _, one := range []struct {
		mbits int64
		p     netsim.Path
	}{{100, link(1, 50, 256)}, {50, link(2, 30, 128)}, {10, link(1, 100, 128)}} {
		faster := one.p
		faster.Rate = one.mbits * 1e6
		first := machine.Micros(1000*ideal(one.p, codec.MaxChunkSize, 1)) + second/2
		for _, k := range kinds(1) {
			s := oneByOne(at(one.p, "then ", one.mbits), k, 7, second)
			s.path.Changes = []flows.Change{{At: first, Down: faster, Up: faster}}
			s.idealEach = ideal(faster, codec.MaxChunkSize, 1)
			all = append(all, of("rising rate", s))
		}
	}
	return all
}

// harmless are those on which nothing was wrong, and is to stay so.
func harmless() (all []situation) {
	bursts, doubled, late, jitter, marked := link(20, 40, 256), link(20, 40, 256), link(20, 40, 256), link(10, 50, 256), link(20, 40, 256)
	bursts.Loss, bursts.LossRun = 3, 4
	doubled.Duplicate = 10
	late.Reorder, late.ReorderDelay = 20, 10*ms
	jitter.Jitter = 30 * ms
	marked.MarkAbove = 24 * kib
	for _, k := range kinds(1) {
		for _, p := range []place{
			at(link(100, 2, 1024)), at(link(100, 600, 2048)), at(transfers.PathOf(0, 400*ms, 0)), at(bursts, "3 % lost in runs of 4"), at(doubled, "10 % doubled"),
			at(late, "20 % late by 10 ms"), at(jitter, "30 ms of jitter"), at(marked, "marked above 24 KiB"),
		} {
			all = append(all, of("others", oneByOne(p, k, 6, second)))
		}
		acks := oneByOne(at(link(20, 40, 256), "70 % of acks lost"), k, 6, second)
		acks.path.Up.Loss = 70
		all = append(all, of("others", acks))
	}
	for _, k := range kinds(1, 8) {
		all = append(all, of("others", stream(at(link(2, 50, 2048)), k, 16)))
		p := at(jitter, "30 ms of jitter")
		p.time = 60 * second
		all = append(all, of("others", streams(p, k, 1, 0)))
	}
	return all
}
