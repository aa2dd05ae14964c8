package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// families are paths and loads on which a sender can do harm, an example of each and others
// like it; and those on which senders did none.
var families = set{"families", []column{first, each, last, idealEach, whole, idealAll, bytesDown, dropsAll, jain, use, wait, wait95, missing}, func() []situation {
	return slices.Concat(shortQueues(), severalStreams(), severalChunks(), bothWays(), policed(), policedTogether(), smallChunks(), slowReaders(), clumps(),
		longerTrips(), muchLoss(), thinBacks(), coldChunks(), risingRates(), harmless())
}, 0}

// family makes the situations of its examples with each kind of lanes.
func family[E any](name string, all []kind, examples []E, of func(e E, k kind) situation) (made []situation) {
	for _, e := range examples {
		for _, k := range all {
			s := of(e, k)
			s.name = name + ": " + s.name
			made = append(made, s)
		}
	}
	return made
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

// with returns a path with one thing changed.
func with(p netsim.Path, change func(*netsim.Path)) netsim.Path {
	change(&p)
	return p
}

// stream is so many chunks, of which the next is always waiting.
func stream(p place, k kind, n int) situation {
	return situation{
		name: fmt.Sprintf("%d chunks, %s, %s", n, p.name, k.name), path: both(p.path), until: p.time,
		flows:     []flows.Options{{Lanes: k.lanes, Chunks: n}},
		idealEach: math.NaN(), idealAll: ideal(p.path, codec.MaxChunkSize, n),
	}
}

func shortQueues() []situation {
	jitter := with(link(20, 30, 64), func(p *netsim.Path) { p.Jitter = 10 * ms })
	places := []place{at(link(20, 30, 64)), at(jitter, "10 ms of jitter"), at(link(50, 40, 64)), at(link(10, 80, 32)), at(link(100, 20, 48))}
	return family("short queue", kinds(8, 1), places, func(p place, k kind) situation { return stream(p, k, 64) })
}

// crowd is so many at a path.
type crowd struct {
	n    int
	path netsim.Path
}

func severalStreams() []situation {
	return family("streams", kinds(8), []crowd{{4, link(5, 40, 64)}, {8, link(5, 40, 64)}, {6, link(8, 60, 48)}, {3, link(50, 20, 128)}}, func(c crowd, k kind) situation {
		p := at(c.path)
		p.time = 60 * second
		return streams(p, k, c.n, 0)
	})
}

func severalChunks() []situation {
	return family("chunks at once", kinds(1), []crowd{{4, link(5, 40, 64)}, {8, link(5, 40, 64)}, {16, link(20, 30, 64)}, {6, link(10, 80, 48)}}, func(c crowd, k kind) situation {
		return atOnce(at(c.path), k, c.n)
	})
}

func bothWays() []situation {
	return family("both ways", kinds(1, 8), []crowd{{8, link(2, 40, 64)}, {4, link(1, 100, 64)}, {8, link(10, 50, 48)}}, func(c crowd, k kind) situation {
		s := stream(at(c.path), k, c.n)
		s.flows[0].BothWays = true
		return s
	})
}

// police is a policer, and so many chunks.
type police struct {
	mbits  float64
	burst  int // KiB
	chunks int
}

// place is behind 100 Mbit/s.
func (e police) place() place {
	p := with(link(100, 30, 1024), func(p *netsim.Path) { p.PoliceRate, p.PoliceBurst = int64(e.mbits*1e6), e.burst*kib })
	return at(p, fmt.Sprintf("policed to %v with %d KiB", e.mbits, e.burst))
}

func policed() []situation {
	return family("policer", kinds(8, 1), []police{{1, 32, 1}, {1, 32, 16}, {5, 16, 16}, {8, 8, 40}, {2, 128, 16}, {10, 64, 64}}, func(e police, k kind) situation {
		s := stream(e.place(), k, e.chunks)
		s.idealAll = ideal(link(e.mbits, 30, 0), codec.MaxChunkSize, e.chunks) - float64(e.burst*kib)*8/1000/e.mbits
		return s
	})
}

// policedTogether are several streams behind one policer.
func policedTogether() []situation {
	return family("one policer", kinds(8), []police{{2, 32, 2}, {5, 64, 4}, {10, 16, 8}}, func(e police, k kind) situation {
		p := e.place()
		p.time = 60 * second
		return streams(p, k, e.chunks, 0)
	})
}

func smallChunks() []situation {
	type small struct {
		kib  int
		loss float64
		path netsim.Path
	}
	examples := []small{{8, 1, link(20, 60, 256)}, {16, 2, link(10, 100, 256)}, {4, 1, link(50, 20, 256)}}
	place := func(e small) place { return at(with(e.path, loss(e.loss)), e.loss, " % lost") }
	return slices.Concat(
		family("small chunks", kinds(1), examples, func(e small, k kind) situation {
			s := oneByOne(place(e), k, 200, second/10, e.kib*kib)
			s.name = fmt.Sprintf("200 of %d KiB, %s", e.kib, s.name)
			return s
		}),
		family("small chunks", kinds(1), examples, func(e small, k kind) situation {
			s := oneByOne(place(e), k, 21, second/10, append(slices.Repeat([]int{e.kib * kib}, 20), codec.MaxChunkSize)...)
			s.name = fmt.Sprintf("256 KiB after 20 of %d KiB, %s", e.kib, s.name)
			return s
		}))
}

func slowReaders() []situation {
	type slow struct {
		chunks int
		every  time.Duration
		path   netsim.Path
	}
	examples := []slow{{40, 200 * ms, link(100, 50, 1024)}, {100, 10 * ms, link(1000, 1, 1024)}, {20, 300 * ms, link(20, 30, 128)}}
	return family("slow reader", kinds(1, 8), examples, func(e slow, k kind) situation {
		s := stream(at(e.path, "read each ", e.every), k, e.chunks)
		s.flows[0].ReadEvery = core.FromDuration(e.every)
		s.idealAll = max(s.idealAll, float64(e.every.Milliseconds())*float64(e.chunks-1)+ideal(e.path, codec.MaxChunkSize, 1))
		return s
	})
}

func clumps() []situation {
	type clump struct {
		tick time.Duration
		path netsim.Path
	}
	return family("clumps", kinds(1), []clump{{20 * ms, link(20, 40, 256)}, {30 * ms, link(50, 30, 512)}, {10 * ms, link(10, 50, 256)}}, func(e clump, k kind) situation {
		s := oneByOne(at(e.path, "acks each ", e.tick), k, 6, second)
		s.path.Up.Tick = e.tick
		return s
	})
}

// then makes the path of a situation another one, for good.
func (s *situation) then(after core.Micros, p netsim.Path) {
	s.path.Changes = []flows.Change{{At: after, Down: p, Up: p}}
	s.idealEach = ideal(p, codec.MaxChunkSize, 1)
}

func longerTrips() []situation {
	type longer struct {
		rtt  time.Duration
		path netsim.Path
	}
	return family("longer round trip", kinds(1), []longer{{100, link(20, 10, 256)}, {200, link(50, 20, 512)}, {150, link(10, 50, 256)}}, func(e longer, k kind) situation {
		s := oneByOne(at(e.path, "then ", e.rtt*ms), k, 10, second)
		s.then(5*second/2, with(e.path, trip(e.rtt)))
		return s
	})
}

func muchLoss() []situation {
	type lossy struct {
		percent float64
		path    netsim.Path
	}
	return family("much loss", kinds(1), []lossy{{55, link(5, 50, 256)}, {60, link(20, 50, 256)}, {50, link(10, 100, 256)}, {70, link(10, 50, 256)}}, func(e lossy, k kind) situation {
		return oneByOne(at(with(e.path, loss(e.percent)), e.percent, " % lost"), k, 8, second)
	})
}

func thinBacks() []situation {
	type thin struct {
		kbits int64
		path  netsim.Path
	}
	return family("thin acks", kinds(1), []thin{{128, link(50, 40, 512)}, {64, link(20, 40, 256)}, {256, link(100, 20, 512)}}, func(e thin, k kind) situation {
		s := oneByOne(at(e.path, e.kbits, " kbit/s back"), k, 6, second)
		s.path.Up.Rate = e.kbits * 1000
		return s
	})
}

func coldChunks() []situation {
	type cold struct {
		kib  int
		path netsim.Path
	}
	return family("cold", kinds(1), []cold{{64, link(1, 50, 48)}, {64, link(2, 100, 32)}, {128, link(1, 100, 64)}, {256, link(5, 40, 16)}}, func(e cold, k kind) situation {
		s := oneByOne(at(e.path), k, 1, 0, e.kib*kib)
		s.name = fmt.Sprintf("%d KiB, %s", e.kib, s.name)
		return s
	})
}

func risingRates() []situation {
	type rising struct {
		mbits int64
		path  netsim.Path
	}
	return family("rising rate", kinds(1), []rising{{100, link(1, 50, 256)}, {50, link(2, 30, 128)}, {10, link(1, 100, 128)}}, func(e rising, k kind) situation {
		s := oneByOne(at(e.path, "then ", e.mbits), k, 7, second)
		s.then(core.Micros(1000*s.idealEach)+second/2, with(e.path, rate(e.mbits*1e6)))
		return s
	})
}

// harmless are those on which nothing was wrong, and is to stay so.
func harmless() []situation {
	path := link(20, 40, 256)
	jitter := at(with(link(10, 50, 256), func(p *netsim.Path) { p.Jitter = 30 * ms }), "30 ms of jitter")
	places := []place{
		at(link(100, 2, 1024)), at(link(100, 600, 2048)), at(measure.PathOf(0, 400*ms, 0)), jitter,
		at(with(path, func(p *netsim.Path) { p.Loss, p.LossRun = 3, 4 }), "3 % lost in runs of 4"),
		at(with(path, func(p *netsim.Path) { p.Duplicate = 10 }), "10 % doubled"),
		at(with(path, func(p *netsim.Path) { p.Reorder, p.ReorderDelay = 20, 10*ms }), "20 % late by 10 ms"),
		at(with(path, func(p *netsim.Path) { p.MarkAbove = 24 * kib }), "marked above 24 KiB"),
	}
	jitter.time = 60 * second
	return slices.Concat(
		family("others", kinds(1), places, func(p place, k kind) situation { return oneByOne(p, k, 6, second) }),
		family("others", kinds(1), []place{at(path, "70 % of acks lost")}, func(p place, k kind) situation {
			s := oneByOne(p, k, 6, second)
			s.path.Up.Loss = 70
			return s
		}),
		family("others", kinds(1, 8), []place{at(link(2, 50, 2048))}, func(p place, k kind) situation { return stream(p, k, 16) }),
		family("others", kinds(1, 8), []place{jitter}, func(p place, k kind) situation { return streams(p, k, 1, 0) }))
}
