package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/internal/transporttest"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// The tests of this file are of what both kinds of ends do in the same way: connections, and
// plain chunks of either variant.

// both is two ends of one kind, "c" and "s", in virtual time.
type both struct {
	t              *testing.T
	net            *netsim.Network
	c, s           *transport.Chunks
	closeC, closeS func() error
}

// settings are what both kinds have.
type settings struct{ lanes, sendQueue, recvQueue int }

// ofBoth runs a test for each kind of ends, which begin on a good path.
func ofBoth(t *testing.T, set settings, test func(t *testing.T, b *both)) {
	for name, open := range map[string]func(*both, settings){
		"connection": (*both).openConnection,
		"plain":      func(b *both, set settings) { b.openPlain(set, false) },
		"repair":     func(b *both, set settings) { b.openPlain(set, true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &both{t: t, net: netsim.NewNetwork(1)}
				b.net.SetDefault(short)
				open(b, set)
				test(t, b)
			})
		})
	}
}

func (b *both) openConnection(set settings) {
	cfg := transport.Config{Lanes: set.lanes, SendQueue: set.sendQueue, RecvQueue: set.recvQueue, Channels: transport.NoChannels, Timeout: time.Hour}
	w := &world{t: b.t, net: b.net}
	var err error
	if w.server, err = transport.New(gatherer{w.listen("s")}, cfg); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { w.server.Close() })
	client, server := w.connect("c", cfg)
	b.c, b.closeC = client.Chunks(), func() error { return client.Close(0, "") }
	b.s, b.closeS = server.Chunks(), func() error { return server.Close(0, "") }
}

func (b *both) openPlain(set settings, repaired bool) {
	cfg := plain.Config{Lanes: set.lanes, SendQueue: set.sendQueue, RecvQueue: set.recvQueue, Repair: repaired}
	open := func(at, to netsim.Addr) *plain.Conn {
		pc, err := b.net.Listen(at)
		if err != nil {
			b.t.Fatal(err)
		}
		e, err := plain.New(pc, cfg)
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { e.Close() })
		conn, err := e.Dial(to)
		if err != nil {
			b.t.Fatal(err)
		}
		return conn
	}
	c, s := open("c", "s"), open("s", "c")
	b.c, b.closeC = &c.ChunkQueue, c.Close
	b.s, b.closeS = &s.ChunkQueue, s.Close
}

// setPath changes the network both ways.
func (b *both) setPath(p netsim.Path) {
	b.net.SetPath("c", "s", p)
	b.net.SetPath("s", "c", p)
}

// enqueue puts chunks of so many bytes in line at an end, which must not have to wait.
func (b *both) enqueue(at *transport.Chunks, sizes ...int) (all []*transport.Delivery) {
	b.t.Helper()
	for i, size := range sizes {
		d, err := at.Enqueue(within(b.t, ms), content(size, uint64(i)))
		if err != nil {
			b.t.Fatal(i, err)
		}
		all = append(all, d)
	}
	return all
}

// want checks that chunk i of enqueue is the next one.
func (b *both) want(at *transport.Chunks, i, size int) {
	b.t.Helper()
	if got, err := at.Recv(background); err != nil || !bytes.Equal(got, content(size, uint64(i))) {
		b.t.Fatalf("chunk %d: %d bytes, want %d; %v", i, len(got), size, err)
	}
}

// wantNothing checks that nothing comes within a minute.
func (b *both) wantNothing(at *transport.Chunks) {
	b.t.Helper()
	if got, err := at.Recv(within(b.t, time.Minute)); err == nil {
		b.t.Errorf("%d bytes come, want nothing", len(got))
	}
}

var (
	during  = transporttest.During
	wantErr = transporttest.WantErr
)

