package transport_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// sink keeps a file in memory and notes what happened to it.
type sink struct {
	bytes.Buffer
	info      transport.FileInfo
	committed bool
	commitErr error
	onCommit  func()
}

func (s *sink) Commit() error {
	if s.onCommit != nil {
		s.onCommit()
	}
	s.committed = s.commitErr == nil
	return s.commitErr
}

func (s *sink) open(info transport.FileInfo) (transport.FileSink, error) {
	s.info = info
	return s, nil
}

func describe(t *testing.T, b []byte) transport.FileInfo {
	t.Helper()
	info, err := transport.Describe(background, bytes.NewReader(b))
	if err != nil || info.Size != int64(len(b)) {
		t.Fatalf("Describe returned size %d, %v", info.Size, err)
	}
	return info
}

// steps records progress, and checks that it grows and reaches the end.
type steps []int64

func (s *steps) note(done, total int64) { *s = append(*s, done, total) }

func (s steps) check(t *testing.T, who string, total int64) {
	t.Helper()
	for i := 0; i < len(s); i += 2 {
		if s[i+1] != total || i > 0 && s[i] < s[i-2] {
			t.Fatalf("%s saw progress %v", who, s)
		}
	}
	if len(s) == 0 || s[0] != 0 || s[len(s)-2] != total {
		t.Errorf("%s saw progress %v, want 0 to %d", who, s, total)
	}
}

func TestFile(t *testing.T) {
	bad := netsim.Path{
		Delay: 20 * ms, LossPPM: 3 * million / 10, DuplicatePPM: million / 10, ReorderPPM: million / 10, ReorderDelay: 3 * ms,
	}
	for _, size := range []int{0, 1, 262144, 262145, 3_000_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				w := connect(t, bad, with(nil))
				file := content(size, 1)
				info := describe(t, file)
				var there, here steps
				sent := during(func() error {
					// A reader may return as little as it likes.
					return transport.SendFile(background, w.toB, info, iotest.HalfReader(bytes.NewReader(file)), there.note)
				})
				var got sink
				announced, err := transport.RecvFile(background, w.toA, got.open, here.note)
				wantErr(t, "RecvFile", err, nil)
				wantErr(t, "SendFile", <-sent, nil)
				if !got.committed || !bytes.Equal(got.Bytes(), file) || announced != info || got.info != info {
					t.Errorf("received %d bytes, committed: %v", got.Len(), got.committed)
				}
				there.check(t, "the sender", int64(size))
				here.check(t, "the receiver", int64(size))
			})
		})
	}
}

// One connection carries one file after the other, both ways.
func TestFilesInTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		for i, c := range []struct{ from, to *transport.Conn }{{w.toB, w.toA}, {w.toB, w.toA}, {w.toA, w.toB}} {
			file := content(300_000, uint64(i))
			sent := during(func() error {
				return transport.SendFile(background, c.from, describe(t, file), bytes.NewReader(file), nil)
			})
			var got sink
			_, err := transport.RecvFile(background, c.to, got.open, nil)
			wantErr(t, "RecvFile", err, nil)
			wantErr(t, "SendFile", <-sent, nil)
			if !bytes.Equal(got.Bytes(), file) {
				t.Errorf("file %d is not what was sent", i)
			}
		}
	})
}

