package attack

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

var strict = flag.Bool("attack.strict", false, "the flood must cost the honest clients no more than twice the time, by the clock")

// flood sends forged datagrams to a server, so many a second, until it is stopped.
type flood struct {
	sources []net.PacketConn
	to      net.Addr
	rate    int
	forge   func(rng *rand.Rand) []byte
	stop    chan struct{}
	done    sync.WaitGroup
	sent    int
	took    time.Duration
}

func startFlood(t *testing.T, n network, to net.Addr, rate int, forge func(rng *rand.Rand) []byte) *flood {
	f := &flood{to: to, rate: rate, forge: forge, stop: make(chan struct{})}
	for i := range 64 {
		f.sources = append(f.sources, n.bind(t, fmt.Sprintf("127.3.%d.1:0", i)))
	}
	f.done.Go(f.run)
	return f
}

// run sends what is due each millisecond.
func (f *flood) run() {
	rng := rand.New(rand.NewPCG(1, 2))
	start := time.Now()
	tick := time.NewTicker(ms)
	defer tick.Stop()
	for {
		select {
		case <-f.stop:
			f.took = time.Since(start)
			return
		case <-tick.C:
		}
		for due := int(time.Since(start) * time.Duration(f.rate) / time.Second); f.sent < due; f.sent++ {
			f.sources[f.sent%len(f.sources)].WriteTo(f.forge(rng), f.to)
		}
	}
}

// end stops it and returns how many datagrams a second there were.
func (f *flood) end() int {
	close(f.stop)
	f.done.Wait()
	return int(float64(f.sent) / f.took.Seconds())
}

// visit is what an honest client does: it comes, gets the world, and says and hears
// something twenty times. It returns how long that took.
func visit(t *testing.T, n network, p protocol, s server) (time.Duration, error) {
	start := time.Now()
	c, err := p.dial(t, n.bind(t, "127.0.0.1:0"), s.Addr())
	if err != nil {
		return 0, err
	}
	for range 21 {
		if err := c.Send(background, []byte("something")); err != nil {
			return 0, err
		}
		if _, err := c.Recv(background); err != nil {
			return 0, err
		}
	}
	took := time.Since(start)
	return took, c.Close()
}

// hosts answers the first chunk of each client with the world, and each further one with a
// few bytes.
func hosts(s server) {
	for {
		p, err := s.Accept(background)
		if err != nil {
			return
		}
		go func() {
			answer := world
			for {
				if _, err := p.Recv(background); err != nil || p.Send(background, answer) != nil {
					return
				}
				answer = []byte("an answer")
			}
		}()
	}
}

// crowd is visits at the same time: how long the median and the longest took, and how many
// failed.
type crowd struct {
	median, longest time.Duration
	failed          int
}

func crowdOf(t *testing.T, n network, p protocol, s server, clients int) (c crowd) {
	t.Helper()
	took := make([]time.Duration, clients)
	errs := make([]error, clients)
	var all sync.WaitGroup
	for i := range took {
		all.Go(func() { took[i], errs[i] = visit(t, n, p, s) })
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			c.failed++
			if p.name != chunksAlone.name {
				t.Errorf("%s: client %d: %v", p.name, i, err)
			}
		}
	}
	slices.Sort(took)
	c.median, c.longest = took[clients/2], took[clients-1]
	return c
}

const floodRate, floodClients = 50_000 / slowdown, 20