// Whatever the network does, chunks come in the order in which they were sent, and each once,
// both ways at the same time and by any number of lanes (CON-1, CON-2, SAFE-1, LAN-5, SAFE-6).
func TestBothDeliverInOrder(t *testing.T) {
	for _, c := range []struct {
		lanes int
		loss  float64
	}{{1, 0}, {1, 10}, {3, 20}, {16, 10}} {
		t.Run(fmt.Sprintf("%d lanes, %v%%", c.lanes, c.loss), func(t *testing.T) {
			ofBoth(t, settings{lanes: c.lanes}, func(t *testing.T, b *both) {
				b.setPath(netsim.Path{Delay: 5 * ms, Loss: c.loss, Duplicate: 20, Reorder: 20, ReorderDelay: 30 * ms})
				size := func(i int) int { return 1 + i*i*90 }
				const chunks = 30
				stream := func(from, to *transport.Chunks) <-chan error {
					sent := during(func() error {
						var all []*transport.Delivery
						for i := range chunks {
							d, err := from.Enqueue(background, content(size(i), uint64(i)))
							if err != nil {
								return err
							}
							all = append(all, d)
						}
						for _, d := range all {
							if err := d.Wait(background); err != nil {
								return err
							}
						}
						return nil
					})
					return sent
				}
				there, back := stream(b.c, b.s), stream(b.s, b.c)
				for i := range chunks {
					b.want(b.s, i, size(i))
					b.want(b.c, i, size(i))
				}
				wantErr(t, "there", <-there, nil)
				wantErr(t, "back", <-back, nil)
				b.wantNothing(b.s)
			})
		})
	}
}

// A size error comes at once, and changes nothing.
func TestBothRefuseSizes(t *testing.T) {
	ofBoth(t, settings{}, func(t *testing.T, b *both) {
		for _, size := range []int{0, transport.MaxChunkSize + 1} {
			wantErr(t, "Send", b.c.Send(background, make([]byte, size)), statemachine.ErrChunkSize)
			d, err := b.c.Enqueue(background, make([]byte, size))
			if wantErr(t, "Enqueue", err, statemachine.ErrChunkSize); d != nil {
				t.Error("Enqueue returned a delivery and an error")
			}
		}
		b.enqueue(b.c, 10)
		b.want(b.s, 0, 10)
		wantErr(t, "the connection", b.c.Err(), nil)
	})
}

// Enqueue waits while the queue is full, as long as its context lasts.
func TestBothEnqueueWaits(t *testing.T) {
	ofBoth(t, settings{lanes: 1, sendQueue: 2}, func(t *testing.T, b *both) {
		b.setPath(outage)
		all := b.enqueue(b.c, 2000, 2000, 2000) // one in flight, two behind it
		if _, err := b.c.Enqueue(within(b.t, time.Second), []byte("x")); !errors.Is(err, transport.ErrCanceled) {
			t.Errorf("a fourth is taken: %v", err)
		}
		wantErr(t, "before it is done", all[0].Err(), nil)
		b.setPath(short)
		last, err := b.c.Enqueue(background, content(2000, 3))
		wantErr(t, "Enqueue", err, nil)
		for i, d := range append(all, last) {
			b.want(b.s, i, 2000)
			wantErr(t, "the delivery", d.Wait(background), nil)
		}
		if b.c.Lanes() != 1 || b.c.SenderStats().Chunks != 4 || b.s.ReceiverStats().Chunks != 4 || b.s.Receiving().ChunkID != 4 {
			t.Errorf("%d lanes, %+v", b.c.Lanes(), b.c.SenderStats())
		}
		if b.c.RemoteAddr().String() != "s" || b.s.RemoteAddr().String() != "c" || b.c.LocalAddr().String() != "c" {
			t.Errorf("%v and %v", b.c.RemoteAddr(), b.s.RemoteAddr())
		}
	})
}

// Close ends every call that waits, and what is called afterwards.
func TestBothCloseUnblocks(t *testing.T) {
	ofBoth(t, settings{lanes: 1}, func(t *testing.T, b *both) {
		b.setPath(outage)
		all := b.enqueue(b.c, 1000, 1, 1, 1, 1, 1, 1, 1, 1) // one in flight, eight behind it
		calls := map[string]<-chan error{
			"Send":    during(func() error { return b.c.Send(background, []byte("x")) }),
			"Enqueue": during(func() error { _, err := b.c.Enqueue(background, []byte("x")); return err }),
			"Recv":    during(func() error { _, err := b.c.Recv(background); return err }),
		}
		for i, d := range all {
			calls[fmt.Sprint("Wait ", i)] = during(func() error { return d.Wait(background) })
		}
		synctest.Wait()
		wantErr(t, "Close", b.closeC(), nil)
		<-b.c.Done()
		_, err := b.c.Recv(background)
		calls["Recv afterwards"] = during(func() error { return err })
		calls["Send afterwards"] = during(func() error { return b.c.Send(background, []byte("x")) })
		calls["Flush afterwards"] = during(func() error { return b.c.Flush(background) })
		calls["Err"] = during(b.c.Err)
		for name, result := range calls {
			wantErr(t, name, <-result, transport.ErrClosed)
		}
		wantErr(t, "Close again", b.closeC(), nil)
	})
}

