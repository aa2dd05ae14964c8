package file_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

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
		Delay: 20 * ms, Loss: 30, Duplicate: 10, Reorder: 10, ReorderDelay: 3 * ms,
	}
	for i := range 10 {
		size, repaired := []int{0, 1, 262144, 262145, 3_000_000}[i/2], i%2 == 1
		t.Run(fmt.Sprintf("%d/%t", size, repaired), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				w := connect(t, bad, plain.Config{Repair: repaired})
				data := content(size, 1)
				info := file.Info{Size: int64(size)}
				var there, here steps
				sent := during(func() error {
					// A reader may return as little as it likes.
					return file.Send(background, w.toB, iotest.HalfReader(bytes.NewReader(data)), &file.SendOptions{Info: &info, Progress: there.note})
				})
				var got sink
				header, err := file.Receive(background, w.toA, &got, &file.ReceiveOptions{Commit: got.commit, Progress: here.note})
				wantErr(t, "Receive", err, nil)
				wantErr(t, "Send", <-sent, nil)
				if !got.committed || !bytes.Equal(got.Bytes(), data) || header != info || info.SHA256 != [32]byte(hashOf(data)) {
					t.Errorf("received %d bytes, committed: %v", got.Len(), got.committed)
				}
				there.check(t, "the sender", int64(size))
				here.check(t, "the receiver", int64(size))
			})
		})
	}
}

// One connection carries one file after the other, both ways (FIL-8).
func TestFilesInTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		for i, c := range []struct{ from, to *plain.Conn }{{w.toB, w.toA}, {w.toB, w.toA}, {w.toA, w.toB}} {
			data := content(300_000, uint64(i))
			sent := during(func() error {
				return file.Send(background, c.from, bytes.NewReader(data), announced(len(data)))
			})
			var got sink
			_, err := got.receive(c.to)
			wantErr(t, "Receive", err, nil)
			wantErr(t, "Send", <-sent, nil)
			if !bytes.Equal(got.Bytes(), data) {
				t.Errorf("file %d is not what was sent", i)
			}
		}
	})
}

// failingWriter fails with its error, if it has one.
type failingWriter struct{ err error }

func (w failingWriter) Write(b []byte) (int, error) { return len(b), w.err }

// Each case breaks one thing in a transfer of 600,000 bytes that is otherwise
// good, and both ends say what it was (FIL-3, FIL-4, SEC-1, RPH-1).
func TestFileFaults(t *testing.T) {
	errDisk := errors.New("disk failed")
	for _, c := range []struct {
		name       string
		source     func(good []byte) io.Reader
		sink       sink
		write      error
		sender     []error
		receiver   []error
		notSender  error
		commitment bool
	}{
		{name: "nothing", sender: []error{nil}, receiver: []error{nil}, commitment: true},
		{
			name:   "content that shrank",
			source: func(good []byte) io.Reader { return bytes.NewReader(good[:500_000]) },
			sender: []error{file.ErrMismatch}, receiver: []error{file.ErrMismatch},
		},
		{
			name:   "content that shrank to the edge of a chunk",
			source: func(good []byte) io.Reader { return bytes.NewReader(good[:2*codec.MaxChunkSize]) },
			sender: []error{file.ErrMismatch}, receiver: []error{file.ErrMismatch},
		},
		{
			name: "content that cannot be read",
			source: func(good []byte) io.Reader {
				return io.MultiReader(bytes.NewReader(good[:300_000]), iotest.ErrReader(errDisk))
			},
			sender: []error{errDisk}, receiver: []error{file.ErrMismatch}, notSender: file.ErrMismatch,
		},
		{
			name:   "a file that cannot be written",
			write:  errDisk,
			sender: []error{file.ErrPeerRefused}, receiver: []error{errDisk},
		},
		{
			name:   "a file that cannot be committed",
			sink:   sink{commitErr: errDisk},
			sender: []error{file.ErrPeerRefused}, receiver: []error{errDisk},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := connect(t, short, plain.Config{})
				good := content(600_000, 1)
				var source io.Reader = bytes.NewReader(good)
				if c.source != nil {
					source = c.source(good)
				}
				start := time.Now()
				sent := during(func() error { return file.Send(background, w.toB, source, announced(len(good))) })
				got := &c.sink
				_, err := file.Receive(background, w.toA, io.MultiWriter(got, failingWriter{c.write}), got.options())
				wantErr(t, "Receive", err, c.receiver...)
				err = <-sent
				wantErr(t, "Send", err, c.sender...)
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
// (FIL-6)
func TestFileWithoutItsLastByte(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		good := append(content(codec.MaxChunkSize, 1), 0)
		sent := during(func() error {
			return file.Send(background, w.toB, bytes.NewReader(good[:codec.MaxChunkSize]), announced(len(good)))
		})
		var got sink
		_, err := got.receive(w.toA)
		wantErr(t, "Receive", err, file.ErrMismatch)
		wantErr(t, "Send", <-sent, file.ErrMismatch)
	})
}

// A peer that does not take the file is noticed while the network is full of it.
func TestEarlyRefusal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{SendQueue: 1, RecvQueue: 1})
		data := content(50*codec.MaxChunkSize, 1)
		source := bytes.NewReader(data)
		sent := during(func() error { return file.Send(background, w.toB, source, announced(len(data))) })
		_, err := file.ReceiveHeader(background, w.toA)
		wantErr(t, "ReceiveHeader", err, nil)
		time.Sleep(time.Minute) // until everything is full
		file.Refuse(background, w.toA)
		wantErr(t, "Send", <-sent, file.ErrPeerRefused)
		if read := len(data) - source.Len(); read > 6*codec.MaxChunkSize {
			t.Errorf("%d bytes were read for a peer that does not want them", read)
		}
	})
}

