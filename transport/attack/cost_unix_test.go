//go:build unix

package attack

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
)

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// What a forged datagram costs with the system's part: the processor time of the forger alone, to
// a socket that nobody reads, and of the forger and the server.
func BenchmarkForgedOverSockets(b *testing.B) {
	var n network
	s := anonymous.serve(b, n.bind(b, "127.0.0.1:0"))
	nobody := n.bind(b, "127.0.0.1:0")
	forger := n.bind(b, "127.5.0.1:0").(*net.UDPConn)
	f := newFlooder(session.CRC, 0)
	for _, kind := range []forgery{{"LINK", f.link}, {"PROOF", f.proof}, {"data", f.data}, {"a flood", nil}} {
		b.Run(kind.name, func(b *testing.B) {
			send := func(to netip.AddrPort) float64 {
				rng := rand.New(rand.NewPCG(1, 2))
				before := processorTime()
				for i := range b.N {
					datagram := kind.datagram
					if datagram == nil {
						datagram = f.next(rng)
					}
					forger.WriteToUDPAddrPort(datagram, to)
					if i%64 == 63 {
						time.Sleep(ms) // so that none is lost
					}
				}
				return float64(processorTime()-before) / float64(b.N)
			}
			alone := send(nobody.LocalAddr().(*net.UDPAddr).AddrPort())
			both := send(s.Addr().(*net.UDPAddr).AddrPort())
			b.ReportMetric(alone, "forger-cpu-ns/op")
			b.ReportMetric(both-alone, "server-cpu-ns/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}
