package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// A file over several lanes; the second one begins at whichever lane the first has
// left.
func TestFilesByLanes(t *testing.T) {
	for _, repaired := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w := connect(t, netsim.Path{Delay: 20 * ms, Loss: 10}, plain.Config{Lanes: 8, Repair: repaired})
			data := content(3_000_000, 5)
			for range 2 {
				var got sink
				received := during(func() error { _, err := got.receive(w.toA); return err })
				err := file.Send(background, w.toB, bytes.NewReader(data), nil)
				wantErr(t, "Send", errors.Join(err, <-received), nil)
				if !got.committed || !bytes.Equal(got.Bytes(), data) {
					t.Errorf("%d bytes were stored, committed: %v", got.Len(), got.committed)
				}
			}
		})
	}
}

// What is sent need not be described before, and goes from where its reader is.
func TestSendFindsOutWhatItSends(t *testing.T) {
	data := content(700_000, 2)
	middle := bytes.NewReader(data)
	middle.Seek(100, io.SeekStart)
	for name, c := range map[string]struct {
		source io.Reader
		want   []byte
	}{
		"a seeker":              {bytes.NewReader(data), data},
		"a seeker, half read":   {middle, data[100:]},
		"a reader":              {io.MultiReader(bytes.NewReader(data)), data},
		"nothing":               {bytes.NewReader(nil), nil},
		"a reader that is over": {io.MultiReader(), nil},
	} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, plain.Config{})
			sent := during(func() error { return file.Send(background, w.toB, c.source, nil) })
			var got bytes.Buffer
			info, err := file.Receive(background, w.toA, &got, nil)
			wantErr(t, name, err, nil)
			wantErr(t, name, <-sent, nil)
			if !bytes.Equal(got.Bytes(), c.want) || info.Size != int64(len(c.want)) {
				t.Errorf("%s: %d bytes arrived, want %d", name, got.Len(), len(c.want))
			}
		})
	}
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		errDisk := errors.New("disk failed")
		for name, source := range map[string]io.Reader{"a reader": failingReader{errDisk}, "a seeker": failingSeeker{failingReader{errDisk}}} {
			wantErr(t, name, file.Send(background, w.toB, source, nil), errDisk)
		}
		wantErr(t, "a negative size", file.Send(background, w.toB, zeros{}, announced(-1)), file.ErrMismatch)
		if st := w.toB.Stats(); st.DatagramsOut != 0 {
			t.Errorf("%d datagrams were sent", st.DatagramsOut)
		}
	})
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

type failingSeeker struct{ failingReader }

func (r failingSeeker) Seek(int64, int) (int64, error) { return 0, r.err }

// What is announced as too large is refused before it comes.
func TestTooLarge(t *testing.T) {
	for size, want := range map[int]error{600_000: nil, 600_001: file.ErrTooLarge} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, plain.Config{})
			sent := during(func() error { return file.Send(background, w.toB, bytes.NewReader(content(size, 1)), nil) })
			var got sink
			_, err := file.Receive(background, w.toA, &got, &file.ReceiveOptions{MaxSize: 600_000, Commit: got.commit})
			wantErr(t, "Receive", err, want)
			err = <-sent
			if want != nil {
				wantErr(t, "Send", err, file.ErrPeerRefused)
			} else {
				wantErr(t, "Send", err, nil)
			}
			if got.committed != (want == nil) || want != nil && got.Len() > 0 {
				t.Errorf("%d bytes were written, committed: %v", got.Len(), got.committed)
			}
		})
	}
}

// A receipt that says "stored" before every slice was sent is no receipt, also
// when all content has been read and put in line: whoever forges it must not make
// a lost file look stored.
// (FIL-7)
func TestReceiptBeforeEverythingWasSent(t *testing.T) {
	for name, repaired := range map[string]bool{"named": false, "repair": true} {
		t.Run(name, func(t *testing.T) { receiptBeforeEverythingWasSent(t, repaired) })
	}
}