// A server beside which 50,000 forged datagrams a second arrive serves everybody. How long
// that takes depends on what else the machine does: it is compared only with -attack.strict.
func TestFlood(t *testing.T) {
	rounds := 1
	if *strict {
		rounds = 9
	}
	for _, p := range []protocol{anonymous, keyed} {
		var n network
		s := p.serve(t, n.bind(t, "127.0.0.1:0"))
		go hosts(s)
		crowdOf(t, n, p, s, floodClients)
		var without, with []crowd
		var sent []int
		for range rounds {
			without = append(without, crowdOf(t, n, p, s, floodClients))
			f := startFlood(t, n, s.Addr(), floodRate, p.forge)
			with = append(with, crowdOf(t, n, p, s, floodClients))
			sent = append(sent, f.end())
		}
		a, b := middle(without), middle(with)
		t.Logf("%s: %d clients, median %v and longest %v; beside %d forged datagrams a second %v and %v, %d failed",
			p.name, floodClients, a.median, a.longest, slices.Max(sent), b.median, b.longest, b.failed)
		if *strict && (b.median > 2*a.median || b.longest > 2*a.longest) {
			t.Errorf("%s: more than twice the time", p.name)
		}
	}
}

// middle returns the medians of several rounds, and the failures of all.
func middle(rounds []crowd) (m crowd) {
	median := func(of func(c crowd) time.Duration) time.Duration {
		var all []time.Duration
		for _, c := range rounds {
			all = append(all, of(c))
		}
		slices.Sort(all)
		return all[len(all)/2].Round(ms / 10)
	}
	m.median = median(func(c crowd) time.Duration { return c.median })
	m.longest = median(func(c crowd) time.Duration { return c.longest })
	for _, c := range rounds {
		m.failed += c.failed
	}
	return m
}

// The same in virtual time, over paths of 10 ms: no datagram costs any, so what this compares is
// what the forged ones do to buffers, queues and places. All arrive within twice the time.
func TestFloodInVirtualTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, n network, p protocol) (c crowd) {
		n.sim.SetDefault(netsim.Path{Delay: 10 * ms})
		s := p.serve(t, n.bind(t, "127.0.0.1:9000"))
		go hosts(s)
		without := crowdOf(t, n, p, s, floodClients)
		f := startFlood(t, n, s.Addr(), floodRate, p.forge)
		with := crowdOf(t, n, p, s, floodClients)
		if p.name == chunksAlone.name && with.failed == 0 {
			t.Error("plain: the test tests nothing")
		}
		t.Logf("%s: longest %v, and %v with %d forged datagrams a second, %d failed", p.name, without.longest, with.longest, f.end(), with.failed)
		if p.name != chunksAlone.name && with.longest > 2*without.longest {
			t.Errorf("%s: more than twice the time", p.name)
		}
		return with
	})
}

// Forged datagrams over the system's sockets make a server allocate nothing. (What a flood
// allocates is the forger's garbage.)
func TestForgedDatagramsOverSocketsAllocateNothing(t *testing.T) {
	var n network
	s := check.Must(transport.New(n.bind(t, "127.0.0.1:0"), transport.Config{Anonymous: true, Keys: anyKey}))
	defer s.Close()
	to := s.Addr().(*net.UDPAddr).AddrPort()
	forger := n.bind(t, "127.5.0.1:0").(*net.UDPConn)
	kinds := append(blind()[:18:18], forgery{"a flood", nil})
	for _, f := range kinds {
		const times = 1000
		rng := rand.New(rand.NewPCG(1, 2))
		flooder := newFlooder(session.AEAD, 0)
		give := func(times int) {
			for i := range times {
				datagram := f.datagram
				if f.name == "a flood" {
					datagram = flooder.next(rng)
				}
				forger.WriteToUDPAddrPort(datagram, to)
				if i%50 == 49 {
					time.Sleep(ms) // so that none is lost
				}
			}
		}
		give(times) // until buffers are there
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		seen := s.Stats().DatagramsIn
		give(times)
		runtime.ReadMemStats(&after)
		seen = s.Stats().DatagramsIn - seen
		mallocs, bytes := float64(after.Mallocs-before.Mallocs)/times, float64(after.TotalAlloc-before.TotalAlloc)/times
		t.Logf("%-32s %5.1f B, %.2f allocations for each of %d", f.name, bytes, mallocs, seen)
		if mallocs > 0.5 && f.name != "a flood" {
			t.Errorf("%s: %.2f allocations", f.name, mallocs)
		}
	}
}
