package plain_test

import (
	"context"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// A PacketConn whose WriteTo blocks does not keep callers waiting: what is in
// flight fails after GiveUp, and an idle connection after IdleTimeout, within a
// quarter more.
func TestAWriteThatBlocksDoesNotStopTheTimeouts(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   plain.Config
		want  error
		after time.Duration
	}{
		{"GiveUp", plain.Config{GiveUp: 500 * ms}, plain.ErrGaveUp, 500 * ms},
		{"IdleTimeout", plain.Config{IdleTimeout: 2 * time.Second}, plain.ErrIdle, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				pc, _ := netsim.NewNetwork(1).Listen("a")
				e, err := plain.New(&stuckSocket{Conn: pc, closed: make(chan struct{})}, c.cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				conn, err := e.Dial(netsim.Addr("b"))
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				received := during(func() error { _, err := conn.Recv(background); return err })
				wantErr(t, "Send", conn.Send(background, []byte("never leaves")), c.want)
				wantTook(t, "Send", start, c.after, c.after*5/4+200*ms)
				wantErr(t, "Recv", <-received, c.want)

				// The driver still waits; a connection that is begun now fails in time as well.
				start = time.Now()
				again, err := e.Dial(netsim.Addr("c"))
				if err != nil {
					t.Fatal(err)
				}
				wantErr(t, "Send", again.Send(background, []byte("never leaves")), c.want)
				wantTook(t, "Send", start, c.after, c.after*5/4+200*ms)
			})
		})
	}
}

// A chunk that arrives in part while a write blocks fails as well.
func TestAWriteThatBlocksDoesNotStopAReceiver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := &world{t: t, net: netsim.NewNetwork(1)}
		pc, _ := w.net.Listen("b")
		b, err := plain.New(&stuckSocket{Conn: pc, closed: make(chan struct{})}, with(func(cfg *plain.Config) { cfg.GiveUp = time.Second }))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		half, _ := w.net.Listen("half")
		defer half.Close()
		half.WriteTo(beginning(), netsim.Addr("b"))
		start := time.Now()
		c, err := b.Accept(background)
		wantErr(t, "Accept", err, nil)
		_, err = c.Recv(background)
		wantErr(t, "Recv", err, plain.ErrGaveUp)
		wantTook(t, "Recv", start, time.Second, 1500*ms)
	})
}

// A socket that is slow for a while, but not for too long, costs nothing.
func TestASlowWriteIsSurvived(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := &world{t: t, net: netsim.NewNetwork(1)}
		_, b := w.open("b", with(nil))
		pc, _ := w.net.Listen("a")
		start := time.Now()
		a, err := plain.New(&stoppedSocket{pc, start.Add(ms), start.Add(9 * time.Second)}, with(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		c := w.dial(a, "b")
		time.Sleep(2 * ms)
		ctx, cancel := context.WithTimeout(background, time.Minute)
		defer cancel()
		wantErr(t, "Send", c.Send(ctx, content(100_000, 1)), nil)
		wantTook(t, "Send", start, 9*time.Second, 10*time.Second+500*ms)
		_, err = b.Accept(background)
		wantErr(t, "Accept", err, nil)
	})
}