func receiptBeforeEverythingWasSent(t *testing.T, repaired bool) {
	slow := func() (statemachine.Scheduler, error) { return base.New(base.Fixed(400_000)) }
	slowly := func() (statemachine.Scheduler, error) { return plain.Fixed.NewScheduler(codec.Repair, 400_000) }
	const slices = 1 + 684 // the header, and 700,000 bytes and the hash in three chunks, all in line from the beginning
	for after, want := range map[int64]error{0: file.ErrConvention, 50: file.ErrConvention, slices - 1: file.ErrConvention, slices: nil} {
		bubble(t, func(t *testing.T) {
			w := connect(t, netsim.Path{Delay: 5 * ms}, plain.Config{NewScheduler: slow, Repair: repaired, NewRepairScheduler: slowly})
			seen := 0
			w.tapA.DropIf(func(p packet) bool { seen++; return p.Type == codec.TypeSlice && seen%5 == 0 })
			sent := during(func() error { return file.Send(background, w.toB, bytes.NewReader(content(700_000, 1)), nil) })
			go func() {
				for err := error(nil); err == nil; {
					_, err = w.toA.Recv(background)
				}
			}()
			for first := int64(0); first < after; time.Sleep(ms) {
				st := w.toB.Stats().Sender
				first = st.SlicesSent - st.SlicesResent - st.SlicesRepair
			}
			w.toA.Enqueue(background, []byte("CWR1\x00"))
			wantErr(t, fmt.Sprintf("a receipt after %d slices", after), <-sent, want)
		})
	}
}

// What became of the content is reported even if the context has ended just then.
func TestReceiptGoesOutAfterTheContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		sent := during(func() error { return file.Send(background, w.toB, bytes.NewReader(content(1000, 1)), nil) })
		ctx, cancel := context.WithCancel(background)
		_, err := file.Receive(ctx, w.toA, io.Discard, &file.ReceiveOptions{Commit: func() error { cancel(); return nil }})
		wantErr(t, "Receive", err, nil)
		wantErr(t, "Send", <-sent, nil)
	})
}

// A receipt that is here counts, although the connection has ended since.
func TestReceiptBeforeTheEndOfTheConnection(t *testing.T) {
	for range 20 { // both are ready at once; the order must not matter
		bubble(t, func(t *testing.T) {
			w := connect(t, short, plain.Config{})
			w.tapB.DropIf(func(p packet) bool { return p.Type == codec.TypeAck && p.Ack.ChunkID == 1 })
			waits := make(chan struct{})
			sent := during(func() error {
				return file.Send(background, w.toB, bytes.NewReader(content(1000, 1)), &file.SendOptions{Progress: func(int64, int64) { <-waits }})
			})
			_, err := file.Receive(background, w.toA, io.Discard, nil)
			wantErr(t, "Receive", err, nil)
			time.Sleep(time.Second)
			w.toB.Close()
			close(waits)
			wantErr(t, "Send", <-sent, nil)
		})
	}
}

// readerFunc is a reader that is a function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// A receipt that is here counts, although the connection has ended while the content was read.
func TestReceiptWhileTheContentIsRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, plain.Config{})
		slow := readerFunc(func(b []byte) (int, error) {
			time.Sleep(time.Second)
			w.toB.Close()
			return len(b), nil
		})
		sent := during(func() error { return file.Send(background, w.toB, slow, announced(1000)) })
		_, err := file.ReceiveHeader(background, w.toA)
		wantErr(t, "ReceiveHeader", err, nil)
		file.Refuse(background, w.toA)
		wantErr(t, "Send", <-sent, file.ErrPeerRefused)
	})
}

// Content of a few MB, as a []byte, from one end to the other.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := plain.Listen("udp", "127.0.0.1:0", plain.Config{Lanes: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	stored := make(chan int)
	go func() {
		c, err := server.Accept(ctx)
		if err != nil {
			return
		}
		var world bytes.Buffer
		_, err = file.Receive(ctx, c, &world, &file.ReceiveOptions{MaxSize: 16 << 20})
		if err != nil {
			fmt.Println(err)
		}
		stored <- world.Len()
	}()

	c, err := plain.Dial(ctx, "udp", server.Addr().String(), plain.Config{Lanes: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println(file.Send(ctx, c, bytes.NewReader(make([]byte, 3_000_000)), nil))
	fmt.Println(<-stored)
	// Output:
	// <nil>
	// 3000000
}