// What is complete can be read after the end, and only then comes the error.
func TestBothKeepWhatIsComplete(t *testing.T) {
	ofBoth(t, settings{recvQueue: 2}, func(t *testing.T, b *both) {
		for _, d := range b.enqueue(b.c, 10, 20, 30) { // the third stays in the receiver
			wantErr(t, "the delivery", d.Wait(background), nil)
		}
		wantErr(t, "Close", b.closeS(), nil)
		for i, size := range []int{10, 20, 30} {
			b.want(b.s, i, size)
		}
		_, err := b.s.Recv(background)
		wantErr(t, "Recv", err, transport.ErrClosed)
	})
}

// To cancel a chunk in the queue withdraws it, and the next takes its lane; a chunk in flight
// cannot be taken back, so then the connection ends.
func TestBothCancel(t *testing.T) {
	reason := errors.New("canceled by the caller")
	ofBoth(t, settings{lanes: 2}, func(t *testing.T, b *both) {
		all := b.enqueue(b.c, 9000, 9001, 9002, 9003)
		all[2].Cancel(reason)
		wantErr(t, "a queued chunk", all[2].Err(), transport.ErrCanceled, reason)
		for _, i := range []int{0, 1, 3} {
			b.want(b.s, i, 9000+i)
			wantErr(t, "another", all[i].Wait(background), nil)
		}
		ctx, cancel := context.WithCancelCause(background)
		cancel(reason)
		wantErr(t, "a canceled start", b.c.Send(ctx, []byte("x")), transport.ErrCanceled, context.Canceled, reason)
		wantErr(t, "the connection", b.c.Err(), nil)

		b.setPath(outage)
		start := time.Now()
		sent := during(func() error { return b.c.Send(within(t, 2*time.Second), []byte("in flight")) })
		synctest.Wait()
		more := b.enqueue(b.c, 1, 1)
		wantErr(t, "Send", <-sent, transport.ErrCanceled, context.DeadlineExceeded)
		wantTook(t, "Send", start, 2*time.Second, 2*time.Second)
		for _, d := range more {
			wantErr(t, "another", d.Wait(background), transport.ErrCanceled)
		}
		wantErr(t, "the connection", b.c.Err(), transport.ErrCanceled, context.DeadlineExceeded)
	})
}

// Wait stops waiting with its context, and leaves the delivery alone; one that is
// done is reported whatever the context.
func TestBothWaitOnlyWaits(t *testing.T) {
	ofBoth(t, settings{}, func(t *testing.T, b *both) {
		b.setPath(netsim.Path{Delay: time.Second})
		all := b.enqueue(b.c, 10, 20)
		reason := errors.New("limit reached")
		ctx, cancel := context.WithTimeoutCause(background, time.Second, reason)
		defer cancel()
		recv := during(func() error { _, err := b.c.Recv(ctx); return err })
		for _, d := range all {
			wantErr(t, "Wait", d.Wait(ctx), transport.ErrCanceled, context.DeadlineExceeded, reason)
		}
		wantErr(t, "Recv", <-recv, transport.ErrCanceled, context.DeadlineExceeded, reason)
		for _, d := range all {
			wantErr(t, "Wait again", d.Wait(background), nil)
			wantErr(t, "Wait when it is done", d.Wait(ctx), nil)
			d.Cancel(reason) // too late
		}
		wantErr(t, "the connection", b.c.Err(), nil)
	})
}