// Each case breaks one thing in a transfer of 600,000 bytes that is otherwise
// good, and both ends say what it was (FIL-3, FIL-4, SEC-1).
func TestFileFaults(t *testing.T) {
	errDisk := errors.New("disk on fire")
	for _, c := range []struct {
		name       string
		source     func(good []byte) io.Reader
		sink       sink
		open       error
		sender     []error
		receiver   []error
		notSender  error
		commitment bool
	}{
		{name: "nothing", sender: []error{nil}, receiver: []error{nil}, commitment: true},
		{
			name:   "content that changed",
			source: func(good []byte) io.Reader { good[400_000] ^= 1; return bytes.NewReader(good) },
			sender: []error{transport.ErrMismatch, transport.ErrPeerMismatch}, receiver: []error{transport.ErrMismatch},
		},
		{
			name:   "content that shrank",
			source: func(good []byte) io.Reader { return bytes.NewReader(good[:500_000]) },
			sender: []error{transport.ErrMismatch}, receiver: []error{transport.ErrMismatch},
		},
		{
			name:   "content that shrank to the edge of a chunk",
			source: func(good []byte) io.Reader { return bytes.NewReader(good[:2*codec.MaxChunkSize]) },
			sender: []error{transport.ErrMismatch}, receiver: []error{transport.ErrMismatch},
		},
		{
			name: "content that cannot be read",
			source: func(good []byte) io.Reader {
				return io.MultiReader(bytes.NewReader(good[:300_000]), iotest.ErrReader(errDisk))
			},
			sender: []error{errDisk}, receiver: []error{transport.ErrMismatch}, notSender: transport.ErrMismatch,
		},
		{
			name:   "a file that cannot be opened",
			open:   errDisk,
			sender: []error{transport.ErrPeerRefused}, receiver: []error{errDisk},
		},
		{
			name:   "a file that cannot be committed",
			sink:   sink{commitErr: errDisk},
			sender: []error{transport.ErrPeerRefused}, receiver: []error{errDisk},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := connect(t, short, with(nil))
				good := content(600_000, 1)
				info := describe(t, good)
				var source io.Reader = bytes.NewReader(good)
				if c.source != nil {
					source = c.source(good)
				}
				start := time.Now()
				sent := during(func() error { return transport.SendFile(background, w.toB, info, source, nil) })
				got := &c.sink
				_, err := transport.RecvFile(background, w.toA, func(info transport.FileInfo) (transport.FileSink, error) {
					if c.open != nil {
						return nil, c.open
					}
					return got.open(info)
				}, nil)
				wantErr(t, "RecvFile", err, c.receiver...)
				err = <-sent
				wantErr(t, "SendFile", err, c.sender...)
				if c.notSender != nil && errors.Is(err, c.notSender) {
					t.Errorf("SendFile: %v", err)
				}
				if got.committed != c.commitment {
					t.Errorf("committed: %v", got.committed)
				}
				wantTook(t, "knowing it", start, 0, 5*time.Second)
			})
		})
	}
}

// The last byte missing: the chunk that says so must differ from the one byte
// that is expected.
func TestFileWithoutItsLastByte(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		good := append(content(codec.MaxChunkSize, 1), 0)
		info := describe(t, good)
		sent := during(func() error {
			return transport.SendFile(background, w.toB, info, bytes.NewReader(good[:codec.MaxChunkSize]), nil)
		})
		var got sink
		_, err := transport.RecvFile(background, w.toA, got.open, nil)
		wantErr(t, "RecvFile", err, transport.ErrMismatch)
		wantErr(t, "SendFile", <-sent, transport.ErrMismatch)
	})
}

// A peer that does not take the file is noticed while the network is full of it.
func TestEarlyRefusal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cfg := with(func(cfg *transport.Config) { cfg.SendQueue = 1; cfg.RecvQueue = 1 })
		w := connect(t, short, cfg)
		file := content(50*codec.MaxChunkSize, 1)
		info := describe(t, file)
		source := bytes.NewReader(file)
		sent := during(func() error { return transport.SendFile(background, w.toB, info, source, nil) })
		_, err := transport.RecvFile(background, w.toA, func(transport.FileInfo) (transport.FileSink, error) {
			time.Sleep(time.Minute) // until everything is full
			return nil, io.ErrShortWrite
		}, nil)
		wantErr(t, "RecvFile", err, io.ErrShortWrite)
		wantErr(t, "SendFile", <-sent, transport.ErrPeerRefused)
		if read := len(file) - source.Len(); read > 6*codec.MaxChunkSize {
			t.Errorf("%d bytes were read for a peer that does not want them", read)
		}
	})
}

