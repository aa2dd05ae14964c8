package transport_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// store is a store of keys that does not answer for some identities: until its context ends, or at all.
type store struct {
	key    session.Key
	slow   func(identity uint64) time.Duration
	mu     sync.Mutex // of all below
	asked  int
	most   int // questions at once
	asking int
}

const never = time.Hour

func (s *store) get(ctx context.Context, identity uint64) (session.Key, error) {
	s.note(1)
	defer s.note(-1)
	select {
	case <-time.After(s.slow(identity)):
		return s.key, nil
	case <-ctx.Done():
		return session.Key{}, ctx.Err()
	}
}

// note counts questions that begin, or end.
func (s *store) note(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked += max(more, 0)
	s.asking += more
	s.most = max(s.most, s.asking)
}

func (s *store) counts() (asked, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.most
}

func withIdentity(id uint64) transport.Config {
	return transport.Config{Identity: id, Key: key, Timeout: 3 * time.Second}
}

// While the store of keys does not answer for one client, others get in and talk; and a client whose key comes late
// gets in then, without another question.
func TestASlowStoreOfKeys(t *testing.T) {
	s := &store{key: key, slow: func(id uint64) time.Duration { return map[uint64]time.Duration{1: never, 2: time.Second}[id] }}
	bubble(t, short, transport.Config{Keys: s.get}, func(w *world) {
		hangs := during(func() error { _, err := w.dial("hangs", withIdentity(1)); return err })
		late := during(func() error { _, err := w.dial("late", withIdentity(2)); return err })
		began := time.Now()
		c, p := w.connect("quick", withIdentity(3))
		if took := time.Since(began); took > 100*ms {
			t.Errorf("who has a key waits %v", took)
		}
		if _, err := w.dial("anonymous", transport.Config{Timeout: 3 * time.Second}); !errors.Is(err, transport.ErrRefused) {
			t.Errorf("without a key: %v", err)
		}
		err := <-late
		if asked, _ := s.counts(); err != nil || time.Since(began) > 1500*ms || asked > 4 {
			t.Errorf("%v after %v, %d questions", err, time.Since(began), asked)
		}
		if err := <-hangs; !errors.Is(err, transport.ErrTimeout) {
			t.Errorf("whose key does not come: %v", err)
		}
		if err := c.Channel(1).Send([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if b, err := p.Channel(1).Recv(background); err != nil || string(b) != "hello" {
			t.Errorf("%q, %v", b, err)
		}
	})
}

// A store that fails refuses nobody: the client asks again, and is in as soon as the store works.
func TestAStoreOfKeysThatFails(t *testing.T) {
	failing := 3
	keys := func(context.Context, uint64) (session.Key, error) {
		if failing--; failing >= 0 {
			return session.Key{}, errors.New("no route to the lobby")
		}
		return key, nil
	}
	bubble(t, short, transport.Config{Keys: keys}, func(w *world) {
		w.connect("c", withIdentity(1))
		if st := w.server.Stats(); st.AnswersDropped != 3 || len(st.Refused) != 0 {
			t.Errorf("%d without an answer, refused %v", st.AnswersDropped, st.Refused)
		}
	})
}

// However many identities an address claims, and however long the store takes, it asks 16 questions at once; and
// others ask theirs (CXA-47).
func TestQuestionsAreCharged(t *testing.T) {
	s := &store{key: key, slow: func(id uint64) time.Duration { return map[bool]time.Duration{true: never}[id < 1000] }}
	bubble(t, short, transport.Config{Keys: s.get}, func(w *world) {
		at := func(host string, port int) netsim.Addr { return netsim.Addr(fmt.Sprintf("%s:%d", host, port)) }
		var flood sync.WaitGroup
		defer flood.Wait()
		for i := range 40 {
			flood.Go(func() { _, _ = w.dial(at("10.0.0.1", 1000+i), withIdentity(uint64(i+1))) })
		}
		time.Sleep(2 * time.Second)
		w.connect("10.0.0.2:1000", withIdentity(1000))
		if _, most := s.counts(); most != 17 {
			t.Errorf("%d questions at once", most)
		}
	})
}

// A client that comes last finds a place, too, although 64 prefixes have asked as much as they could: the fewer places are
// free, the fewer one prefix has.
func TestQuestionsOfManyPrefixes(t *testing.T) {
	s := &store{key: key, slow: func(id uint64) time.Duration { return map[bool]time.Duration{true: never}[id < 100_000] }}
	bubble(t, short, transport.Config{Keys: s.get}, func(w *world) {
		var flood sync.WaitGroup
		defer flood.Wait()
		for i := range 64 * 17 {
			at := netsim.Addr(fmt.Sprintf("10.0.%d.1:%d", i%64, 1000+i))
			flood.Go(func() { _, _ = w.dial(at, withIdentity(uint64(i+1))) })
		}
		time.Sleep(2 * time.Second)
		began := time.Now()
		w.connect("10.1.0.1:1000", withIdentity(100_000))
		if took := time.Since(began); took > 100*ms {
			t.Errorf("who comes last waits %v", took)
		}
	})
}

// A store that takes longer than it may, and does not look at its context, lets clients in all the same: who asks again
// waits for the same answer.
func TestAStoreOfKeysThatIsLate(t *testing.T) {
	keys := func(context.Context, uint64) (session.Key, error) {
		time.Sleep(5 * time.Second)
		return key, nil
	}
	bubble(t, short, transport.Config{Keys: keys}, func(w *world) {
		began := time.Now()
		w.connect("c", transport.Config{Identity: 1, Key: key})
		if took, st := time.Since(began), w.server.Stats(); took > 5100*ms || len(st.Refused) != 0 {
			t.Errorf("it is in after %v; refused: %v", took, st.Refused)
		}
		time.Sleep(5 * time.Second) // a call that is under way
	})
}

// A key expires when the store does not return it any more: nobody begins a connection with it; one that lives goes on,
// also from another address, and without asking (CXS-20). Zeros are no key (CXA-2).
func TestAKeyThatExpires(t *testing.T) {
	expired := false
	asked := 0
	keys := func(context.Context, uint64) (k session.Key, err error) {
		if asked++; !expired {
			k = key
		}
		return k, nil
	}
	bubble(t, short, transport.Config{Keys: keys}, func(w *world) {
		c, p := w.connect("c", withIdentity(1))
		expired = true
		if err := c.RebindOver(w.listen("elsewhere")); err != nil {
			t.Fatal(err)
		}
		_ = c.Channel(1).Send([]byte("I have moved"))
		if b, err := p.Channel(1).Recv(background); err != nil || string(b) != "I have moved" || p.RemoteAddr() != netsim.Addr("elsewhere") {
			t.Errorf("%q from %v, %v", b, p.RemoteAddr(), err)
		}
		if asked != 1 {
			t.Errorf("%d questions", asked)
		}
		var refused *session.RefusedError
		if _, err := w.dial("new", withIdentity(1)); !errors.As(err, &refused) || refused.Reason != session.UnknownIdentity {
			t.Errorf("a connection begins with a key that has expired: %v", err)
		}
		if p.Err() != nil {
			t.Error(p.Err())
		}
	})
}

// A server ends although a store of keys, and an application that admits clients, wait.
func TestQuestionsEndWithTheServer(t *testing.T) {
	s := &store{key: key, slow: func(id uint64) time.Duration { return map[uint64]time.Duration{1: never}[id] }}
	wait := func(ctx context.Context, _ *transport.Peer) error { <-ctx.Done(); return ctx.Err() }
	bubble(t, short, transport.Config{Keys: s.get, Admit: wait}, func(w *world) {
		hangs := during(func() error { _, err := w.dial("hangs", withIdentity(1)); return err })
		c, err := w.dial("admitted", withIdentity(2))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		began := time.Now()
		if err := w.server.Close(); err != nil || time.Since(began) > 1100*ms {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		time.Sleep(time.Second)
		if c.Err() == nil || s.asking != 0 {
			t.Errorf("%v; %d questions are left", c.Err(), s.asking)
		}
		<-hangs
	})
}

const banned = 257

// What a client sends first decides whether it gets in: until then it is no peer, and nothing is broadcast to it. Who does
// not get in is told why.
func TestAdmit(t *testing.T) {
	admit := func(ctx context.Context, p *transport.Peer) error {
		hello, err := p.Channel(1).Recv(ctx)
		switch {
		case err != nil:
			return err
		case string(hello) != "ticket":
			return &transport.ClosedError{Code: banned, Text: "banned until Monday"}
		}
		return nil
	}
	cfg := transport.Config{Admit: admit, Channels: []channel.Config{{ID: 1, Kind: channel.Ordered}}}
	bubble(t, short, cfg, func(w *world) {
		enter := func(name netsim.Addr, hello string) *transport.Peer {
			c, err := w.dial(name, transport.Config{Channels: cfg.Channels, Timeout: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if hello != "" {
				_ = c.Channel(1).Send([]byte(hello))
			}
			return c
		}
		peers := func() (n int) {
			for range w.server.Peers() {
				n++
			}
			return n
		}
		silent, bad := enter("silent", ""), enter("bad", "nothing")
		for c, want := range map[*transport.Peer]uint16{bad: banned, silent: 0} {
			_, err := c.Channel(1).Recv(within(w.t, time.Minute))
			var closed *transport.ClosedError
			if !errors.As(err, &closed) || closed.Code != want {
				t.Errorf("%v, want code %d", err, want)
			}
			w.server.Broadcast(1, []byte("secret"))
		}
		if _, err := w.server.Accept(within(w.t, time.Second)); !errors.Is(err, transport.ErrCanceled) || peers() != 0 {
			t.Errorf("%v, %d peers", err, peers())
		}
		good := enter("good", "ticket")
		p, err := w.server.Accept(background)
		if err != nil || p.RemoteAddr() != good.LocalAddr() || peers() != 1 {
			t.Errorf("%v, %v", p, err)
		}
	})
}

// Who comes and leaves makes no more calls of Admit run than can be connected.
func TestAdmitEndsWithItsClient(t *testing.T) {
	var running atomic.Int32
	admit := func(ctx context.Context, _ *transport.Peer) error {
		running.Add(1)
		defer running.Add(-1)
		<-ctx.Done()
		return ctx.Err()
	}
	bubble(t, short, transport.Config{Keys: (&store{key: key, slow: func(uint64) time.Duration { return 0 }}).get, Admit: admit}, func(w *world) {
		for i := range 8 {
			c, err := w.dial(netsim.Addr(fmt.Sprint("c", i)), transport.Config{Identity: 1, Key: key})
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 { // else the next one replaces it
				_ = c.Close(0, "")
			}
		}
		time.Sleep(time.Second)
		if n := running.Load(); n != 1 {
			t.Errorf("%d calls of Admit run for one client", n)
		}
	})
}

// Nobody gets in while a server shuts down, although Admit says so then.
func TestAdmitWhileShuttingDown(t *testing.T) {
	var asked, admit chan struct{}
	cfg := transport.Config{Admit: func(_ context.Context, p *transport.Peer) error {
		close(asked)
		_ = p.Channel(1).Send([]byte("your name?")) // which Shutdown waits for
		<-admit
		return nil
	}}
	bubble(t, short, cfg, func(w *world) {
		asked, admit = make(chan struct{}), make(chan struct{})
		c, err := w.dial("c", transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		accepted := during(func() error { _, err := w.server.Accept(background); return err })
		down := during(func() error { return w.server.Shutdown(background, banned, "") })
		synctest.Wait()
		close(admit)
		if err := <-accepted; !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Accept: %v", err)
		}
		var closed *transport.ClosedError
		if err := <-down; err != nil || !errors.As(c.Err(), &closed) || closed.Code != banned {
			t.Errorf("%v; the client has %v", err, c.Err())
		}
	})
}