// A header may promise anything; memory comes with the bytes.
// (FIL-5)
func TestAbsurdHeader(t *testing.T) {
	header := append([]byte("CWF2"), make([]byte, 8)...)
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   error
	}{
		"a good one":    {func(b []byte) []byte { return b }, plain.ErrClosed},
		"8 EiB":         {func(b []byte) []byte { binary.LittleEndian.PutUint64(b[4:], 1<<63-1); return b }, plain.ErrClosed},
		"beyond":        {func(b []byte) []byte { binary.LittleEndian.PutUint64(b[4:], 1<<63); return b }, file.ErrConvention},
		"short":         {func(b []byte) []byte { return b[:11] }, file.ErrConvention},
		"long":          {func(b []byte) []byte { return append(b, 0) }, file.ErrConvention},
		"other letters": {func(b []byte) []byte { b[3] = '1'; return b }, file.ErrConvention},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := connect(t, short, plain.Config{})
				b := bytes.Clone(header)
				b[4] = 1 // a size that is not there
				mustSend(t, w.toB, c.change(b))
				received := during(func() error {
					_, err := file.Receive(background, w.toA, new(sink), nil)
					return err
				})
				time.Sleep(time.Second)
				w.toA.Close()
				wantErr(t, "Receive", <-received, c.want)
			})
		})
	}
}

// The peer may see success only after the commit (FIL-3, FIL-4).
func TestCommitComesBeforeTheReceipt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		data := content(1000, 1)
		start := time.Now()
		sent := during(func() error { return file.Send(background, w.toB, bytes.NewReader(data), announced(len(data))) })
		got := sink{onCommit: func() { time.Sleep(30 * time.Second) }}
		_, err := got.receive(w.toA)
		wantErr(t, "Receive", err, nil)
		wantErr(t, "Send", <-sent, nil)
		wantTook(t, "Send", start, 30*time.Second, 31*time.Second)
	})
}

// A stored file is stored, whether or not its sender gets to know (FIL-4).
func TestLostReceipt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{GiveUp: time.Hour})
		data := content(1000, 1)
		w.tapB.DropIf(func(p packet) bool { return p.Type == codec.TypeSlice })
		ctx, cancel := context.WithTimeout(background, time.Minute)
		defer cancel()
		sent := during(func() error { return file.Send(ctx, w.toB, bytes.NewReader(data), announced(len(data))) })
		start := time.Now()
		var got sink
		_, err := got.receive(w.toA)
		wantErr(t, "Receive", err, nil)
		wantTook(t, "Receive", start, 10*time.Second, 11*time.Second)
		wantErr(t, "the connection", w.toA.Err(), nil)
		w.toA.Endpoint().Close()
		wantErr(t, "Send", <-sent, plain.ErrCanceled)
		wantErr(t, "the sender's connection", w.toB.Err(), nil) // nothing was in flight
	})
}

