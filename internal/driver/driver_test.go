package driver

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// The agenda names the connection that is due first, whatever came and went.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		var all []*Slot
		micros := rapid.Custom(func(t *rapid.T) core.Micros {
			return core.Micros(rapid.IntRange(0, 9).Draw(t, "due"))
		})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				s := &Slot{due: micros.Draw(t, "due")}
				a.add(s)
				all = append(all, s)
			},
			"move": func(t *rapid.T) {
				if len(all) > 0 {
					a.move(rapid.SampledFrom(all).Draw(t, "slot"), micros.Draw(t, "due"))
				}
			},
			"remove": func(t *rapid.T) {
				if len(all) > 0 {
					i := rapid.IntRange(0, len(all)-1).Draw(t, "i")
					a.remove(all[i])
					all = slices.Delete(all, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				want := core.Never
				for i, s := range all {
					want = min(want, s.due)
					if a.list[s.place] != (entry{s.due, s}) {
						t.Fatalf("slot %d does not know its place", i)
					}
				}
				if a.next() != want || len(all) > 0 && a.first().due != want {
					t.Fatalf("next is %d, want %d", a.next(), want)
				}
			},
		})
	})
}

// A time without a reading of the monotonic clock would move with the wall clock
// (TIM-2).
func TestTheClockIsMonotonic(t *testing.T) {
	if c := StartClock(); c.start == c.start.Round(0) {
		t.Errorf("%v has no monotonic reading", c.start)
	}
}

// talker is a protocol of one connection, which sends when it is told to.
type talker struct {
	t       *testing.T
	d       *Driver
	slot    Slot
	to      udp.Addr
	send    []string
	got     chan string
	answers int // so many to each datagram
	expired int
	ended   error
}

func (p *talker) Receive(_ core.Micros, in []udp.Arrival) {
	for i := range in {
		for datagram, ok := in[i].Next(); ok; datagram, ok = in[i].Next() {
			p.got <- string(datagram)
			p.say(slices.Repeat([]string{string(datagram)}, p.answers)...)
		}
	}
}
func (p *talker) Unreadable(int, udp.Addr)        { p.t.Error("a datagram that was cut") }
func (p *talker) PortUnreachableLocked(err error) { p.t.Error(err) }
func (p *talker) ExpireLocked(core.Micros)        { p.expired++ }
func (p *talker) EndLocked(cause error)           { p.ended = cause }

func (p *talker) PollLocked(_ core.Micros, b *Batch) {
	for len(p.send) > 0 && !b.Full() {
		b.Add(p.to, append(b.Room(), p.send[0]...), false)
		p.send = p.send[1:]
	}
	due := core.Never
	if len(p.send) > 0 {
		due = 0
	}
	p.d.ScheduleLocked(&p.slot, due)
}

func (p *talker) say(words ...string) {
	p.d.Lock()
	defer p.d.Unlock()
	p.send = append(p.send, words...)
	p.d.ScheduleLocked(&p.slot, p.d.Now())
}

func (p *talker) want(words ...string) {
	p.t.Helper()
	for _, want := range words {
		select {
		case got := <-p.got:
			if got != want {
				p.t.Errorf("%q came, want %q", got, want)
			}
		case <-time.After(10 * time.Second):
			p.t.Fatalf("%q did not come", want)
		}
	}
}

var errOver = errors.New("over")

// newTalker returns a protocol whose driver is started and closed at the end.
func newTalker(t *testing.T, pc net.PacketConn) *talker {
	t.Helper()
	return startTalker(t, udp.New(pc), pc)
}

func startTalker(t *testing.T, s udp.Socket, conn any) *talker {
	p := &talker{t: t, got: make(chan string, 1000)}
	p.d = New(s, p, StartClock(), 100)
	p.d.AddLocked(&p.slot, p)
	p.d.Start(conn, 1<<16)
	t.Cleanup(func() { p.d.Close(errOver) })
	return p
}

func listen(t *testing.T) (net.PacketConn, udp.Addr) {
	t.Helper()
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	return pc, udp.AddrOf(pc.LocalAddr().(*net.UDPAddr).AddrPort())
}

// Two drivers exchange datagrams; then one goes on with another socket.
func TestReplaceSocket(t *testing.T) {
	pcA, addrA := listen(t)
	pcB, addrB := listen(t)
	a, b := newTalker(t, pcA), newTalker(t, pcB)
	a.to, b.to = addrB, addrA
	a.say("one", "two", "three")
	b.want("one", "two", "three")
	b.say("four")
	a.want("four")

	pcC, addrC := listen(t)
	if err := a.d.ReplaceSocket(udp.New(pcC), pcC, 1<<16); err != nil {
		t.Fatal(err)
	}
	if _, err := pcA.WriteTo([]byte("x"), pcB.LocalAddr()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the socket before is open: %v", err)
	}
	b.d.Lock()
	b.to = addrC
	b.d.Unlock()
	a.say("five")
	b.want("five")
	b.say("six")
	a.want("six")
	if err := a.d.Err(); err != nil {
		t.Error(err)
	}
	if err := a.d.Close(errOver); err != nil || a.ended != errOver || a.d.Err() != errOver {
		t.Errorf("%v, ended with %v and %v", err, a.ended, a.d.Err())
	}
	if err := a.d.ReplaceSocket(udp.New(pcB), pcB, 1<<16); err != errOver {
		t.Errorf("a driver that has ended takes a socket: %v", err)
	}
}

