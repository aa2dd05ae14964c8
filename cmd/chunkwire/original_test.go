package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// The original implementation as it behaves on the wire, as far as the facts
// about it are known, for transfers over real sockets. It runs 60 frames a second: in
// each it reads what its socket has, and sends one packet.

const (
	originalFrame = time.Second / 60
	// originalBuffer is what Linux gives a socket that asks for nothing: it reports
	// 212,992 bytes, twice what this asks for. What comes between two frames must fit.
	originalBuffer = 212_992 / 2
)

// originalPoll reads the packets that have come since the last frame.
func originalPoll(pc net.PacketConn, handle func(codec.Packet, net.Addr)) {
	framer := codec.NewFramer(defaultProtocolID)
	buf := make([]byte, 2000)
	for {
		_ = pc.SetReadDeadline(time.Now().Add(time.Millisecond))
		n, from, err := pc.ReadFrom(buf)
		if err != nil {
			return
		}
		if p, err := framer.Decode(bytes.Clone(buf[:n])); err == nil {
			handle(p, from)
		}
	}
}

// originalSocket is a socket with the buffer of one that asks for nothing.
func originalSocket(t *testing.T) net.PacketConn {
	t.Helper()
	pc, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	if err := pc.(*net.UDPConn).SetReadBuffer(originalBuffer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.Close() })
	return pc
}

// originalSender sends a chunk as the original does: in each frame the slice at the
// cursor, unless that is acked, whether it was sent just now or not; and then the
// cursor moves on by one.
func originalSender(ctx context.Context, pc net.PacketConn, to net.Addr, chunk []byte) error {
	framer := codec.NewFramer(defaultProtocolID)
	n := codec.NumSlices(len(chunk))
	var acked core.Set
	frame := time.NewTicker(originalFrame)
	defer frame.Stop()
	for cursor := 0; acked.Count() < n; cursor = (cursor + 1) % n {
		for acked.Has(cursor) { // to keep the test short
			cursor = (cursor + 1) % n
		}
		data := chunk[cursor*codec.SliceSize : min((cursor+1)*codec.SliceSize, len(chunk))]
		d, err := framer.AppendSlice(nil, codec.Slice{SliceID: cursor, NumSlices: n, Data: data})
		if err != nil {
			return err
		}
		_, _ = pc.WriteTo(d, to)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-frame.C:
		}
		originalPoll(pc, func(p codec.Packet, _ net.Addr) {
			if p.Type == codec.TypeAck && p.Ack.ChunkID == 0 && p.Ack.NumSlices == n {
				acked = acked.Union(p.Ack.Acked)
			}
		})
	}
	return nil
}

// originalReceiver receives a chunk as the original does: an ack at most every
// 100 ms, none in the first 100 ms, and once the chunk is complete only when
// another slice of it comes. It ends with its context.
func originalReceiver(ctx context.Context, pc net.PacketConn) []byte {
	framer := codec.NewFramer(defaultProtocolID)
	var got core.Set
	var chunk []byte
	var peer net.Addr
	numSlices, complete, forced := 0, false, false
	take := func(p codec.Packet, from net.Addr) {
		s := p.Slice
		if p.Type != codec.TypeSlice || s.ChunkID != 0 {
			return
		}
		peer = from
		if numSlices == 0 {
			numSlices, chunk = s.NumSlices, make([]byte, s.NumSlices*codec.SliceSize)
		}
		if forced = complete; got.Has(s.SliceID) {
			return
		}
		got.Add(s.SliceID)
		copy(chunk[s.SliceID*codec.SliceSize:], s.Data)
		if s.Last() {
			chunk = chunk[:(numSlices-1)*codec.SliceSize+len(s.Data)]
		}
		complete = got.Count() == numSlices
	}
	lastAck := time.Now()
	frame := time.NewTicker(originalFrame)
	defer frame.Stop()
	for {
		select {
		case <-ctx.Done():
			return chunk
		case <-frame.C:
		}
		originalPoll(pc, take)
		receiving := numSlices > 0 && !complete
		if (receiving || forced) && time.Since(lastAck) >= 100*time.Millisecond {
			d, _ := framer.AppendAck(nil, codec.Ack{NumSlices: numSlices, Acked: got})
			_, _ = pc.WriteTo(d, peer)
			lastAck, forced = time.Now(), false
		}
	}
}

var originalSizes = []int{1, 1024, 1025, 100_000, codec.MaxChunkSize}

func TestRawReceivesFromTheOriginal(t *testing.T) {
	t.Parallel()
	for _, n := range originalSizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			want := simulate.Pattern(n, uint64(n))
			out := filepath.Join(t.TempDir(), "out")
			addr, result := startRecv(t, "--plain", "--raw", "--linger", "300ms", "--out", out)
			to, err := net.ResolveUDPAddr("udp", badRelay(t, addr, 10))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err = originalSender(ctx, originalSocket(t), to, want)
			cancel()
			if err != nil {
				t.Fatalf("the original is not done: %v", err)
			}
			if r := <-result; r.code != exitOK {
				t.Fatalf("recv ends with %d: %s", r.code, r.stderr)
			}
			if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
				t.Errorf("other bytes arrived (%v)", err)
			}
		})
	}
}

func TestRawSendsToTheOriginal(t *testing.T) {
	t.Parallel()
	for _, n := range originalSizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			want := simulate.Pattern(n, uint64(n))
			pc := originalSocket(t)
			ctx, cancel := context.WithCancel(t.Context())
			received := make(chan []byte, 1)
			go func() { received <- originalReceiver(ctx, pc) }()
			r := runCommand(t, nil, "send", "--plain", "--raw", "--to", badRelay(t, pc.LocalAddr().String(), 10), inputFile(t, want))
			cancel()
			got := <-received
			if r.code != exitOK {
				t.Fatalf("send ends with %d: %s", r.code, r.stderr)
			}
			if !bytes.Equal(got, want) {
				t.Error("other bytes arrived")
			}
		})
	}
}

// badRelay stands before a server: it loses the percentage given, doubles 10 %
// and reorders. It returns the address to send to.
func badRelay(t *testing.T, server string, lossPercent int) string {
	t.Helper()
	to, err := net.ResolveUDPAddr("udp", server)
	if err != nil {
		t.Fatal(err)
	}
	front, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	path := netsim.Path{Loss: float64(lossPercent), Duplicate: 10, Reorder: 10, ReorderDelay: 5 * time.Millisecond, Delay: time.Millisecond}
	relay, err := netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: to, Up: path, Down: path, Seed: 1,
		Dial: func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = relay.Close() })
	return front.LocalAddr().String()
}
