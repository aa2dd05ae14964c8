package driver

import (
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// gatherer is a socket that gathers. It has room as long as a write takes less than a second.
type gatherer struct {
	udp.Socket
	arrives chan string
	closed  chan struct{}

	sync.Mutex
	takes    time.Duration // a write
	writes   int
	byReader int
	wrote    []string
}

func (g *gatherer) Gathers() bool { return true }

func (g *gatherer) HasRoom() bool {
	g.Lock()
	defer g.Unlock()
	return g.takes < time.Second
}

func (g *gatherer) Read(take func([]udp.Arrival)) error {
	select {
	case word := <-g.arrives:
		take([]udp.Arrival{{Data: []byte(word), Size: len(word)}})
		return nil
	case <-g.closed:
		return net.ErrClosed
	}
}

func (g *gatherer) Write(runs []udp.Run) (failed int64, err error) {
	g.Lock()
	g.writes++
	if strings.Contains(string(debug.Stack()), "sendNow") {
		g.byReader++
	}
	for i := range runs {
		for datagram := range runs[i].Datagrams() {
			g.wrote = append(g.wrote, string(datagram))
		}
	}
	takes := g.takes
	g.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-g.closed:
		}
	}
	return 0, nil
}

func (g *gatherer) Close() error {
	close(g.closed)
	return nil
}

// set sets how long a write takes, and returns which datagrams were written so far, and how many times by the reader.
func (g *gatherer) set(takes time.Duration) (wrote string, byReader int) {
	synctest.Wait()
	g.Lock()
	defer g.Unlock()
	g.takes = takes
	return strings.Join(g.wrote, ""), g.byReader
}

// gathering runs a test in virtual time with a driver of a socket that gathers.
func gathering(t *testing.T, f func(t *testing.T, p *talker, g *gatherer)) {
	synctest.Test(t, func(t *testing.T) {
		g := &gatherer{arrives: make(chan string, 100), closed: make(chan struct{})}
		f(t, startTalker(t, g, g), g)
	})
}

// What arrives makes something due, which the reader sends, once. While a write waits for room the driver does, and the
// reader goes on to read. A driver whose reader waits in a write can be closed.
func TestTheReaderSends(t *testing.T) {
	gathering(t, func(t *testing.T, p *talker, g *gatherer) {
		p.answers = 1
		wants := func(wrote string, byReader int, next time.Duration) {
			t.Helper()
			got, by := g.set(next)
			check.Equal(t, "written", got, wrote)
			check.Equal(t, "by the reader", by, byReader)
		}
		wants("", 0, 0)
		g.arrives <- "a"
		wants("a", 1, time.Second)
		g.arrives <- "b"
		wants("ab", 2, time.Second)
		time.Sleep(time.Second)
		for _, word := range []string{"c", "d", "e"} {
			g.arrives <- word
			synctest.Wait()
		}
		check.Equal(t, "read while the driver writes", len(p.got), 5)
		wants("abc", 2, time.Second)
		time.Sleep(3 * time.Second)
		wants("abcde", 2, 0)
		p.answers = 1000 // more than a batch
		g.arrives <- "x"
		wants("abcde"+strings.Repeat("x", 1000), 3, 0)
		p.answers, g.wrote, g.byReader = 1, g.wrote[:5], 2
		g.arrives <- "f"
		wants("abcdef", 3, time.Hour)
		g.arrives <- "g"
		wants("abcdefg", 4, time.Hour)
		p.say("h")
		began := time.Now()
		check.Same(t, "Close", p.d.Close(errOver), nil)
		check.That(t, time.Since(began) < 2*lastWrites, "it does not wait for room")
	})
}

// paced is a talker with something to say each 0.1 ms.
type paced struct {
	*talker
	said, all int
}

func (p *paced) PollLocked(now core.Micros, b *Batch) {
	for ; p.said < p.all && !b.Full() && core.Micros(p.said)*100 <= now; p.said++ {
		b.Add(p.to, append(b.Room(), 'x'), false)
	}
	due := core.Never
	if p.said < p.all {
		due = core.Micros(p.said) * 100
	}
	p.d.ScheduleLocked(&p.slot, due)
}

// A datagram that becomes due while a single one is written is sent after the pause, together with those due in it; what the
// application sends meanwhile is not held back, and neither is who waits for it.
func TestAPauseAfterASingleDatagram(t *testing.T) {
	gathering(t, func(t *testing.T, p *talker, g *gatherer) {
		g.set(100 * time.Microsecond)
		flush := func() {
			began := time.Now()
			p.say("y")
			synctest.Wait()
			check.Same(t, "Flush", p.d.Flush(t.Context(), nil, func(core.Micros) bool { return len(p.send) > 0 }), nil)
			check.That(t, time.Since(began) < time.Millisecond/2, "what the application sends does not wait for a pause")
		}
		flush()
		q := &paced{talker: &talker{t: t, d: p.d}, all: 1000}
		p.d.Lock()
		p.d.AddLocked(&q.slot, q)
		p.d.ScheduleLocked(&q.slot, 0)
		p.d.Unlock()
		time.Sleep(50*time.Millisecond + 50*time.Microsecond)
		flush()
		time.Sleep(100 * time.Millisecond)
		wrote, _ := g.set(0)
		check.Equal(t, "datagrams", len(wrote), 1002)
		check.That(t, g.writes <= 220, "a thousand datagrams in 100 ms are two batches a pause, of which one is single")
	})
}