// Field note 30: a header may promise anything; memory comes with the bytes.
func TestAbsurdHeader(t *testing.T) {
	header := append([]byte("CWF1"), make([]byte, 40)...)
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   error
	}{
		"a good one":    {func(b []byte) []byte { return b }, transport.ErrClosed},
		"8 EiB":         {func(b []byte) []byte { binary.LittleEndian.PutUint64(b[4:], 1<<63-1); return b }, transport.ErrClosed},
		"beyond":        {func(b []byte) []byte { binary.LittleEndian.PutUint64(b[4:], 1<<63); return b }, transport.ErrNotAFile},
		"short":         {func(b []byte) []byte { return b[:43] }, transport.ErrNotAFile},
		"long":          {func(b []byte) []byte { return append(b, 0) }, transport.ErrNotAFile},
		"other letters": {func(b []byte) []byte { b[3] = '2'; return b }, transport.ErrNotAFile},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := connect(t, short, with(nil))
				b := bytes.Clone(header)
				b[4] = 1 // a size that is not there
				mustSend(t, w.toB, c.change(b))
				received := during(func() error {
					_, err := transport.RecvFile(background, w.toA, new(sink).open, nil)
					return err
				})
				time.Sleep(time.Second)
				w.toA.Close()
				wantErr(t, "RecvFile", <-received, c.want)
			})
		})
	}
}

// The peer may see success only after the commit (FIL-3, FIL-4).
func TestCommitComesBeforeTheReceipt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		file := content(1000, 1)
		info := describe(t, file)
		start := time.Now()
		sent := during(func() error { return transport.SendFile(background, w.toB, info, bytes.NewReader(file), nil) })
		got := sink{onCommit: func() { time.Sleep(30 * time.Second) }}
		_, err := transport.RecvFile(background, w.toA, got.open, nil)
		wantErr(t, "RecvFile", err, nil)
		wantErr(t, "SendFile", <-sent, nil)
		wantTook(t, "SendFile", start, 30*time.Second, 31*time.Second)
	})
}

// A stored file is stored, whether or not its sender gets to know (FIL-4).
func TestLostReceipt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		file := content(1000, 1)
		info := describe(t, file)
		w.tapB.dropIf(isSlice)
		ctx, cancel := context.WithTimeout(background, time.Minute)
		defer cancel()
		sent := during(func() error { return transport.SendFile(ctx, w.toB, info, bytes.NewReader(file), nil) })
		start := time.Now()
		var got sink
		_, err := transport.RecvFile(background, w.toA, got.open, nil)
		wantErr(t, "RecvFile", err, nil)
		wantTook(t, "RecvFile", start, 3*time.Second, 4*time.Second)
		wantErr(t, "the connection", w.toA.Err(), nil)
		w.b.Close()
		wantErr(t, "SendFile", <-sent, transport.ErrCanceled)
		wantErr(t, "the sender's connection", w.toB.Err(), nil) // nothing was in flight
	})
}

// The receipt proves that everything arrived, even if the last ack did not.
func TestReceiptOvertakesTheLastAck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		w.tapB.dropIf(func(p codec.Packet) bool { return isAck(p) && p.Ack.ChunkID == 1 })
		file := content(1000, 1)
		info := describe(t, file)
		var progress steps
		sent := during(func() error {
			return transport.SendFile(background, w.toB, info, bytes.NewReader(file), progress.note)
		})
		var got sink
		_, err := transport.RecvFile(background, w.toA, got.open, nil)
		wantErr(t, "RecvFile", err, nil)
		wantErr(t, "SendFile", <-sent, nil)
		progress.check(t, "the sender", 1000)
	})
}

func TestAnswerThatIsNoReceipt(t *testing.T) {
	for _, answer := range []string{"CWR1", "CWR1\x03", "CWR2\x00", "CWR1\x00\x00", "thanks"} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, with(nil))
			mustSend(t, w.toA, []byte(answer))
			wantErr(t, answer, transport.SendFile(background, w.toB, transport.FileInfo{}, bytes.NewReader(nil), nil), transport.ErrNotAFile)
		})
	}
	bubble(t, func(t *testing.T) { // stored, before it was sent
		w := connect(t, short, with(nil))
		mustSend(t, w.toA, []byte("CWR1\x00"))
		info := transport.FileInfo{Size: 1 << 40}
		err := transport.SendFile(background, w.toB, info, zeros{}, nil)
		wantErr(t, "an early receipt", err, transport.ErrNotAFile)
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestFileCanceled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		ctx, cancel := context.WithTimeout(background, 2*time.Second)
		defer cancel()
		info := transport.FileInfo{Size: 1 << 40}
		sent := during(func() error { return transport.SendFile(ctx, w.toB, info, zeros{}, nil) })
		_, err := transport.RecvFile(ctx, w.toA, new(sink).open, nil)
		wantErr(t, "RecvFile", err, transport.ErrCanceled, context.DeadlineExceeded)
		wantErr(t, "SendFile", <-sent, transport.ErrCanceled, context.DeadlineExceeded)
		wantErr(t, "the connection", w.toB.Err(), transport.ErrCanceled)
	})
}

