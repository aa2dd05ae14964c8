package netsim_test

import (
	"errors"
	"fmt"
	"math/bits"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

var perfect = netsim.Path{}

func TestAddr(t *testing.T) {
	var addr net.Addr = netsim.Addr("a")
	if addr.Network() != "netsim" || addr.String() != "a" || addr != net.Addr(netsim.Addr("a")) {
		t.Errorf("address is %s %s", addr.Network(), addr)
	}
	a, _ := pair(t, perfect, perfect)
	if a.LocalAddr() != addr {
		t.Errorf("LocalAddr is %v", a.LocalAddr())
	}
}

func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, netsim.Path{Delay: 30 * ms}, netsim.Path{Delay: 10 * ms})
		start := time.Now()
		send(t, a, b.LocalAddr(), "hello")
		want(t, b, a.LocalAddr(), "hello")
		wantClock(t, start, 30*ms)
		send(t, b, a.LocalAddr(), "")
		want(t, a, b.LocalAddr(), "")
		wantClock(t, start, 40*ms)
	})
}

func TestConversationInRealTime(t *testing.T) {
	a, b := pair(t, netsim.Path{Delay: 5 * ms}, perfect)
	start := time.Now()
	send(t, a, b.LocalAddr(), "hello")
	send(t, a, b.LocalAddr(), "again")
	want(t, b, a.LocalAddr(), "hello")
	if took := time.Since(start); took < 5*ms {
		t.Errorf("arrived after %v, want at least 5ms", took)
	}
	want(t, b, a.LocalAddr(), "again")
}

func TestPayloadIsCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, netsim.Path{Delay: ms, Duplicate: 100}, perfect)
		data := []byte("hello")
		a.WriteTo(data, b.LocalAddr())
		copy(data, "XXXXX")
		buf := make([]byte, 5)
		b.ReadFrom(buf)
		copy(buf, "YYYYY")
		want(t, b, a.LocalAddr(), "hello")
	})
}

func TestCorruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, netsim.Path{Corrupt: 100, Duplicate: 100}, netsim.Path{})
		text := "0123456789"
		send(t, a, b.LocalAddr(), text)
		var got [2]string
		for i := range got {
			buf := make([]byte, 100)
			n, _, err := b.ReadFrom(buf)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = string(buf[:n])
		}
		flipped := 0
		for i := range text {
			flipped += bits.OnesCount8(got[0][i] ^ text[i])
		}
		if flipped != 1 || got[0] != got[1] {
			t.Errorf("%q arrives as %q and %q", text, got[0], got[1])
		}
		send(t, b, a.LocalAddr(), text)
		want(t, a, netsim.Addr("b"), text)
	})
}

func TestReadTruncates(t *testing.T) {
	a, b := pair(t, perfect, perfect)
	send(t, a, b.LocalAddr(), "a long one")
	send(t, a, b.LocalAddr(), "next")
	buf := []byte("........")
	if n, _, err := b.ReadFrom(buf[:6]); n != 6 || err != nil || string(buf) != "a long.." {
		t.Errorf("ReadFrom = %d, %v with %q", n, err, buf)
	}
	want(t, b, a.LocalAddr(), "next") // the rest of the first is gone
}

func TestEqualInstantsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := netsim.NewNetwork(1)
		n.SetDefault(netsim.Path{Delay: 5 * ms})
		n.SetPath("a", "c", netsim.Path{Delay: 10 * ms})
		a, b, c := listen(t, n, "a"), listen(t, n, "b"), listen(t, n, "c")
		for i := range 50 {
			send(t, a, c.LocalAddr(), fmt.Sprint("a", i))
		}
		time.Sleep(5 * ms)
		for i := range 50 {
			send(t, b, c.LocalAddr(), fmt.Sprint("b", i))
		}
		for i := range 50 {
			want(t, c, a.LocalAddr(), fmt.Sprint("a", i))
		}
		for i := range 50 {
			want(t, c, b.LocalAddr(), fmt.Sprint("b", i))
		}
	})
}

func TestEarlierDatagramWakesTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := netsim.NewNetwork(1)
		n.SetPath("slow", "c", netsim.Path{Delay: time.Hour})
		slow, fast, c := listen(t, n, "slow"), listen(t, n, "fast"), listen(t, n, "c")
		start := time.Now()
		send(t, slow, c.LocalAddr(), "slow")
		go func() {
			time.Sleep(time.Minute)
			fast.WriteTo([]byte("fast"), c.LocalAddr())
		}()
		want(t, c, fast.LocalAddr(), "fast")
		wantClock(t, start, time.Minute)
		want(t, c, slow.LocalAddr(), "slow")
		wantClock(t, start, time.Hour)
	})
}

func TestManyReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, netsim.Path{Delay: 10 * ms, Jitter: 5 * ms}, perfect)
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := make(map[string]bool)
		for range 8 {
			wg.Go(func() {
				buf := make([]byte, 100)
				for {
					n, _, err := b.ReadFrom(buf)
					if err != nil {
						return
					}
					mu.Lock()
					seen[string(buf[:n])] = true
					mu.Unlock()
				}
			})
		}
		for i := range 100 {
			send(t, a, b.LocalAddr(), fmt.Sprint(i))
			time.Sleep(time.Duration(i%3) * ms)
		}
		time.Sleep(20 * ms)
		b.Close()
		wg.Wait()
		if len(seen) != 100 {
			t.Errorf("%d datagrams read, want 100", len(seen))
		}
	})
}

func TestReadDeadline(t *testing.T) {
	// The good case reads a datagram that takes 10 ms.
	tests := []struct {
		name   string
		before func(*netsim.Conn) // before the read
		during func(*netsim.Conn) // 5 ms into the read
		fails  bool
		took   time.Duration
	}{
		{"none", nil, nil, false, 10 * ms},
		{"later", func(c *netsim.Conn) { c.SetReadDeadline(time.Now().Add(10*ms + 1)) }, nil, false, 10 * ms},
		{"at that very instant", func(c *netsim.Conn) { c.SetReadDeadline(time.Now().Add(10 * ms)) }, nil, true, 10 * ms},
		{"sooner", func(c *netsim.Conn) { c.SetReadDeadline(time.Now().Add(3 * ms)) }, nil, true, 3 * ms},
		{"now", func(c *netsim.Conn) { c.SetReadDeadline(time.Now()) }, nil, true, 0},
		{"past", func(c *netsim.Conn) { c.SetReadDeadline(time.Unix(1, 0)) }, nil, true, 0},
		{"both", func(c *netsim.Conn) { c.SetDeadline(time.Now().Add(3 * ms)) }, nil, true, 3 * ms},
		{"of writing only", func(c *netsim.Conn) { c.SetWriteDeadline(time.Now()) }, nil, false, 10 * ms},
		{"set while blocked", nil, func(c *netsim.Conn) { c.SetReadDeadline(time.Now().Add(2 * ms)) }, true, 7 * ms},
		{"past, set while blocked", nil, func(c *netsim.Conn) { c.SetReadDeadline(time.Unix(1, 0)) }, true, 5 * ms},
		{"lifted while blocked", func(c *netsim.Conn) { c.SetReadDeadline(time.Now().Add(7 * ms)) },
			func(c *netsim.Conn) { c.SetReadDeadline(time.Time{}) }, false, 10 * ms},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := pair(t, netsim.Path{Delay: 10 * ms}, perfect)
				send(t, a, b.LocalAddr(), "hello")
				if test.before != nil {
					test.before(b)
				}
				if test.during != nil {
					go func() { time.Sleep(5 * ms); test.during(b) }()
				}
				start := time.Now()
				n, from, err := b.ReadFrom(make([]byte, 10))
				wantClock(t, start, test.took)
				if !test.fails {
					if n != 5 || from != a.LocalAddr() || err != nil {
						t.Errorf("ReadFrom = %d, %v, %v", n, from, err)
					}
					return
				}
				wantError(t, "ReadFrom", err, os.ErrDeadlineExceeded)
				var timeout net.Error
				if !errors.As(err, &timeout) || !timeout.Timeout() {
					t.Errorf("%v is not a timeout", err)
				}
				b.SetReadDeadline(time.Time{}) // the datagram is still there
				want(t, b, a.LocalAddr(), "hello")
			})
		})
	}
}

func TestPastDeadlineFailsThoughDataIsThere(t *testing.T) {
	a, b := pair(t, perfect, perfect)
	send(t, a, b.LocalAddr(), "hello")
	b.SetReadDeadline(time.Unix(1, 0))
	_, _, err := b.ReadFrom(make([]byte, 10))
	wantError(t, "ReadFrom", err, os.ErrDeadlineExceeded)
}

