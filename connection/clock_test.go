package connection_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// skewed is an end whose clock began earlier than the world's clock, and runs some millionths too fast.
type skewed struct {
	*connection.Conn
	ahead core.Micros
	ppm   core.Micros
}

func (e skewed) here(now core.Micros) core.Micros { return now + e.ahead + now*e.ppm/1_000_000 }

func (e skewed) Handle(now core.Micros, d []byte) { _ = e.Receive(e.here(now), d) }

func (e skewed) Poll(now core.Micros) ([]byte, bool) { return e.Conn.Poll(e.here(now), nil) }

func (e skewed) Deadline() core.Micros {
	if at := e.Conn.Deadline(); at != core.Never {
		return max(0, at-e.ahead-(at-e.ahead)*e.ppm/(1_000_000+e.ppm)) + 1
	}
	return core.Never
}

// Both ends know the other's clock to a quarter of the round trip, over paths of which one direction takes three times
// as long as the other, that jitter and lose, with clocks that run apart; what they say are the bounds is so, and the
// round trip has no wait in it (CXM-29 to CXM-31).
func TestClocks(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		down, up  netsim.Path
		ppm       core.Micros
		busy      bool // the client sends, the server only receives
		quarterOf core.Micros
	}{
		"even":       {netsim.Path{Delay: 25 * ms}, netsim.Path{Delay: 25 * ms}, 0, true, 50_000},
		"asymmetric": {netsim.Path{Delay: 45 * ms}, netsim.Path{Delay: 15 * ms}, 0, true, 60_000},
		"drift":      {netsim.Path{Delay: 15 * ms, Jitter: 20 * ms}, netsim.Path{Delay: 45 * ms, Jitter: 20 * ms, Loss: 10}, 100, true, 60_000},
		"slow":       {netsim.Path{Delay: 10 * ms}, netsim.Path{Delay: 30 * ms, Jitter: 30 * ms}, -100, true, 40_000},
		"idle":       {netsim.Path{Delay: 20 * ms}, netsim.Path{Delay: 20 * ms}, 100, false, 40_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agreed := plenty
			agreed.Extensions = session.ExtensionClock
			client, server := links(session.CRC, agreed)
			const ahead = 5000 * second
			a := skewed{Conn: check.Must(connection.NewConn(connection.Config{}, client, connection.ClientSide, 0))}
			b := skewed{check.Must(connection.NewConn(connection.Config{}, server, connection.ServerSide, ahead)), ahead, c.ppm}
			up, down := check.Must(netsim.NewLink(c.up, 7)), check.Must(netsim.NewLink(c.down, 8))
			w := sim.NewWorld(sim.Links(up, down, func(d []byte) int { return len(d) }), sim.End[[]byte](a), b)
			for at := core.Micros(0); at < 60*second; at += 20_000 {
				w.At(at, func() {
					now := w.Now()
					if c.busy {
						_ = a.Send(a.here(now), unreliable, []byte("position"), 0)
					}
					for _, d := range []struct{ one, other skewed }{{a, b}, {b, a}} {
						rtt, known := d.one.RTT()
						remote, _ := d.one.Remote()
						if now > 5*second && !known {
							t.Fatalf("nothing is known at %d", now)
						}
						if !known {
							continue
						}
						low, high := remote.At(d.one.here(now))
						truth := d.other.here(now) - d.one.here(now)
						if low > truth || truth > high {
							t.Fatalf("at %d the difference %d is not from %d to %d", now, truth, low, high)
						}
						if off := (low+high)/2 - truth; now > 10*second && max(off, -off) > c.quarterOf/4+3000 {
							t.Fatalf("at %d it is wrong by %d", now, off)
						}
						if most := c.quarterOf + core.FromDuration(c.up.Jitter+c.down.Jitter) + 300; rtt < c.quarterOf-300 || rtt > most {
							t.Fatalf("at %d the round trip is %d", now, rtt)
						}
					}
				})
			}
			w.Run(60*second, func() bool { return false })
		})
	}
}