// slowReader returns a byte a second.
type slowReader struct{ reads int }

func (r *slowReader) Read(b []byte) (int, error) {
	r.reads++
	time.Sleep(time.Second)
	b[0] = 0
	return 1, nil
}

// A slow source keeps nobody from canceling: the read under way is the last.
func TestFileCanceledDuringASlowRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		ctx, cancel := context.WithTimeout(background, 5500*ms)
		defer cancel()
		start := time.Now()
		source := new(slowReader)
		err := transport.SendFile(ctx, w.toB, transport.FileInfo{Size: 1000}, source, nil)
		wantErr(t, "SendFile", err, transport.ErrCanceled, context.DeadlineExceeded)
		wantTook(t, "SendFile", start, 6*time.Second, 6*time.Second)
		wantErr(t, "the connection", w.toB.Err(), nil) // nothing was in flight

		start = time.Now()
		ctx, cancel = context.WithTimeout(background, 5500*ms)
		defer cancel()
		_, err = transport.Describe(ctx, new(slowReader))
		wantErr(t, "Describe", err, transport.ErrCanceled, context.DeadlineExceeded)
		wantTook(t, "Describe", start, 6*time.Second, 6*time.Second)
	})
}

// What is in flight when a slow source is canceled ends with the connection.
func TestFileCanceledDuringASlowReadWithAChunkInFlight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, outage, with(nil))
		ctx, cancel := context.WithTimeout(background, 5500*ms)
		defer cancel()
		err := transport.SendFile(ctx, w.toB, transport.FileInfo{Size: 1000}, new(slowReader), nil)
		wantErr(t, "SendFile", err, transport.ErrCanceled, context.DeadlineExceeded)
		wantErr(t, "the connection", w.toB.Err(), transport.ErrCanceled)
	})
}

// SendFile returns once the receipt is acked, and does not linger.
func TestSendFileReturnsWithTheReceipt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		info := describe(t, []byte("a file"))
		start := time.Now()
		received := during(func() error { _, err := transport.RecvFile(background, w.toA, new(sink).open, nil); return err })
		wantErr(t, "SendFile", transport.SendFile(background, w.toB, info, strings.NewReader("a file"), nil), nil)
		wantTook(t, "SendFile", start, 40*ms, 100*ms)
		if n := w.tapA.count(isFullAck); n != 1 {
			t.Errorf("%d acks of the receipt were sent, want 1", n)
		}
		wantErr(t, "Linger", w.toB.Linger(background, transport.FileLinger), nil)
		wantTook(t, "lingering", start, transport.FileLinger, transport.FileLinger+100*ms)
		wantErr(t, "RecvFile", <-received, nil)
	})
}

// The ack of the receipt is given to a slow socket before SendFile returns, also
// when the socket is busy with another connection as the receipt comes.
func TestSendFileWaitsForTheAckOfTheReceipt(t *testing.T) {
	for _, busy := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w := &world{t: t, net: netsim.NewNetwork(1)}
			pc, err := w.net.Listen("a")
			if err != nil {
				t.Fatal(err)
			}
			socket := slowTap{&tap{PacketConn: pc, mu: &w.mu}}
			a, err := transport.New(socket, with(nil))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			_, b := w.open("b", with(nil))
			received := during(func() error {
				c, err := b.Accept(background)
				if err == nil {
					_, err = transport.RecvFile(background, c, new(sink).open, nil)
				}
				return err
			})
			if busy {
				w.dial(a, "nobody").Enqueue(background, content(262_144, 1))
			}
			info := describe(t, []byte("a file"))
			wantErr(t, "SendFile", transport.SendFile(background, w.dial(a, "b"), info, strings.NewReader("a file"), nil), nil)
			if socket.count(isFullAck) == 0 {
				t.Errorf("busy %v: SendFile returned before the receipt was acked", busy)
			}
			wantErr(t, "RecvFile", <-received, nil)
		})
	}
}