func TestWriteFails(t *testing.T) {
	tests := []struct {
		name string
		do   func(a *netsim.Conn) (int, error)
		want string // empty for success
	}{
		{"good", func(a *netsim.Conn) (int, error) { return a.WriteTo(make([]byte, 65507), netsim.Addr("b")) }, ""},
		{"too long", func(a *netsim.Conn) (int, error) { return a.WriteTo(make([]byte, 65508), netsim.Addr("b")) },
			"write netsim a->b: message too long"},
		{"no address", func(a *netsim.Conn) (int, error) { return a.WriteTo(nil, nil) },
			"write netsim a: not a netsim address"},
		{"foreign address", func(a *netsim.Conn) (int, error) { return a.WriteTo(nil, &net.UDPAddr{Port: 7}) },
			"write netsim a->:7: not a netsim address"},
		{"past deadline", func(a *netsim.Conn) (int, error) {
			a.SetDeadline(time.Now())
			return a.WriteTo(nil, netsim.Addr("b"))
		}, "write netsim a->b: i/o timeout"},
		{"deadline lifted", func(a *netsim.Conn) (int, error) {
			a.SetWriteDeadline(time.Now())
			a.SetWriteDeadline(time.Time{})
			return a.WriteTo(nil, netsim.Addr("b"))
		}, ""},
		{"closed", func(a *netsim.Conn) (int, error) { a.Close(); return a.WriteTo(nil, netsim.Addr("b")) },
			"write netsim a->b: use of closed network connection"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, _ := pair(t, perfect, perfect)
			n, err := test.do(a)
			if test.want == "" && err == nil {
				return
			}
			if err == nil || err.Error() != test.want || n != 0 {
				t.Errorf("WriteTo = %d, %v, want %s", n, err, test.want)
			}
		})
	}
}

func TestCloseUnblocksReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, netsim.Path{Delay: time.Hour}, perfect)
		send(t, a, b.LocalAddr(), "far away") // one reader waits with a timer
		errs := make(chan error)
		for range 3 {
			go func() {
				_, _, err := b.ReadFrom(make([]byte, 10))
				errs <- err
			}()
		}
		synctest.Wait()
		start := time.Now()
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		for range 3 {
			wantError(t, "ReadFrom", <-errs, net.ErrClosed)
		}
		wantClock(t, start, 0)
		// The bubble ends only if nothing of the connection is left running.
	})
}

func TestClosed(t *testing.T) {
	a, b := pair(t, perfect, perfect)
	send(t, a, b.LocalAddr(), "unread")
	b.Close()
	_, _, err := b.ReadFrom(make([]byte, 10))
	wantError(t, "ReadFrom", err, net.ErrClosed)
	wantError(t, "Close", b.Close(), net.ErrClosed)
	wantError(t, "SetDeadline", b.SetDeadline(time.Time{}), net.ErrClosed)
	wantError(t, "SetWriteDeadline", b.SetWriteDeadline(time.Time{}), net.ErrClosed)
	wantError(t, "SetReadBuffer", b.SetReadBuffer(1), net.ErrClosed)
	send(t, a, b.LocalAddr(), "nobody there")
}

func TestReadBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, netsim.Path{Delay: 10 * ms}, perfect)
		if err := b.SetReadBuffer(10); err != nil {
			t.Fatal(err)
		}
		texts := []string{"1234", "567890", "x", ""}
		for _, text := range texts {
			send(t, a, b.LocalAddr(), text)
		}
		wantDropped(t, b, 0) // under way, not arrived
		time.Sleep(10 * ms)
		wantDropped(t, b, 1) // "x" found ten bytes
		send(t, a, b.LocalAddr(), "abcd")
		want(t, b, a.LocalAddr(), "1234") // makes room before "abcd" arrives
		time.Sleep(10 * ms)
		want(t, b, a.LocalAddr(), "567890")
		want(t, b, a.LocalAddr(), "")
		want(t, b, a.LocalAddr(), "abcd")
		wantDropped(t, b, 1)

		send(t, a, b.LocalAddr(), "longer than the buffer")
		send(t, a, b.LocalAddr(), "")
		time.Sleep(10 * ms)
		wantDropped(t, b, 2)
		want(t, b, a.LocalAddr(), "longer than the buffer")
		wantNothing(t, b)

		b.SetReadBuffer(0)
		send(t, a, b.LocalAddr(), "no limit")
		send(t, a, b.LocalAddr(), "any more")
		want(t, b, a.LocalAddr(), "no limit")
		want(t, b, a.LocalAddr(), "any more")
		wantDropped(t, b, 2)

		if err := b.SetReadBuffer(-1); err == nil {
			t.Error("a negative buffer is accepted")
		}
	})
}

func TestReadBufferChangesFromNowOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, perfect, perfect)
		b.SetReadBuffer(1)
		send(t, a, b.LocalAddr(), "1")
		send(t, a, b.LocalAddr(), "2")
		b.SetReadBuffer(0) // "2" arrived before and is gone
		wantDropped(t, b, 1)
		send(t, a, b.LocalAddr(), "3")
		b.SetReadBuffer(1) // "3" is kept though it is too much now
		want(t, b, a.LocalAddr(), "1")
		want(t, b, a.LocalAddr(), "3")
		wantDropped(t, b, 1)
	})
}

func TestDroppedIsFinalAtClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair(t, perfect, perfect)
		b.SetReadBuffer(1)
		send(t, a, b.LocalAddr(), "1")
		send(t, a, b.LocalAddr(), "2")
		b.Close()
		wantDropped(t, b, 1)
	})
}

func wantDropped(t *testing.T, c *netsim.Conn, want int64) {
	t.Helper()
	if got := c.Dropped(); got != want {
		t.Fatalf("Dropped = %d, want %d", got, want)
	}
}

// TestTransferInABubble runs the same lossy transfer twice.
func TestTransferInABubble(t *testing.T) {
	run := func() (log string) {
		synctest.Test(t, func(t *testing.T) {
			a, b := pair(t, full, full)
			go func() {
				for i := range 500 {
					a.WriteTo(fmt.Append(nil, i), b.LocalAddr())
				}
				time.Sleep(time.Second)
				b.Close()
			}()
			start := time.Now()
			buf := make([]byte, 100)
			for {
				n, _, err := b.ReadFrom(buf)
				if err != nil {
					return
				}
				log += fmt.Sprintln(time.Since(start), string(buf[:n]))
			}
		})
		return log
	}
	if first := run(); first != run() || len(first) < 500 {
		t.Errorf("two runs differ, or got nothing:\n%s", first)
	}
}

// TestConcurrentUse does everything at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	n := netsim.NewNetwork(1)
	n.SetDefault(netsim.Path{Delay: 100 * time.Microsecond, Jitter: 100 * time.Microsecond, Duplicate: 10})
	a, b := listen(t, n, "a"), listen(t, n, "b")
	var readers, others sync.WaitGroup
	for _, c := range []*netsim.Conn{a, b, a, b} {
		readers.Go(func() {
			buf := make([]byte, 100)
			for {
				if _, _, err := c.ReadFrom(buf); errors.Is(err, net.ErrClosed) {
					return
				}
			}
		})
		others.Go(func() {
			for range 500 {
				c.WriteTo([]byte("hello"), b.LocalAddr())
				c.SetReadDeadline(time.Now().Add(50 * time.Microsecond))
				c.SetReadBuffer(100)
				c.Dropped()
				n.SetPath("b", "a", full)
				n.Stats("a", "b")
			}
		})
	}
	others.Wait()
	a.Close()
	b.Close()
	readers.Wait()
	if sent := n.Stats("a", "b").Sent; sent != 1000 {
		t.Errorf("%d datagrams sent, want 1000", sent)
	}
}

func BenchmarkConn(b *testing.B) {
	n := netsim.NewNetwork(1)
	from, _ := n.Listen("a")
	to, _ := n.Listen("b")
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 1200)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		from.WriteTo(buf, to.LocalAddr())
		to.ReadFrom(buf)
	}
}

// The field ECN arrives as it was sent, unless the link marks the datagram and its sender allows
// that.
func TestFieldECN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := pair(t, netsim.Path{Rate: 8000, MarkAbove: 10}, perfect)
		a, b := netsim.ECNConn{Conn: first}, netsim.ECNConn{Conn: second}
		sent := []struct{ sent, want uint8 }{{2, 2}, {2, 3}, {0, 0}, {1, 3}, {3, 3}, {0xfe, 3}}
		for _, c := range sent {
			if _, err := a.WriteToECN(make([]byte, 100), b.LocalAddr(), c.sent); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range sent {
			if _, _, ecn, err := b.ReadFromECN(make([]byte, 100)); err != nil || ecn != c.want {
				t.Errorf("datagram %d comes with %d, not %d: %v", i, ecn, c.want, err)
			}
		}
	})
}
