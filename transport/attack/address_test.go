package attack

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/transport/plain"
)

// D25: in mid-transfer a NAT gives the client another address.
func TestD25(t *testing.T) {
	type figure struct {
		err  error
		took time.Duration
	}
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
					a.relay.rebind()
				}
			}
			return true
		})
		start := time.Now()
		f.err = a.client.Send(background, world)
		f.took = time.Since(start)
		t.Logf("%s: Send: %v after %v", p.name, f.err, f.took.Round(ms))
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

// D30: two ends of which one has another number of lanes, or another version.
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
}
