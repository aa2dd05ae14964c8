package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// from is a socket from which anything can be sent to a recv.
func from(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// sliceOf is the datagram of a slice whose data is zeros.
func sliceOf(t *testing.T, chunkID uint16, sliceID, numSlices int) []byte {
	t.Helper()
	d, err := codec.NewFramer(defaultProtocolID).AppendSlice(nil, codec.Slice{ChunkID: chunkID, SliceID: sliceID, NumSlices: numSlices, Data: make([]byte, codec.SliceSize)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// dialRecv is a peer of recv.
func dialRecv(t *testing.T, addr string, cfg plain.Config) *plain.Conn {
	t.Helper()
	cfg.ProtocolID = defaultProtocolID
	conn, err := plain.Dial(t.Context(), "udp", addr, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// headerOf is the header of a file.
func headerOf(data []byte) []byte {
	return binary.LittleEndian.AppendUint64([]byte("CWF2"), uint64(len(data)))
}

// withHash is content with its hash behind it.
func withHash(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(bytes.Clone(data), sum[:]...)
}

func wantStored(t *testing.T, out string, want []byte, sent, received result) {
	t.Helper()
	if sent.code != exitOK || received.code != exitOK {
		t.Fatalf("send: %+v\nrecv: %+v", sent, received)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d other bytes arrived, %v", len(got), err)
	}
}

// A peer that sends a slice now and then of a chunk that is no header does not hold
// up the file of another.
func TestASlowStrayHoldsUpNobody(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(300_000, 1)
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--plain", "--give-up", "20s", "--out", out)
	stray := from(t, addr)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for id := 0; id < 256; id++ {
			_, _ = stray.Write(sliceOf(t, 0, id, 256))
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	time.Sleep(300 * time.Millisecond)
	sent := runCommand(t, nil, "send", "--plain", "--json", "--to", addr, inputFile(t, want))
	wantStored(t, out, want, sent, <-ended)
	var report fileReport
	if err := json.Unmarshal([]byte(sent.stdout), &report); err != nil || report.Seconds > 15 { // the stray needs 25 s
		t.Errorf("it took %v s, %v", report.Seconds, err)
	}
}

// Neither --wait nor --timeout are moved or ended by peers that send no file, and
// --timeout begins with a header.
func TestStraysDoNotMoveTheTimeouts(t *testing.T) {
	t.Parallel()
	t.Run("wait", func(t *testing.T) {
		t.Parallel()
		addr, ended := startRecv(t, "--plain", "--wait", "1s", "--out", filepath.Join(t.TempDir(), "out"))
		start := time.Now()
		stray := from(t, addr)
		for id := 0; time.Since(start) < 15*time.Second; id = (id + 1) % 256 {
			_, _ = stray.Write(sliceOf(t, 0, id, 256))
			select {
			case r := <-ended:
				if r.code != exitTimeout || !strings.Contains(r.stderr, "no sender of a file within 1s") {
					t.Errorf("%+v", r)
				}
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
		t.Error("recv --wait 1s still waits after 15 s")
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		want := simulate.Pattern(3000, 1)
		out := filepath.Join(t.TempDir(), "out")
		addr, ended := startRecv(t, "--plain", "--timeout", "5s", "--give-up", "30s", "--out", out)
		_, _ = from(t, addr).Write(sliceOf(t, 0, 0, 2))
		_, _ = from(t, addr).Write(sliceOf(t, 1, 0, 2))
		conn := dialRecv(t, addr, plain.Config{}) // a whole chunk that is no header
		if err := conn.Send(t.Context(), []byte("hello")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5500 * time.Millisecond)
		sent := runCommand(t, nil, "send", "--plain", "--to", addr, inputFile(t, want))
		wantStored(t, out, want, sent, <-ended)
	})
}

// However many peers send no file, little is printed about them.
func TestManyStraysPrintLittle(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(3000, 1)
	out := filepath.Join(t.TempDir(), "out")
	addr, stderr, ended := watchRecv(t, t.Context(), "--plain", "--out", out)
	for range 30 {
		conn := dialRecv(t, addr, plain.Config{})
		if err := conn.Send(t.Context(), []byte("hello")); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	eventually(t, "they are noted", func() bool { return strings.Contains(stderr.String(), "more peers send no file") })
	sent := runCommand(t, nil, "send", "--plain", "--to", addr, inputFile(t, want))
	received := <-ended
	wantStored(t, out, want, sent, received)
	if n := strings.Count(received.stderr, "\n"); n > 6 {
		t.Errorf("%d lines:\n%s", n, received.stderr)
	}
}

// A second send to a recv that is busy is refused at once, and changes nothing.
func TestASecondSenderIsRefused(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(3_000_000, 1) // which takes 5 s
	out := filepath.Join(t.TempDir(), "out")
	addr, stderr, ended := watchRecv(t, t.Context(), "--plain", "--out", out)
	first := make(chan result, 1)
	go func() {
		first <- runCommand(t, nil, "send", "--plain", "--profile", "fixed", "--max-rate", "5M", "--to", addr, inputFile(t, want))
	}()
	eventually(t, "the first transfer begins", func() bool {
		parts, _ := filepath.Glob(out + ".*.part")
		return len(parts) == 1
	})
	second := runCommand(t, nil, "send", "--plain", "--to", addr, inputFile(t, []byte("me too")))
	if second.code != exitFailed || !strings.Contains(second.stderr, "the peer did not store the file") {
		t.Errorf("the second: %+v", second)
	}
	wantStored(t, out, want, <-first, <-ended)
	if !strings.Contains(stderr.String(), "wants to send a file, too, and is refused") {
		t.Errorf("recv says: %s", stderr.String())
	}
}

// Datagrams that do not decode are reported after a second, and counted.
func TestRecvSaysThatNothingDecodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, flag, value string }{{"protocol id", "--protocol-id", "7"}, {"lanes", "--lanes", "8"}, {"repair", "--repair", ""}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			addr, stderr, ended := watchRecv(t, ctx, "--plain", "--json", "--out", filepath.Join(t.TempDir(), "out"))
			sending, stop := context.WithCancel(t.Context())
			defer stop()
			go func() {
				var drop lockedBuffer
				execute(sending, nil, &drop, &drop, slices.DeleteFunc([]string{"send", "--plain", c.flag, c.value, "--to", addr, inputFile(t, []byte("x"))}, func(arg string) bool { return arg == "" })...)
			}()
			eventually(t, "it is noted", func() bool {
				return strings.Contains(stderr.String(), " do not decode: another --protocol-id, --lanes or --repair, or a send without --plain?")
			})
			if s := stderr.String(); strings.Count(s, "do not decode") != 1 || !strings.Contains(s, "from 127.0.0.1:") {
				t.Errorf("recv says: %s", s)
			}
			interrupt()
			r := <-ended
			var report fileReport
			if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || report.OK || report.Undecodable == 0 || r.code != exitSignal {
				t.Errorf("%v: %+v", err, r)
			}
		})
	}
}

// recv --raw takes one chunk and acks no other: its sender must not take
// it as delivered.
func TestRawAcksOneChunkOnly(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(5000, 1)
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--plain", "--raw", "--linger", "300ms", "--out", out)
	conn := dialRecv(t, addr, plain.Config{GiveUp: time.Second})
	if err := conn.Send(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := conn.Send(t.Context(), []byte("one more")); err == nil {
		t.Error("a second chunk was acked")
	}
	if st := conn.Stats().Sender; st.Chunks != 1 {
		t.Errorf("%d chunks were acked", st.Chunks)
	}
	wantStored(t, out, want, result{}, <-ended)
}

// A sender that vanishes in the middle of a chunk is reported with what had
// arrived, with --raw as well.
func TestRawReportsWhatHadArrived(t *testing.T) {
	t.Parallel()
	addr, ended := startRecv(t, "--plain", "--raw", "--json", "--give-up", "1s", "--out", filepath.Join(t.TempDir(), "out"))
	peer := from(t, addr)
	for id := range 114 {
		_, _ = peer.Write(sliceOf(t, 0, id, 256))
		time.Sleep(time.Millisecond)
	}
	r := <-ended
	var report fileReport
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != exitTimeout || report.SlicesReceived != 114 {
		t.Errorf("%v: %+v", err, r)
	}
	if want := peer.LocalAddr().String() + " stopped answering after 114 KiB of 256 KiB (waited 1s, --give-up)"; !strings.Contains(r.stderr, want) {
		t.Errorf("recv says %q, want %q in it", r.stderr, want)
	}
}

// With --raw, too, a peer that goes silent does not end what another sends.
func TestRawWithAStray(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(200_000, 1)
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--plain", "--raw", "--linger", "100ms", "--give-up", "3s", "--out", out)
	_, _ = from(t, addr).Write(sliceOf(t, 0, 0, 2))
	sent := runCommand(t, nil, "send", "--plain", "--raw", "--profile", "fixed", "--max-rate", "400k", "--to", addr, inputFile(t, want))
	wantStored(t, out, want, sent, <-ended)
}

// A send without --raw to a peer that takes one chunk says what that may mean,
// soon.
func TestSendHintsAtRaw(t *testing.T) {
	t.Parallel()
	addr, ended := startRecv(t, "--plain", "--raw", "--linger", "10s", "--out", filepath.Join(t.TempDir(), "out"))
	sent := runCommand(t, nil, "send", "--plain", "--give-up", "6s", "--to", addr, inputFile(t, simulate.Pattern(3000, 1)))
	if sent.code != exitTimeout || strings.Count(sent.stderr, "need --raw here") != 2 {
		t.Errorf("send: %+v", sent)
	}
	if r := <-ended; !strings.Contains(r.stderr, "without --raw") {
		t.Errorf("recv: %+v", r)
	}
}

// A receipt from anybody who can forge one does not make a send end well before it
// has sent everything.
func TestSendDoesNotBelieveAnEarlyReceipt(t *testing.T) {
	t.Parallel()
	pc, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := plain.New(pc, plain.Config{ProtocolID: defaultProtocolID})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	go func() {
		conn, err := peer.Accept(t.Context())
		if err == nil {
			_, _ = conn.Enqueue(t.Context(), []byte("CWR1\x00"))
		}
	}()
	r := runCommand(t, nil, "send", "--plain", "--profile", "fixed", "--max-rate", "400k", "--to", peer.Addr().String(), inputFile(t, simulate.Pattern(700_000, 1)))
	if r.code != exitFailed || !strings.Contains(r.stderr, "does not follow the file convention") {
		t.Errorf("%+v", r)
	}
}

// A file whose reader is slow at the end is reported by each end as it is.
func TestASlowReaderAtTheEnd(t *testing.T) {
	t.Parallel()
	peer, err := plain.Listen("udp", loopback, plain.Config{ProtocolID: defaultProtocolID})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	go func() { // a receiver that stores for longer than the sender waits
		c, err := peer.Accept(t.Context())
		for err == nil {
			_, err = c.Recv(t.Context())
		}
	}()
	r := runCommand(t, nil, "send", "--plain", "--give-up", "2s", "--to", peer.Addr().String(), inputFile(t, simulate.Pattern(500_000, 1)))
	if note := "has the whole file; waiting until it says that it is stored"; strings.Count(r.stderr, note) != 1 {
		t.Errorf("no note while the sender waits: %s", r.stderr)
	}
	if want := "has all 488 KiB, but has not said whether it stored them; it can still be writing"; r.code != exitTimeout || !strings.Contains(r.stderr, want) {
		t.Errorf("%+v", r)
	}
}

// noAcks is a socket that loses the acks that it is to send.
type noAcks struct{ net.PacketConn }

func (s noAcks) WriteTo(b []byte, to net.Addr) (int, error) {
	if p, err := codec.NewFramer(defaultProtocolID).Decode(b); err == nil && p.Type == codec.TypeAck {
		return len(b), nil
	}
	return s.PacketConn.WriteTo(b, to)
}

// recv says when the sender does not take the receipt.
func TestRecvSaysThatTheReceiptWasNotTaken(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--plain", "--out", out)
	data := []byte("what is sent")
	pc, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	e, err := plain.New(noAcks{pc}, plain.Config{ProtocolID: defaultProtocolID})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	conn, err := e.Dial(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range [][]byte{headerOf(data), withHash(data)} {
		if err := conn.Send(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
	}
	r := <-ended
	if r.code != exitOK || !strings.Contains(r.stderr, "the file is stored, but "+fmt.Sprint(e.Addr())+" did not take the receipt") {
		t.Errorf("%+v", r)
	}
}
