package plain_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// sealed is a net.PacketConn that encrypts and authenticates each datagram: the
// number of the datagram, 8 bytes, and then what the AEAD makes of it. What does
// not open, or comes again, is dropped. It is for one peer, since the keys are.
type sealed struct {
	net.PacketConn
	seal, open cipher.AEAD // each direction has its own key

	sent   atomic.Uint64 // the nonce: never the same twice under one key
	replay window

	mu  sync.Mutex // of buf
	buf []byte
}

// Unwrap lets package plain find the socket, and with it the buffers: without
// them a burst of a whole chunk overflows.
func (s *sealed) Unwrap() net.PacketConn { return s.PacketConn }

func (s *sealed) WriteTo(b []byte, to net.Addr) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.sent.Add(1)
	s.buf = binary.BigEndian.AppendUint64(s.buf[:0], n)
	s.buf = s.seal.Seal(s.buf, nonce(n), b, nil)
	if _, err := s.PacketConn.WriteTo(s.buf, to); err != nil {
		return 0, err
	}
	return len(b), nil
}

// ReadFrom is called by one goroutine at a time.
func (s *sealed) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := s.PacketConn.ReadFrom(b)
		if err != nil {
			return 0, from, err
		}
		if n < 8 {
			continue
		}
		number := binary.BigEndian.Uint64(b)
		if !s.replay.isNew(number) {
			continue
		}
		plain, err := s.open.Open(b[8:8], nonce(number), b[8:n], nil)
		if err != nil {
			continue
		}
		s.replay.add(number)
		return copy(b, plain), from, nil
	}
}

func nonce(n uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 4, 12), n) }

// window remembers which of the latest 64 numbers have come. What is older counts
// as a replay.
type window struct {
	newest uint64
	seen   uint64 // bit i: newest - i
}

func (w *window) isNew(n uint64) bool {
	if n > w.newest {
		return true
	}
	return w.newest-n < 64 && w.seen>>(w.newest-n)&1 == 0
}

func (w *window) add(n uint64) {
	if n > w.newest {
		w.seen, w.newest = w.seen<<(n-w.newest), n
	}
	w.seen |= 1 << (w.newest - n)
}

// newSealed wraps a socket. Which key is for which direction must differ at the
// two ends.
func newSealed(pc net.PacketConn, sealKey, openKey []byte) (*sealed, error) {
	s := &sealed{PacketConn: pc}
	for _, k := range []struct {
		aead *cipher.AEAD
		key  []byte
	}{{&s.seal, sealKey}, {&s.open, openKey}} {
		block, err := aes.NewCipher(k.key)
		if err == nil {
			*k.aead, err = cipher.NewGCM(block)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Chunks over an encrypted socket: the PacketConn is wrapped, and package plain does
// not notice.
func ExampleNew_encrypted() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// Two keys that only the two ends know, from a handshake elsewhere.
	up, down := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)

	listen := func(sealKey, openKey []byte) (*plain.Endpoint, error) {
		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		s, err := newSealed(pc, sealKey, openKey)
		if err != nil {
			return nil, err
		}
		return plain.New(s, plain.Config{})
	}
	server, err := listen(down, up)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, err := listen(up, down)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	toServer, err := client.Dial(server.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(toServer.Send(ctx, []byte("for your eyes only")))
	fromClient, err := server.Accept(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	chunk, err := fromClient.Recv(ctx)
	fmt.Printf("%s %v\n", chunk, err)
	// Output:
	// <nil>
	// for your eyes only <nil>
}

// sealedPair is two endpoints over encrypted sockets of the loopback interface.
func sealedPair(t *testing.T) (client *plain.Conn, a, b *sealed) {
	t.Helper()
	open := func(sealKey, openKey byte) (*sealed, *plain.Endpoint) {
		pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Skipf("no loopback: %v", err)
		}
		s, err := newSealed(pc, bytes.Repeat([]byte{sealKey}, 32), bytes.Repeat([]byte{openKey}, 32))
		if err != nil {
			t.Fatal(err)
		}
		e, err := plain.New(s, with(nil))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		if st := e.Stats(); st.BufferError != nil {
			t.Errorf("the buffers of the wrapped socket: %v", st.BufferError)
		}
		acceptAll(e)
		return s, e
	}
	a, from := open(1, 2)
	b, to := open(2, 1)
	client, err := from.Dial(to.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return client, a, b
}

// A wrapper loses none of the socket's buffers, so that little is sent twice: 20
// chunks over loopback, of 256 slices each. With the system's default buffers some
// 750 are.
func TestSealedTransfersResendLittle(t *testing.T) {
	client, _, _ := sealedPair(t)
	for i := range 20 {
		mustSend(t, client, content(codec.MaxChunkSize, uint64(i)))
	}
	st := client.Stats().Sender
	t.Logf("%d of %d slices resent", st.SlicesResent, st.SlicesSent)
	if st.SlicesResent > 150 {
		t.Errorf("%d of %d slices were resent", st.SlicesResent, st.SlicesSent)
	}
}

// A datagram that was changed, or comes again, is dropped below package plain; each
// direction has its own key (SEC-5, SEC-6).
func TestSealedDropsReplays(t *testing.T) {
	client, a, b := sealedPair(t)
	mustSend(t, client, []byte("hello"))
	sent, _ := newSealed(a.PacketConn, bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32))
	before := client.Stats().DatagramsIn
	sent.WriteTo(sliceDatagram(codec.Slice{NumSlices: 1, Data: []byte("hello")}), b.LocalAddr()) // number 1 again
	a.PacketConn.WriteTo(content(100, 1), b.LocalAddr())
	a.PacketConn.WriteTo(content(3, 1), b.LocalAddr())
	mustSend(t, client, []byte("after that"))
	if got := client.Stats().DatagramsIn - before; got != 1 {
		t.Errorf("%d datagrams came back, want the ack alone", got)
	}
}

// The window takes each number once, in any order, and none that is too old (SEC-5).
func TestReplayWindow(t *testing.T) {
	var w window
	for _, c := range []struct {
		n    uint64
		want bool
	}{{1, true}, {1, false}, {3, true}, {2, true}, {2, false}, {100, true}, {36, false}, {37, true}, {37, false}, {1 << 40, true}, {100, false}} {
		if got := w.isNew(c.n); got != c.want {
			t.Errorf("number %d is new: %v", c.n, got)
		} else if got {
			w.add(c.n)
		}
	}
}
