package attack

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// D25: in mid-transfer a NAT gives the client another address (CXL-15).
func TestD25(t *testing.T) {
	type figure struct {
		err  error
		took time.Duration
	}
	for _, remembers := range []bool{false, true} {
		figures := inVirtualTime(t, func(t *testing.T, n network, p protocol) (f figure) {
			a := meet(t, n, p)
			go func() {
				for {
					if _, err := a.accepted.Recv(background); err != nil {
						return
					}
				}
			}()
			passed := 0
			a.relay.filter(func(d direction, _ []byte) bool {
				if d == toServer {
					if passed++; passed == 20 {
						a.relay.rebind(remembers)
					}
				}
				return true
			})
			start := time.Now()
			f.err = a.client.Send(background, world)
			f.took = time.Since(start)
			t.Logf("%s: the old way brings the server's datagrams: %v: Send: %v after %v", p.name, remembers, f.err, f.took.Round(ms))
			return f
		})
		if figures[0].err == nil {
			t.Error("plain: the test tests nothing")
		}
		for _, f := range figures[1:] {
			if f.err != nil || f.took > 5*time.Second {
				t.Errorf("%v after %v", f.err, f.took)
			}
		}
	}
}

// D30: two ends of which one has something else. The chunk protocol is silent until it
// gives up. Of connections the ends agree, or the client learns why not.
func TestD30(t *testing.T) {
	virtual(t, func(t *testing.T, n network) {
		s := plainEndpoint(t, n.bind(t, "127.0.0.1:9000"), plain.Config{Lanes: 4})
		c, err := plainEndpoint(t, n.bind(t, "127.0.0.1:9001"), plain.Config{Lanes: 2}).Dial(s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = c.Send(background, world)
		took := time.Since(start)
		t.Logf("plain: 2 lanes to 4: %v after %v", err, took.Round(ms))
		if err == nil || took < 10*time.Second {
			t.Error("plain: the test tests nothing")
		}
	})
	for _, c := range []struct {
		name   string
		change func(*transport.Config) // of the client
		reason session.Reason          // 0: they agree
		within time.Duration
	}{
		{"the same", nil, 0, 0},
		{"2 lanes to 4", func(c *transport.Config) { c.Lanes = 2 }, 0, 0},
		{"16 lanes to 4", func(c *transport.Config) { c.Lanes = 16 }, 0, 0},
		{"another time-out", func(c *transport.Config) { c.Timeout = time.Minute }, 0, 0},
		{"another protocol id", func(c *transport.Config) { c.ProtocolID = 7 }, session.OtherProtocol, 0},
		{"another mode", func(c *transport.Config) { c.Mode = session.MAC }, session.OtherMode, 0},
		{"other channels", func(c *transport.Config) { c.Channels = []channel.Config{{ID: 3}} }, session.OtherFormat, 0},
		{"another key", func(c *transport.Config) { c.Key[0] ^= 1 }, session.UnknownIdentity, time.Second},
		{"an identity that nobody knows", func(c *transport.Config) { c.Identity = 1 << 63 }, session.UnknownIdentity, time.Second},
		{"no identity", func(c *transport.Config) { c.Identity, c.Key = 0, session.Key{} }, session.UnknownIdentity, time.Second},
		{"another version", nil, session.OtherVersion, time.Second},
	} {
		virtual(t, func(t *testing.T, n network) {
			s := check.Must(transport.New(n.bind(t, "127.0.0.1:9000"), transport.Config{Lanes: 4, Keys: func(_ context.Context, identity uint64) (key session.Key, err error) {
				if identity < 1<<63 {
					key = keyOf(identity)
				}
				return key, nil
			}}))
			defer s.Close()
			r := n.relay(t, s.Addr())
			r.filter(func(d direction, datagram []byte) bool {
				if kind := session.Kind(datagram[0]); c.reason == session.OtherVersion && kind == session.KindLink {
					datagram[1]++ // as one of that version would send it
				}
				return true
			})
			cfg := newIdentity()
			if c.change != nil {
				c.change(&cfg)
			}
			start := time.Now()
			p, err := transport.Over(background, n.bind(t, "127.0.0.5:9000"), r.addr(), cfg)
			took := time.Since(start)
			t.Logf("a connection: %s: %v after %v", c.name, err, took.Round(ms))
			var refused *session.RefusedError
			switch {
			case err == nil:
				defer p.Close(0, "")
				check.Same(t, c.name+": reason", c.reason, 0)
				check.Same(t, "Send", p.Chunks().Send(background, world), nil)
			case !errors.As(err, &refused):
				t.Errorf("%s: %v", c.name, err)
			default:
				check.Same(t, c.name+": reason", refused.Reason, c.reason)
			}
			check.That(t, took <= c.within+10*ms, "at once, or what is not proven after a second")
		})
	}
}
