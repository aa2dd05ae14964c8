package bench

import (
	"net"
	"os"
	"sync"
	"time"
)

// fork makes two paths out of one, so that two transfers share its bottleneck.
// A byte at the end of each datagram distinguishes them; the path's overhead
// should be one less.
func (p *path) fork() (a, b *path) {
	a, b = &path{net: p.net}, &path{net: p.net}
	a.server, b.server = split(p.server)
	a.client, b.client = split(p.client)
	return a, b
}

func split(s net.PacketConn) (a, b net.PacketConn) {
	half := [2]*branch{newBranch(s, 0), newBranch(s, 1)}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, from, err := s.ReadFrom(buf)
			if err != nil {
				half[0].end()
				half[1].end()
				return
			}
			if n > 0 && buf[n-1] < 2 {
				half[buf[n-1]].put(datagram{append([]byte(nil), buf[:n-1]...), from})
			}
		}
	}()
	return half[0], half[1]
}

type datagram struct {
	data []byte
	from net.Addr
}

// branch is a socket that shares another with its sibling.
type branch struct {
	net.PacketConn
	tag  byte
	come chan datagram

	mu       sync.Mutex
	deadline time.Time
	moved    chan struct{} // closed when the deadline moves
	closed   chan struct{}
	once     sync.Once
}

func newBranch(s net.PacketConn, tag byte) *branch {
	return &branch{PacketConn: s, tag: tag, come: make(chan datagram, 1<<14), moved: make(chan struct{}), closed: make(chan struct{})}
}

func (b *branch) put(d datagram) {
	select {
	case b.come <- d:
	default: // the reader is far behind: as a full socket buffer would
	}
}

func (b *branch) end() { b.once.Do(func() { close(b.closed) }) }

// Close ends this branch alone.
func (b *branch) Close() error {
	b.end()
	return nil
}

func (b *branch) WriteTo(p []byte, to net.Addr) (int, error) {
	_, err := b.PacketConn.WriteTo(append(append(make([]byte, 0, len(p)+1), p...), b.tag), to)
	return len(p), err
}

func (b *branch) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		b.mu.Lock()
		deadline, moved := b.deadline, b.moved
		b.mu.Unlock()
		var expired <-chan time.Time
		if !deadline.IsZero() {
			timer := time.NewTimer(time.Until(deadline))
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case d := <-b.come:
			return copy(p, d.data), d.from, nil
		case <-b.closed:
			return 0, nil, net.ErrClosed
		case <-expired:
			return 0, nil, os.ErrDeadlineExceeded
		case <-moved:
		}
	}
}

func (b *branch) SetReadDeadline(t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = t
	close(b.moved)
	b.moved = make(chan struct{})
	return nil
}

func (b *branch) SetDeadline(t time.Time) error { return b.SetReadDeadline(t) }