// Answers come behind what connections send, some at a time, and beyond a limit they
// are dropped.
func TestAnswersComeLast(t *testing.T) {
	p := &talker{t: t}
	p.d = New(udp.New(nowhere{closed: make(chan struct{})}), p, StartClock(), 100)
	p.d.AddLocked(&p.slot, p)
	answered := 0
	for i := range 2 * mostAnswers {
		if p.d.AnswersFullLocked() != (i >= cheapAnswers) {
			t.Fatalf("after %d answers there is no room for cheap ones: %v", i, p.d.AnswersFullLocked())
		}
		if p.d.AnswerLocked(testPeer(uint16(i+1)), fmt.Appendf(nil, "answer %d", i)) {
			answered++
		}
	}
	if answered != mostAnswers || !p.d.AnswersFullLocked() {
		t.Errorf("%d answers are kept, want %d", answered, mostAnswers)
	}
	var got []string
	for batch := range 2 * mostAnswers / answersAtOnce {
		p.say(fmt.Sprint("word ", batch))
		p.d.CollectForTest()
		for i, r := range p.d.batch.runs {
			if (i == 0) != (string(r.Data) == fmt.Sprint("word ", batch)) {
				t.Fatalf("batch %d has %q at %d", batch, r.Data, i)
			}
			if i > 0 {
				got = append(got, string(r.Data))
			}
		}
		if len(p.d.batch.runs) > 1+answersAtOnce {
			t.Fatalf("%d runs in a batch", len(p.d.batch.runs))
		}
	}
	for i, a := range got {
		if a != fmt.Sprint("answer ", i) {
			t.Fatalf("answer %d is %q", i, a)
		}
	}
	if len(got) != mostAnswers {
		t.Errorf("%d answers went out", len(got))
	}
}

// Neither costs an allocation.
func TestNoAllocationPerAnswer(t *testing.T) {
	p := &talker{t: t}
	p.d = New(udp.New(nowhere{closed: make(chan struct{})}), p, StartClock(), 100)
	data, to := make([]byte, LargestAnswer), testPeer(1)
	exchange := func() {
		p.d.AnswerLocked(to, data)
		p.d.CollectForTest()
	}
	exchange()
	if n := testing.AllocsPerRun(1000, exchange); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// nowhere is a socket on which nothing arrives, and that takes datagrams only when it
// is not stuck.
type nowhere struct {
	net.PacketConn
	closed chan struct{}
	stuck  time.Duration
}

func (n nowhere) ReadFrom([]byte) (int, net.Addr, error) {
	<-n.closed
	return 0, nil, net.ErrClosed
}

func (n nowhere) WriteTo(b []byte, _ net.Addr) (int, error) {
	time.Sleep(n.stuck)
	return len(b), nil
}

func (n nowhere) LocalAddr() net.Addr         { return &net.UDPAddr{} }
func (n nowhere) SetDeadline(time.Time) error { return nil }
func (n nowhere) Close() error                { close(n.closed); return nil }

// The timer of the watchdog runs only while something is written, and lets the
// protocol end connections only while a write blocks.
func TestTheWatchdogRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTalker(t, nowhere{closed: make(chan struct{}), stuck: time.Second})
		armed := func() bool {
			p.d.Lock()
			defer p.d.Unlock()
			return p.d.watchdog.armed
		}
		p.say("x")
		synctest.Wait()
		if !armed() {
			t.Error("a write has not armed it")
		}
		time.Sleep(20 * time.Second)
		if armed() {
			t.Error("it runs without a write")
		}
		p.d.Lock()
		defer p.d.Unlock()
		if p.expired < 5 || p.expired > 10 {
			t.Errorf("a write of 1 s is noticed %d times", p.expired)
		}
	})
}

// Reads that fail at once for five seconds end the driver, and reads that waited before they failed do not, however long
// that goes on: the socket does bring something now and then.
func TestReadsThatWaitedAreSurvived(t *testing.T) {
	for _, took := range []core.Micros{0, blockedRead} {
		p := &talker{t: t}
		p.d = New(udp.New(nowhere{closed: make(chan struct{})}), p, StartClock(), 100)
		p.d.sockets = 1
		var trouble readTrouble
		for at := core.Micros(0); at <= 2*brokenAfter; at += 100 * core.Millisecond {
			p.d.survives(1, &trouble, at, took, errors.New("trouble"))
		}
		if broken := p.ended != nil; broken != (took == 0) {
			t.Errorf("reads that fail after %v end it: %v", took, p.ended)
		}
	}
}

// Flush does not return while what was due is on its way to the socket.
func TestFlushWaitsForTheWrite(t *testing.T) {
	for _, sleepUntil := range []core.Micros{awake, core.Never} {
		p := &talker{t: t}
		p.d = New(udp.New(nowhere{closed: make(chan struct{})}), p, StartClock(), 100)
		p.d.sleepUntil = sleepUntil
		over := make(chan struct{})
		close(over)
		_ = p.d.Flush(t.Context(), over, func(core.Micros) bool { return false })
		p.d.Lock()
		if waits := len(p.d.flushes) > 0; waits != (sleepUntil == awake) {
			t.Errorf("while the driver sleeps until %d a flush waits: %v", sleepUntil, waits)
		}
		p.d.Unlock()
	}
}
