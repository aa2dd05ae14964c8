package transport_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/transport"
)

// A crowd is many clients on few sockets, each without goroutines: what a test of a
// server can afford on one machine.
type crowd struct {
	b       *testing.B
	start   time.Time
	sockets []*crowdSocket
}

type crowdSocket struct {
	conn    *net.UDPConn
	mu      sync.Mutex // of the clients, once all are connected
	clients []*connection.Client
	byLink  map[uint32]*connection.Client
	buf     []byte
}

func (c *crowd) now() core.Micros { return core.FromDuration(time.Since(c.start)) }

// newCrowd connects so many clients over so many sockets.
func newCrowd(b *testing.B, s *transport.Server, clients, sockets int) *crowd {
	b.Helper()
	c := &crowd{b: b, start: time.Now()}
	memory := make([]connection.Memory, sockets)
	for range sockets {
		conn, err := net.DialUDP("udp4", nil, s.Addr().(*net.UDPAddr))
		if err != nil {
			b.Fatal(err)
		}
		conn.SetReadBuffer(4 << 20)
		b.Cleanup(func() { conn.Close() })
		c.sockets = append(c.sockets, &crowdSocket{conn: conn, byLink: map[uint32]*connection.Client{}, buf: make([]byte, 2048)})
	}
	var all sync.WaitGroup
	for i, sock := range c.sockets {
		all.Go(func() {
			for range clients / sockets {
				if err := c.connect(sock, &memory[i]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	for _, sock := range c.sockets {
		go c.read(sock)
	}
	return c
}

// read takes what the server sends, until the socket is closed.
func (c *crowd) read(sock *crowdSocket) {
	buf := make([]byte, 2048)
	for {
		n, err := sock.conn.Read(buf)
		if err != nil {
			return
		}
		if n < 5 {
			continue
		}
		sock.mu.Lock()
		if client := sock.byLink[binary.LittleEndian.Uint32(buf[1:])]; client != nil {
			client.Receive(c.now(), buf[:n])
		}
		sock.mu.Unlock()
	}
}

// connect does the handshake of one client.
func (c *crowd) connect(sock *crowdSocket, memory *connection.Memory) error {
	client, err := connection.NewClient(connection.ClientConfig{Config: connection.Config{Memory: memory}, Random: rand.Reader}, c.now())
	if err != nil {
		return err
	}
	for client.Conn() == nil {
		c.flush(sock, client)
		sock.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		n, err := sock.conn.Read(sock.buf)
		if err == nil {
			client.Receive(c.now(), sock.buf[:n]) // what is for another one changes nothing
		}
		if client.Err() != nil {
			return client.Err()
		}
	}
	c.flush(sock, client)
	sock.conn.SetReadDeadline(time.Time{})
	sock.clients = append(sock.clients, client)
	sock.byLink[client.Conn().Link().ID()] = client
	return nil
}

// flush sends what is due.
func (c *crowd) flush(sock *crowdSocket, client *connection.Client) {
	for {
		datagram, ok := client.Poll(c.now(), sock.buf[1024:1024])
		if !ok {
			return
		}
		sock.conn.Write(datagram)
	}
}

// round lets every client send a message, evenly over some time.
func (c *crowd) round(over time.Duration) {
	var all sync.WaitGroup
	message := make([]byte, 60)
	began := time.Now()
	for _, sock := range c.sockets {
		all.Go(func() {
			for i, client := range sock.clients {
				time.Sleep(over*time.Duration(i)/time.Duration(len(sock.clients)) - time.Since(began))
				sock.mu.Lock()
				client.Conn().Send(c.now(), 0, message, 0)
				c.flush(sock, client)
				sock.mu.Unlock()
			}
		})
	}
	all.Wait()
}

// What 10,000 connections cost that each send a message a second, which is acked, on one
// socket of the server and on several. Processor time is that of both ends.
func BenchmarkCrowd(b *testing.B) {
	const clients = 10_000
	for _, sockets := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("%d sockets", sockets), func(b *testing.B) {
			s := listen(b, transport.Config{Sockets: sockets, MaxPeers: 4 * clients, MaxPerAddress: 4 * clients, SocketBuffer: 4 << 20})
			ctx, cancel := context.WithTimeout(background, 5*time.Minute)
			defer cancel()
			began, beganCPU := time.Now(), cpu()
			c := newCrowd(b, s, clients, 8)
			handshakes, handshakesCPU := time.Since(began), cpu()-beganCPU
			for range clients {
				if _, err := s.Accept(ctx); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			before, beforeCPU := s.Stats(), cpu()
			b.ResetTimer()
			for b.Loop() {
				c.round(time.Second)
			}
			b.StopTimer()
			after, spent := s.Stats(), cpu()-beforeCPU
			in, out := after.DatagramsIn-before.DatagramsIn, after.DatagramsOut-before.DatagramsOut
			b.ReportMetric(float64(spent.Microseconds())/float64(in+out), "cpu-us/datagram")
			b.ReportMetric(float64(in+out)/b.Elapsed().Seconds(), "datagrams/s")
			b.ReportMetric(100*float64(in)/float64(b.N*clients), "%received")
			b.ReportMetric(float64(clients)/handshakes.Seconds(), "handshakes/s")
			b.ReportMetric(float64(handshakesCPU.Microseconds())/clients, "cpu-us/handshake")
			if st := s.Stats(); st.Peers != clients {
				b.Errorf("%d of %d connections are left", st.Peers, clients)
			}
		})
	}
}
