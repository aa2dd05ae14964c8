package main

import (
	"bytes"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// socket is a net.PacketConn that can be stopped, as that of a process that is, and
// that sometimes corrupts or repeats what it sends.
type socket struct {
	net.PacketConn
	world *transportWorld
	name  netsim.Addr

	mu      sync.Mutex
	resumes chan struct{} // closed when it goes on; nil while it runs
	old     []byte
}

func (s *socket) stop(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resumes != nil {
		return
	}
	resumes := make(chan struct{})
	s.resumes = resumes
	time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.resumes = nil
		close(resumes)
	})
}

// wait waits while the socket is stopped.
func (s *socket) wait() {
	s.mu.Lock()
	resumes := s.resumes
	s.mu.Unlock()
	if resumes != nil {
		<-resumes
	}
}

func (s *socket) ReadFrom(b []byte) (int, net.Addr, error) {
	n, addr, err := s.PacketConn.ReadFrom(b)
	s.wait()
	return n, addr, err
}

func (s *socket) WriteTo(b []byte, addr net.Addr) (int, error) {
	s.wait()
	if n := s.world.draw(0, 99); n < 2 && !s.world.isCalm() {
		s.interfere(b, addr, n == 0)
	}
	return s.PacketConn.WriteTo(b, addr)
}

// interfere sends something else first: b with a bit changed, or an earlier
// datagram.
func (s *socket) interfere(b []byte, addr net.Addr, corrupt bool) {
	w := s.world
	if corrupt {
		w.counts.corrupted.Add(1)
		b = bytes.Clone(b)
		b[w.draw(0, int64(len(b))-1)] ^= 1 << w.draw(0, 7)
		_, _ = s.PacketConn.WriteTo(b, addr)
		return
	}
	s.mu.Lock()
	old := s.old
	if s.name != "server" { // which writes to many
		s.old = bytes.Clone(b)
	}
	s.mu.Unlock()
	if old != nil {
		w.counts.replayed.Add(1)
		_, _ = s.PacketConn.WriteTo(old, addr)
	}
}