// A receipt that is late by many losses arrives (the relay of a test of the command that lost a
// third both ways, on a busy machine, took more than three seconds).
func TestLateReceipt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		late := time.Now().Add(8 * time.Second)
		w.tapB.DropIf(func(p packet) bool { return p.Type == codec.TypeSlice && time.Now().Before(late) })
		received := during(func() error { _, err := file.Receive(background, w.toA, new(sink), nil); return err })
		wantErr(t, "Send", file.Send(background, w.toB, strings.NewReader("a file"), nil), nil)
		wantErr(t, "Receive", <-received, nil)
		if w.toA.SenderStats().Chunks != 1 {
			t.Error("the receiver does not know that its receipt has arrived")
		}
	})
}

// The receipt proves that everything arrived, even if the last ack did not.
func TestReceiptOvertakesTheLastAck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		w.tapB.DropIf(func(p packet) bool { return p.Type == codec.TypeAck && p.Ack.ChunkID == 1 })
		data := content(1000, 1)
		info := file.Info{Size: 1000}
		var progress steps
		sent := during(func() error {
			return file.Send(background, w.toB, bytes.NewReader(data), &file.SendOptions{Info: &info, Progress: progress.note})
		})
		var got sink
		_, err := got.receive(w.toA)
		wantErr(t, "Receive", err, nil)
		wantErr(t, "Send", <-sent, nil)
		progress.check(t, "the sender", 1000)
	})
}

func TestAnswerThatIsNoReceipt(t *testing.T) {
	for _, answer := range []string{"CWR1", "CWR1\x03", "CWR2\x00", "CWR1\x00\x00", "thanks"} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, plain.Config{})
			mustSend(t, w.toA, []byte(answer))
			wantErr(t, answer, file.Send(background, w.toB, bytes.NewReader(nil), announced(0)), file.ErrConvention)
		})
	}
	bubble(t, func(t *testing.T) { // stored, before it was sent
		w := connect(t, short, plain.Config{})
		mustSend(t, w.toA, []byte("CWR1\x00"))
		err := file.Send(background, w.toB, zeros{}, announced(1<<40))
		wantErr(t, "an early receipt", err, file.ErrConvention)
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestFileCanceled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		ctx, cancel := context.WithTimeout(background, 2*time.Second)
		defer cancel()
		sent := during(func() error { return file.Send(ctx, w.toB, zeros{}, announced(1<<40)) })
		_, err := file.Receive(ctx, w.toA, new(sink), nil)
		wantErr(t, "Receive", err, plain.ErrCanceled, context.DeadlineExceeded)
		wantErr(t, "Send", <-sent, plain.ErrCanceled, context.DeadlineExceeded)
		wantErr(t, "the connection", w.toB.Err(), plain.ErrCanceled)
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
		w := connect(t, short, plain.Config{})
		ctx, cancel := context.WithTimeout(background, 5500*ms)
		defer cancel()
		start := time.Now()
		source := new(slowReader)
		err := file.Send(ctx, w.toB, source, announced(1000))
		wantErr(t, "Send", err, plain.ErrCanceled, context.DeadlineExceeded)
		wantTook(t, "Send", start, 6*time.Second, 6*time.Second)
		wantErr(t, "the connection", w.toB.Err(), nil) // nothing was in flight
	})
}

// What is in flight when a slow source is canceled ends with the connection.
func TestFileCanceledDuringASlowReadWithAChunkInFlight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, outage, plain.Config{})
		ctx, cancel := context.WithTimeout(background, 5500*ms)
		defer cancel()
		err := file.Send(ctx, w.toB, new(slowReader), announced(1000))
		wantErr(t, "Send", err, plain.ErrCanceled, context.DeadlineExceeded)
		wantErr(t, "the connection", w.toB.Err(), plain.ErrCanceled)
	})
}

