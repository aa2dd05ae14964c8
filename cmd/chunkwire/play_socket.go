package main

import (
	"net"
	"sync"
	"time"
)

// movingSocket is a socket whose address can change without a word to who uses it, as
// when a telephone leaves its wireless network; and which can go silent, as when its
// process is killed.
type movingSocket struct {
	open func() (net.PacketConn, error)

	mu     sync.Mutex
	socket net.PacketConn
	silent bool
}

func newMovingSocket(open func() (net.PacketConn, error)) (*movingSocket, error) {
	socket, err := open()
	return &movingSocket{open: open, socket: socket}, err
}

// move gives the socket another address.
func (m *movingSocket) move() error {
	socket, err := m.open()
	if err != nil {
		return err
	}
	m.mu.Lock()
	before := m.socket
	m.socket = socket
	m.mu.Unlock()
	return before.Close()
}

// kill makes the socket silent: nothing is sent any more, and nothing comes in.
func (m *movingSocket) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = true
}

func (m *movingSocket) current() (socket net.PacketConn, silent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.socket, m.silent
}

// Unwrap returns the socket, for its buffers.
func (m *movingSocket) Unwrap() net.PacketConn {
	socket, _ := m.current()
	return socket
}

func (m *movingSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		socket, _ := m.current()
		n, from, err := socket.ReadFrom(b)
		now, silent := m.current()
		if now != socket || silent && err == nil {
			continue
		}
		return n, from, err
	}
}

func (m *movingSocket) WriteTo(b []byte, to net.Addr) (int, error) {
	socket, silent := m.current()
	if silent {
		return len(b), nil
	}
	n, err := socket.WriteTo(b, to)
	if now, _ := m.current(); now != socket {
		return len(b), nil // lost on the way
	}
	return n, err
}

func (m *movingSocket) LocalAddr() net.Addr                { return m.Unwrap().LocalAddr() }
func (m *movingSocket) Close() error                       { return m.Unwrap().Close() }
func (m *movingSocket) SetDeadline(t time.Time) error      { return m.Unwrap().SetDeadline(t) }
func (m *movingSocket) SetReadDeadline(t time.Time) error  { return m.Unwrap().SetReadDeadline(t) }
func (m *movingSocket) SetWriteDeadline(t time.Time) error { return m.Unwrap().SetWriteDeadline(t) }
