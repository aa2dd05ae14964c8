package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// virtual runs the exchange in virtual time, over sockets in memory.
func virtual(t *testing.T, cfg config) (r result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network, n := netsim.NewNetwork(1), 0
		cfg.listen = func() (net.PacketConn, error) {
			n++
			return network.Listen(netsim.Addr(fmt.Sprint(n)))
		}
		r, err = run(t.Context(), cfg)
	})
	return r, err
}

func lossy() config {
	return config{packets: 1500, perSecond: 1000, seed: 1, path: netsim.Path{Delay: 5 * time.Millisecond, Loss: 5}}
}

func TestLive(t *testing.T) {
	for name, change := range map[string]func(*config){
		"no loss":               func(c *config) { c.path.Loss = 0 },
		"5 % loss":              func(*config) {},
		"30 % loss":             func(c *config) { c.path.Loss = 30 },
		"doubled and reordered": func(c *config) { c.path.Duplicate, c.path.Reorder, c.path.ReorderDelay = 20, 20, 5*time.Millisecond },
		"few":                   func(c *config) { c.packets, c.perSecond = 100, 60 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := lossy()
			change(&cfg)
			r, err := virtual(t, cfg)
			if err == nil {
				err = r.verdict(cfg)
			}
			if err != nil {
				t.Errorf("seed %d: %v\n%v", cfg.seed, err, r)
			}
			for i, c := range r.ends {
				if c.Fragmented < c.Sent/20 {
					t.Errorf("%s sent %d of %d packets in fragments", endNames[i], c.Fragmented, c.Sent)
				}
				if cfg.path == (netsim.Path{Delay: 5 * time.Millisecond}) && (c.Delivered != c.Sent || c.Acked < c.Sent-1) {
					t.Errorf("without loss %s took %d and was acked %d of %d", endNames[i], c.Delivered, c.Acked, c.Sent)
				}
			}
		})
	}
}

// The numbers of 16 bits wrap, and pass the middle.
func TestLiveWraps(t *testing.T) {
	for _, first := range []int{65000, 32300, 131071} {
		cfg := lossy()
		cfg.first = first
		r, err := virtual(t, cfg)
		if err == nil {
			err = r.verdict(cfg)
		}
		if err != nil {
			t.Errorf("from %d: %v\n%v", first, err, r)
		}
	}
}

// A path on which nothing arrives is no success, and ends.
func TestLiveNothingArrives(t *testing.T) {
	cfg := lossy()
	cfg.path.Loss = 100
	if _, err := virtual(t, cfg); !errors.Is(err, errLate) {
		t.Errorf("%v", err)
	}
}

// The judge finds what is wrong.
func TestJudge(t *testing.T) {
	pair := func() (a, b *end) {
		a = &end{name: "a", payloads: map[int][]byte{7: {1, 2}}, taken: map[int]bool{}, wasAcked: map[int]bool{}}
		b = &end{name: "b", payloads: map[int][]byte{}, taken: map[int]bool{}, wasAcked: map[int]bool{}}
		a.far, b.far = b, a
		return a, b
	}
	for name, c := range map[string]struct {
		do   func(a, b *end) error
		fine bool
	}{
		"taken":        {func(_, b *end) error { return b.noteTaken(7, []byte{1, 2}) }, true},
		"ack-only":     {func(_, b *end) error { return b.noteTaken(8, []byte{0}) }, true},
		"another":      {func(_, b *end) error { return b.noteTaken(7, []byte{1, 3}) }, false},
		"never sent":   {func(_, b *end) error { return b.noteTaken(8, []byte{1, 2}) }, false},
		"twice":        {func(_, b *end) error { return errors.Join(b.noteTaken(7, []byte{1, 2}), b.noteTaken(7, []byte{1, 2})) }, false},
		"acked":        {func(a, b *end) error { return errors.Join(b.noteTaken(7, []byte{1, 2}), a.noteAcked([]int{7})) }, true},
		"false ack":    {func(a, _ *end) error { return a.noteAcked([]int{7}) }, false},
		"a second ack": {func(a, b *end) error { return errors.Join(b.noteTaken(7, []byte{1, 2}), a.noteAcked([]int{7, 7})) }, false},
	} {
		a, b := pair()
		if err := c.do(a, b); (err == nil) != c.fine || err != nil && !errors.Is(err, errJudge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := result{ends: [2]counts{{100, 10, 95, 95}, {100, 10, 95, 95}}}
	cfg := config{packets: 100, path: netsim.Path{Loss: 5}}
	for name, spoil := range map[string]func(*result){
		"":             func(*result) {},
		"sent":         func(r *result) { r.ends[0].Sent-- },
		"arrived":      func(r *result) { r.ends[1].Delivered = 50 },
		"were acked":   func(r *result) { r.ends[1].Acked = 60 },
		"that arrived": func(r *result) { r.ends[1].Acked = 96 },
		"invalid":      func(r *result) { r.bad[0] = 1 },
	} {
		r := good
		spoil(&r)
		if err := r.verdict(cfg); (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCommand(t *testing.T) {
	for args, code := range map[string]int{
		"-packets 100 -per-second 1000": 0,
		"-packets 0":                    2,
		"-per-second 0":                 2,
		"-loss 101":                     2,
		"-nonsense":                     2,
		"more":                          2,
	} {
		var out, errOut bytes.Buffer
		if got := command(t.Context(), strings.Fields(args), &out, &errOut); got != code || (code == 0) != strings.Contains(out.String(), "ok: payloads equal") {
			t.Errorf("%s: %d\n%s%s", args, got, &out, &errOut)
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		to   int
		low  uint16
		want int
	}{{0, 1, 1}, {65535, 0, 65536}, {65536, 65535, 65535}, {200000, uint16(200000 & 0xffff), 200000}} {
		if got := near(c.to, c.low); got != c.want {
			t.Errorf("near(%d, %d) is %d", c.to, c.low, got)
		}
	}
}