// Send returns once the receipt is acked, and does not linger.
func TestSendReturnsWithTheReceipt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		start := time.Now()
		received := during(func() error { _, err := file.Receive(background, w.toA, new(sink), nil); return err })
		wantErr(t, "Send", file.Send(background, w.toB, strings.NewReader("a file"), announced(6)), nil)
		wantTook(t, "Send", start, 40*ms, 100*ms)
		if n := w.tapA.Count(isFullAck); n != 1 {
			t.Errorf("%d acks of the receipt were sent, want 1", n)
		}
		wantErr(t, "Linger", w.toB.Linger(background, file.Linger), nil)
		wantTook(t, "lingering", start, file.Linger, file.Linger+100*ms)
		wantErr(t, "Receive", <-received, nil)
	})
}

// The ack of the receipt is given to a slow socket before Send returns, also
// when the socket is busy with another connection as the receipt comes.
func TestSendWaitsForTheAckOfTheReceipt(t *testing.T) {
	for _, busy := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			n := netsim.NewNetwork(1)
			socket, toB := dial(t, n, "a", "b", plain.Config{})
			socket.Takes = ms
			_, toA := dial(t, n, "b", "a", plain.Config{})
			received := during(func() error { _, err := file.Receive(background, toA, new(sink), nil); return err })
			if busy {
				other, err := toB.Endpoint().Dial(netsim.Addr("nobody"))
				wantErr(t, "Dial", err, nil)
				other.Enqueue(background, content(262_144, 1))
			}
			wantErr(t, "Send", file.Send(background, toB, strings.NewReader("a file"), nil), nil)
			if socket.Count(isFullAck) == 0 {
				t.Errorf("busy %v: Send returned before the receipt was acked", busy)
			}
			wantErr(t, "Receive", <-received, nil)
		})
	}
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
		w := connect(t, outage, plain.Config{})
		check(t, file.Send(background, w.toB, bytes.NewReader(nil), announced(0)))
	})
	bubble(t, func(t *testing.T) { // canceled in flight
		w := connect(t, outage, plain.Config{})
		ctx, cancel := context.WithTimeout(background, ms)
		defer cancel()
		check(t, w.toB.Send(ctx, []byte("x")))
		check(t, w.toB.Err())
	})
}

// However large the file, both ends hold a few chunks of it.
func TestFileMemoryIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const size = 100 * codec.MaxChunkSize
		w := connect(t, netsim.Path{}, plain.Config{})
		w.tapA.Blind, w.tapB.Blind = true, true
		info := file.Info{Size: size}
		ahead := &aheadReader{Reader: zeros{}}
		sent := during(func() error {
			return file.Send(background, w.toB, ahead, &file.SendOptions{Info: &info, Progress: func(done, _ int64) { ahead.done = done }})
		})
		var peak int64
		written := int64(0)
		_, err := file.Receive(background, w.toA, io.Discard, &file.ReceiveOptions{Progress: func(done, _ int64) {
			written = done
			if done%(20*codec.MaxChunkSize) == 0 {
				peak = max(peak, check.Heap())
			}
		}})
		wantErr(t, "Receive", err, nil)
		wantErr(t, "Send", <-sent, nil)
		if ahead.most > 3*codec.MaxChunkSize {
			t.Errorf("the sender was %d bytes ahead, want at most three chunks", ahead.most)
		}
		if peak > 40*codec.MaxChunkSize || written != size {
			t.Errorf("%d bytes of heap for %d written", peak, written)
		}
	})
}

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

func TestIsFileHeader(t *testing.T) {
	header := append([]byte("CWF2"), make([]byte, 8)...)
	if !file.IsHeader(header) {
		t.Error("a header is none")
	}
	for name, chunk := range map[string][]byte{"shorter": header[:11], "longer": append(header[:12:12], 0), "other letters": append([]byte("CWF1"), header[4:]...)} {
		if file.IsHeader(chunk) {
			t.Errorf("%s: a header", name)
		}
	}
}
