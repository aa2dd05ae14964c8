package plain_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/internal/transporttest"
	"github.com/chunkwire/chunkwire/transport/plain"
)

const (
	ms         = time.Millisecond
	million    = 1_000_000
	protocolID = transporttest.ProtocolID
)

var (
	background = context.Background()
	framer     = codec.NewFramer(protocolID)
	outage     = netsim.Path{Loss: 100}
	short      = netsim.Path{Delay: 10 * ms}
)

// with returns the good config with one thing changed.
func with(change func(*plain.Config)) plain.Config {
	cfg := plain.Config{ProtocolID: protocolID}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

// variant is one of the two, with or without repair slices.
type variant struct{ repair bool }

// each runs a test for both variants.
func each(t *testing.T, test func(t *testing.T, v variant)) {
	for name, v := range map[string]variant{"named": {false}, "repair": {true}} {
		t.Run(name, func(t *testing.T) { test(t, v) })
	}
}

// with returns the good config of the variant with one thing changed.
func (v variant) with(change func(*plain.Config)) plain.Config {
	cfg := with(change)
	cfg.Repair = v.repair
	return cfg
}

// lanes returns the good config of the variant with n lanes, and more changed.
func (v variant) lanes(n int, changes ...func(*plain.Config)) plain.Config {
	cfg := lanes(n, changes...)
	cfg.Repair = v.repair
	return cfg
}

// bubble runs a test in virtual time. It fails if a goroutine is left.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// world is two endpoints on a network, "a" and "b", each behind a tap, and a
// connection between them.
type world struct {
	t          *testing.T
	net        *netsim.Network
	mu         sync.Mutex // of all taps, so that what drops at one may look at another
	tapA, tapB *tap
	a, b       *plain.Endpoint
	toB, toA   *plain.Conn // at a, and at b
}

// connect makes a world with the same path both ways. Both ends dial.
func connect(t *testing.T, p netsim.Path, cfg plain.Config) *world {
	t.Helper()
	return connectEnds(t, p, cfg, cfg)
}

// connectEnds makes one whose ends need not agree.
func connectEnds(t *testing.T, p netsim.Path, a, b plain.Config) *world {
	t.Helper()
	w := &world{t: t, net: netsim.NewNetwork(1)}
	w.net.SetDefault(p)
	w.tapA, w.a = w.open("a", a)
	w.tapB, w.b = w.open("b", b)
	w.toB = w.dial(w.a, "b")
	w.toA = w.dial(w.b, "a")
	return w
}

// open starts an endpoint, which is closed at the end of the test.
func (w *world) open(addr netsim.Addr, cfg plain.Config) (*tap, *plain.Endpoint) {
	w.t.Helper()
	pc, err := w.net.Listen(addr)
	if err != nil {
		w.t.Fatal(err)
	}
	tapped := transporttest.NewTap(pc, &w.mu, cfg.Lanes)
	e, err := plain.New(tapped, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { e.Close() })
	return tapped, e
}

func (w *world) dial(e *plain.Endpoint, to netsim.Addr) *plain.Conn {
	w.t.Helper()
	c, err := e.Dial(to)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// setPath changes the network both ways.
func (w *world) setPath(p netsim.Path) {
	w.net.SetPath("a", "b", p)
	w.net.SetPath("b", "a", p)
}

// What these tests share with those of package file.
type (
	tap    = transporttest.Tap
	packet = transporttest.Packet
)

var (
	content  = transporttest.Content
	during   = transporttest.During
	wantErr  = transporttest.WantErr
	wantTook = transporttest.WantTook
	mustSend = transporttest.MustSend
	mustRecv = transporttest.MustRecv
	isSlice  = transporttest.IsSlice
	isAck    = transporttest.IsAck

	laneFramer = transporttest.LaneFramer
)

// wantNothing checks that no chunk comes within a virtual minute.
func wantNothing(t *testing.T, c *plain.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	if chunk, err := c.Recv(ctx); err == nil {
		t.Errorf("Recv returned %d bytes, want nothing", len(chunk))
	}
}
