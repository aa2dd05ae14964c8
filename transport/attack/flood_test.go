package attack

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
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
	c.Close()
	return took, nil
}

// host is the server of the flood: it answers the first chunk with the world, and
// each further one with a few bytes.
func host(s server) {
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

// crowd is twenty visits at the same time. It returns how long each took, the longest last.
func crowd(t *testing.T, n network, p protocol, s server) []time.Duration {
	t.Helper()
	took := make([]time.Duration, 20)
	var all sync.WaitGroup
	for i := range took {
		all.Go(func() {
			var err error
			if took[i], err = visit(t, n, p, s); err != nil {
				t.Errorf("%s: client %d: %v", p.name, i, err)
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// A server with a flood of forged datagrams serves everybody, and as fast.
func TestFlood(t *testing.T) {
	const rate, rounds = 50_000, 5
	for _, p := range protocols {
		var n network
		s := p.serve(t, n.bind(t, "127.0.0.1:0"))
		go host(s)
		crowd(t, n, p, s)
		var median, longest [2][]time.Duration
		var sent []int
		for range rounds {
			for flooded := range 2 {
				end := func() int { return 0 }
				if flooded == 1 {
					end = startFlood(t, n, s.Addr(), rate, p.forge).end
				}
				took := crowd(t, n, p, s)
				if flooded == 1 {
					sent = append(sent, end())
				}
				median[flooded] = append(median[flooded], took[len(took)/2])
				longest[flooded] = append(longest[flooded], took[len(took)-1])
			}
		}
		slices.Sort(sent)
		t.Logf("%s: median %v and longest %v of 20 clients without, %v and %v with %v forged datagrams a second",
			p.name, middle(median[0]), middle(longest[0]), middle(median[1]), middle(longest[1]), sent)
	}
}

func middle(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2].Round(ms / 10)
}