// RecvAppend appends, leaves what was there before, and returns dst with an error. A chunk that
// Recv has returned is the caller's, whatever RecvAppend does later.
func TestBothRecvAppend(t *testing.T) {
	ofBoth(t, settings{sendQueue: 20}, func(t *testing.T, b *both) {
		sizes := make([]int, 12)
		for i := range sizes {
			sizes[i] = 5000
		}
		b.enqueue(b.c, sizes...)
		var kept [][]byte
		dst := []byte("before")
		for i := range sizes {
			if i%3 == 0 {
				chunk, err := b.s.Recv(background)
				wantErr(t, "Recv", err, nil)
				kept = append(kept, chunk)
				continue
			}
			got, err := b.s.RecvAppend(background, dst[:6])
			if wantErr(t, "RecvAppend", err, nil); !bytes.Equal(got[6:], content(5000, uint64(i))) {
				t.Errorf("chunk %d is not behind what was there", i)
			}
			dst = got
		}
		for i, chunk := range kept {
			if !bytes.Equal(chunk, content(5000, uint64(3*i))) {
				t.Errorf("chunk %d has changed", 3*i)
			}
		}
		got, err := b.s.RecvAppend(within(t, time.Second), dst[:6])
		wantErr(t, "RecvAppend", err, transport.ErrCanceled)
		b.closeS()
		again, err := b.s.RecvAppend(background, dst[:6])
		wantErr(t, "RecvAppend", err, transport.ErrClosed)
		if string(got) != "before" || string(again) != "before" {
			t.Errorf("with an error: %q, %q", got, again)
		}
	})
}

// RecvReady says when Recv does not wait: for a chunk, and for the end.
func TestBothRecvReady(t *testing.T) {
	ofBoth(t, settings{}, func(t *testing.T, b *both) {
		isReady := func() bool {
			select {
			case <-b.s.RecvReady():
				return true
			default:
				return false
			}
		}
		if isReady() {
			t.Error("ready before there is anything")
		}
		waiting := b.s.RecvReady()
		b.enqueue(b.c, 10, 20)[1].Wait(background)
		<-waiting
		for i, size := range []int{10, 20} {
			if !isReady() {
				t.Errorf("not ready for chunk %d", i)
			}
			b.want(b.s, i, size)
		}
		if isReady() {
			t.Error("ready after everything was received")
		}
		waiting = b.s.RecvReady()
		b.closeS()
		<-waiting
		if !isReady() {
			t.Error("not ready for the end")
		}
	})
}

// Flush waits until the socket has what is due, acks among it, and not for the other end.
func TestBothFlush(t *testing.T) {
	ofBoth(t, settings{}, func(t *testing.T, b *both) {
		b.setPath(netsim.Path{Delay: time.Second})
		d := b.enqueue(b.c, 10)[0]
		b.want(b.s, 0, 10)
		start := time.Now()
		wantErr(t, "Flush", b.s.Flush(background), nil)
		wantTook(t, "Flush", start, 0, 100*ms)
		b.setPath(outage) // what is on its way arrives
		wantErr(t, "the delivery, whose ack was sent", d.Wait(within(t, 2*time.Second)), nil)
	})
}

// A reader that is slow makes the sender wait, longer than a chunk may be without progress;
// what waits is bounded, and nothing is lost (CON-3, LAN-5, BND-4).
func TestBothWaitForASlowReader(t *testing.T) {
	for _, lanes := range []int{1, 4} {
		const queue, chunks = 1, 8
		ofBoth(t, settings{lanes: lanes, recvQueue: queue, sendQueue: chunks}, func(t *testing.T, b *both) {
			sizes := make([]int, chunks)
			for i := range sizes {
				sizes[i] = 20_000
			}
			all := b.enqueue(b.c, sizes...)
			for i := range chunks {
				time.Sleep(time.Minute)
				taken := 0
				for _, d := range all {
					select {
					case <-d.Done():
						taken++
					default:
					}
				}
				if want := min(i+queue+lanes, chunks); taken != want {
					t.Errorf("%d chunks were taken after %d were read, want %d", taken, i, want)
				}
				b.want(b.s, i, 20_000)
			}
			wantErr(t, "the last delivery", all[chunks-1].Wait(background), nil)
		})
	}
}
