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
	"github.com/chunkwire/chunkwire/netsim"
)

// The original implementation as it behaves on the wire, as far as the facts
// about it are known, to talk to over real sockets. It ticks 60 times a second.

const originalTick = time.Second / 60

// originalSender sends a chunk as the original does: every tick the slices that
// are not acked, as fast as it can, whether they were sent just now or not.
func originalSender(ctx context.Context, conn net.Conn, chunk []byte) error {
	framer := codec.NewFramer(defaultProtocolID)
	n := codec.NumSlices(len(chunk))
	acks := make(chan codec.Ack, 1000)
	go readPackets(conn, func(p codec.Packet) {
		if p.Type == codec.TypeAck {
			acks <- p.Ack
		}
	})
	var acked codec.Bitset
	tick := time.NewTicker(originalTick)
	defer tick.Stop()
	for cursor := 0; acked.Count() < n; {
		for range 32 {
			if !acked.Has(cursor) {
				data := chunk[cursor*codec.SliceSize : min((cursor+1)*codec.SliceSize, len(chunk))]
				d, err := framer.AppendSlice(nil, codec.Slice{SliceID: cursor, NumSlices: n, Data: data})
				if err != nil {
					return err
				}
				_, _ = conn.Write(d)
			}
			cursor = (cursor + 1) % n
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for len(acks) > 0 {
			if a := <-acks; a.ChunkID == 0 && a.NumSlices == n {
				acked = acked.Union(a.Acked)
			}
		}
	}
	return nil
}

// originalReceiver receives a chunk as the original does: an ack at most every
// 100 ms, none in the first 100 ms, and once the chunk is complete only when
// another slice of it comes. It ends with its context.
func originalReceiver(ctx context.Context, pc net.PacketConn) []byte {
	framer := codec.NewFramer(defaultProtocolID)
	type arrival struct {
		s    codec.Slice
		from net.Addr
	}
	slices := make(chan arrival, 1000)
	go func() {
		buf := make([]byte, 2000)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if p, err := framer.Decode(bytes.Clone(buf[:n])); err == nil && p.Type == codec.TypeSlice {
				slices <- arrival{p.Slice, from}
			}
		}
	}()
	var got codec.Bitset
	var chunk []byte
	var peer net.Addr
	numSlices, complete, forced := 0, false, false
	lastAck := time.Now()
	tick := time.NewTicker(originalTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return chunk
		case a := <-slices:
			peer = a.from
			if numSlices == 0 {
				numSlices, chunk = a.s.NumSlices, make([]byte, a.s.NumSlices*codec.SliceSize)
			}
			forced = complete
			if !got.Has(a.s.SliceID) {
				got.Set(a.s.SliceID)
				copy(chunk[a.s.SliceID*codec.SliceSize:], a.s.Data)
				if a.s.Last() {
					chunk = chunk[:(numSlices-1)*codec.SliceSize+len(a.s.Data)]
				}
				complete = got.Count() == numSlices
			}
		case <-tick.C:
			receiving := numSlices > 0 && !complete
			if (receiving || forced) && time.Since(lastAck) >= 100*time.Millisecond {
				d, _ := framer.AppendAck(nil, codec.Ack{NumSlices: numSlices, Acked: got})
				_, _ = pc.WriteTo(d, peer)
				lastAck, forced = time.Now(), false
			}
		}
	}
}

func readPackets(conn net.Conn, handle func(codec.Packet)) {
	framer := codec.NewFramer(defaultProtocolID)
	buf := make([]byte, 2000)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		if p, err := framer.Decode(buf[:n]); err == nil {
			handle(p)
		}
	}
}

var originalSizes = []int{1, 1024, 1025, 100_000, codec.MaxChunkSize}

func TestRawReceivesFromTheOriginal(t *testing.T) {
	t.Parallel()
	for _, n := range originalSizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			want := pattern(n, uint64(n))
			out := filepath.Join(t.TempDir(), "out")
			addr, result := startRecv(t, "--raw", "--linger", "300ms", "--out", out)
			conn, err := net.Dial("udp", badRelay(t, addr, 10))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err = originalSender(ctx, conn, want)
			cancel()
			_ = conn.Close()
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
			want := pattern(n, uint64(n))
			pc, err := net.ListenPacket("udp", loopback)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			received := make(chan []byte, 1)
			go func() { received <- originalReceiver(ctx, pc) }()
			r := runCommand(t, nil, "send", "--raw", "--to", badRelay(t, pc.LocalAddr().String(), 10), inputFile(t, want))
			cancel()
			got := <-received
			_ = pc.Close()
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
	path := netsim.Path{LossPPM: lossPercent * 10_000, DuplicatePPM: 100_000, ReorderPPM: 100_000, ReorderDelay: 5 * time.Millisecond, Delay: time.Millisecond}
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
