package file_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/internal/transporttest"
	"github.com/chunkwire/chunkwire/transport/plain"
)

const ms = time.Millisecond

var (
	background = context.Background()
	outage     = netsim.Path{Loss: 100}
	short      = netsim.Path{Delay: 10 * ms}
)

// bubble runs a test in virtual time. It fails if a goroutine is left.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// pair is two endpoints on a network, each behind a tap, and a connection between
// them.
type pair struct {
	tapA, tapB *tap
	toB, toA   *plain.Conn // at a, and at b
}

// connect makes a pair with the same path both ways. Both ends dial.
func connect(t *testing.T, p netsim.Path, cfg plain.Config) *pair {
	t.Helper()
	n := netsim.NewNetwork(1)
	if err := n.SetDefault(p); err != nil {
		t.Fatal(err)
	}
	w := &pair{}
	w.tapA, w.toB = dial(t, n, "a", "b", cfg)
	w.tapB, w.toA = dial(t, n, "b", "a", cfg)
	return w
}

// dial opens an endpoint, which is closed at the end of the test.
func dial(t *testing.T, n *netsim.Network, from, to netsim.Addr, cfg plain.Config) (*tap, *plain.Conn) {
	t.Helper()
	pc, err := n.Listen(from)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ProtocolID = transporttest.ProtocolID
	tapped := transporttest.NewTap(pc, new(sync.Mutex), cfg.Lanes)
	e, err := plain.New(tapped, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	c, err := e.Dial(to)
	if err != nil {
		t.Fatal(err)
	}
	return tapped, c
}

// What these tests share with those of package plain.
type (
	tap    = transporttest.Tap
	packet = transporttest.Packet
)

var (
	content   = transporttest.Content
	during    = transporttest.During
	wantErr   = transporttest.WantErr
	wantTook  = transporttest.WantTook
	mustSend  = transporttest.MustSend
	mustRecv  = transporttest.MustRecv
	isFullAck = transporttest.IsFullAck
)

// sink keeps content in memory and notes what happened to it.
type sink struct {
	bytes.Buffer
	committed bool
	commitErr error
	onCommit  func()
}

func (s *sink) commit() error {
	if s.onCommit != nil {
		s.onCommit()
	}
	s.committed = s.commitErr == nil
	return s.commitErr
}

func (s *sink) options() *file.ReceiveOptions { return &file.ReceiveOptions{Commit: s.commit} }

// receive takes content into a sink.
func (s *sink) receive(c *plain.Conn) (file.Info, error) {
	return file.Receive(background, c, s, s.options())
}

// announced are options with a size, right or wrong.
func announced(size int) *file.SendOptions {
	return &file.SendOptions{Info: &file.Info{Size: int64(size)}}
}
