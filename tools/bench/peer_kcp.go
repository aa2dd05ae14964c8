package bench

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/xtaci/kcp-go/v5"
)

// kcpPeer is kcp-go with a set-up of its own for each end.
func kcpPeer(name, note string, data, parity int, tune func(*kcp.UDPSession)) Peer {
	return Peer{Name: name, Note: note, Connect: func(_ context.Context, p *path) (*pipe, error) {
		c, err := connectKCP(p, data, parity, tune)
		if err != nil {
			return nil, err
		}
		way := streamPipe(c.server, c.client)
		way.back, way.close = streamPipe(c.client, c.server), c.close
		return way, nil
	}}
}

// kcpConn is both ends of a connection.
type kcpConn struct {
	server, client *kcp.UDPSession
	close          func()
}

func connectKCP(p *path, data, parity int, tune func(*kcp.UDPSession)) (*kcpConn, error) {
	beginKCP()
	listener, err := kcp.ServeConn(nil, data, parity, p.server)
	if err != nil {
		return nil, err
	}
	client, err := kcp.NewConn2(serverAddr, nil, data, parity, p.client)
	if err != nil {
		return nil, err
	}
	tune(client)
	if _, err := client.Write([]byte{1}); err != nil {
		return nil, err
	}
	server, err := listener.AcceptKCP()
	if err != nil {
		return nil, err
	}
	tune(server)
	if _, err := readBlock(server, 1); err != nil {
		return nil, err
	}
	var closed atomic.Bool // two may close at once, and who waited for a lock would stop virtual time
	return &kcpConn{server, client, func() {
		if closed.Swap(true) {
			return
		}
		// Its listener makes a session, which nobody would close, of what comes late.
		p.close()
		time.Sleep(time.Millisecond)
		_ = server.Close()
		_ = client.Close()
		_ = listener.Close()
		endKCP()
	}}, nil
}

// kcpConns is how many connections there are.
var kcpConns int

// beginKCP makes the timers of kcp-go, which are global, for the first connection of a
// run: they must live in the same virtual time as all of its connections.
func beginKCP() {
	if kcpConns == 0 {
		kcp.SystemTimedSched = kcp.NewTimedSched(runtime.NumCPU())
	}
	kcpConns++
}

func endKCP() {
	if kcpConns--; kcpConns == 0 {
		kcp.SystemTimedSched.Close()
	}
}

func kcpTurbo(s *kcp.UDPSession) {
	s.SetNoDelay(1, 10, 2, 1)
	s.SetWindowSize(1024, 1024)
}

func kcpTurboAckAtOnce(s *kcp.UDPSession) {
	kcpTurbo(s)
	s.SetACKNoDelay(true)
}

// kcpPeers are the set-ups that people use.
func kcpPeers() []Peer {
	return []Peer{
		kcpPeer("kcp", "as it comes: windows of 32 packets, a tick of 100 ms", 0, 0, func(*kcp.UDPSession) {}),
		kcpPeer("kcp turbo", "NoDelay(1,10,2,1), windows of 1024", 0, 0, kcpTurbo),
		kcpPeer("kcp turbo, acks at once", "the same with SetACKNoDelay", 0, 0, kcpTurboAckAtOnce),
		kcpPeer("kcp turbo, FEC 10/3", "the same with 3 parity packets for every 10", 10, 3, kcpTurboAckAtOnce),
	}
}