// slowTap is a tap on a socket that takes a while to write.
type slowTap struct{ *tap }

func (s slowTap) WriteTo(b []byte, addr net.Addr) (int, error) {
	time.Sleep(ms)
	return s.tap.WriteTo(b, addr)
}

// An error says "transport: " once, on one line, whatever it went through.
func TestErrorTexts(t *testing.T) {
	check := func(t *testing.T, err error) {
		t.Helper()
		if err == nil || strings.Count(err.Error(), "transport: ") > 1 || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error reads %q", err)
		}
	}
	bubble(t, func(t *testing.T) { // the peer is gone
		w := connect(t, outage, with(nil))
		check(t, transport.SendFile(background, w.toB, transport.FileInfo{}, bytes.NewReader(nil), nil))
	})
	bubble(t, func(t *testing.T) { // both ends find that the content changed
		w := connect(t, short, with(nil))
		info := describe(t, []byte("before"))
		sent := during(func() error {
			return transport.SendFile(background, w.toB, info, strings.NewReader("behind"), nil)
		})
		_, err := transport.RecvFile(background, w.toA, new(sink).open, nil)
		check(t, err)
		err = <-sent
		check(t, err)
		wantErr(t, "SendFile", err, transport.ErrMismatch, transport.ErrPeerMismatch)
	})
	bubble(t, func(t *testing.T) { // canceled in flight
		w := connect(t, outage, with(nil))
		ctx, cancel := context.WithTimeout(background, ms)
		defer cancel()
		check(t, w.toB.Send(ctx, []byte("x")))
		check(t, w.toB.Err())
	})
}

// Field note 30: however large the file, both ends hold a few chunks of it.
func TestFileMemoryIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const size = 100 * codec.MaxChunkSize
		w := connect(t, netsim.Path{}, with(nil))
		w.tapA.blind = true
		info, err := transport.Describe(background, io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		ahead := &aheadReader{Reader: zeros{}}
		sent := during(func() error {
			return transport.SendFile(background, w.toB, info, ahead, func(done, _ int64) { ahead.done = done })
		})
		var peak uint64
		written := int64(0)
		_, err = transport.RecvFile(background, w.toA, func(transport.FileInfo) (transport.FileSink, error) {
			return &discard{}, nil
		}, func(done, _ int64) {
			written = done
			if done%(20*codec.MaxChunkSize) == 0 {
				peak = max(peak, heap())
			}
		})
		wantErr(t, "RecvFile", err, nil)
		wantErr(t, "SendFile", <-sent, nil)
		if ahead.most > 3*codec.MaxChunkSize {
			t.Errorf("the sender was %d bytes ahead, want at most three chunks", ahead.most)
		}
		if peak > 40*codec.MaxChunkSize || written != size {
			t.Errorf("%d bytes of heap for %d written", peak, written)
		}
	})
}

type discard struct{}

func (*discard) Write(b []byte) (int, error) { return len(b), nil }
func (*discard) Commit() error               { return nil }

// aheadReader notes how far it was read beyond what is done.
type aheadReader struct {
	io.Reader
	read, done, most int64
}

func (r *aheadReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.read += int64(n)
	r.most = max(r.most, r.read-r.done)
	return n, err
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestIsFileHeader(t *testing.T) {
	header := append([]byte("CWF1"), make([]byte, 40)...)
	if !transport.IsFileHeader(header) {
		t.Error("a header is none")
	}
	for name, chunk := range map[string][]byte{"shorter": header[:43], "longer": append(header[:44:44], 0), "other letters": append([]byte("CWF2"), header[4:]...)} {
		if transport.IsFileHeader(chunk) {
			t.Errorf("%s: a header", name)
		}
	}
}
