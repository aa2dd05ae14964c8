package attack

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// source is the i-th of the addresses that are forged.
func source(i int) string { return fmt.Sprintf("127.2.%d.%d:9000", i/250, i%250) }

// join makes a client at the i-th honest address, which sends a first chunk and
// gets one.
func join(t *testing.T, n network, p protocol, s server, i int) (peer, error) {
	t.Helper()
	c, err := p.dial(t, n.bind(t, fmt.Sprintf("127.1.0.%d:9000", i+1)), s.Addr())
	if err != nil {
		return nil, err
	}
	if err := c.Send(background, []byte("join")); err != nil {
		return c, err
	}
	_, err = c.Recv(background)
	return c, err
}

// A2: 2,000 forged sources, and 20 honest clients that have been idle for 11 s. Whoever forges a
// beginning can forge an ack of what the server says to it, too (CXA-25, PKT-SEC-2, CHT-SEC-2).
func TestA2(t *testing.T) {
	figures := inVirtualTime(t, func(t *testing.T, n network, p protocol) (lost int) {
		s := p.serve(t, n.bind(t, "127.0.0.1:9000"))
		pushes(s, []byte("the world"), 1)
		var honest []peer
		for i := range 20 {
			c, err := join(t, n, p, s, i)
			if err != nil {
				t.Fatal(err)
			}
			honest = append(honest, c)
		}
		time.Sleep(11 * time.Second)
		for i := range 2000 {
			forger := n.station(t, source(i), nil)
			for _, datagram := range p.take(i) {
				forger.says(s.Addr(), datagram)
				synctest.Wait()
			}
			if p.proof != nil {
				forger.says(s.Addr(), p.proof(t, n, s.Addr()))
			}
			time.Sleep(ms / 20)
		}
		for _, c := range honest {
			if c.Send(background, []byte("still here")) != nil {
				lost++
			}
		}
		t.Logf("%s: %d of 20 honest connections ended", p.name, lost)
		return lost
	})
	if figures[0] != 20 {
		t.Error("plain: the test tests nothing")
	}
	for _, lost := range figures[1:] {
		if lost > 0 {
			t.Errorf("%d honest connections ended", lost)
		}
	}
}

// A7: 2,048 forged sources that each say something every 8 s, which no connection outlives: with right cookies 1,280 of
// them would be half-open, and there are 1,024 places. Five clients come meanwhile (CXA-27).
func TestA7(t *testing.T) {
	figures := inVirtualTime(t, func(t *testing.T, n network, p protocol) (refused int) {
		s := p.serve(t, n.bind(t, "127.0.0.1:9000"))
		answers(s, []byte("the world"), 1)
		forgers := make([]*station, 2048)
		for i := range forgers {
			forgers[i] = n.station(t, source(i), nil)
		}
		sent := 0
		round := func(k int) {
			for _, f := range forgers {
				for _, datagram := range p.stay(k) {
					f.says(s.Addr(), datagram)
					sent++
				}
				if p.proof != nil {
					f.says(s.Addr(), p.proof(t, n, s.Addr()))
					sent++
				}
				time.Sleep(8 * time.Second / time.Duration(len(forgers)))
			}
		}
		done := make(chan bool)
		go func() {
			defer close(done)
			for k := range 4 {
				round(k)
			}
		}()
		time.Sleep(9 * time.Second)
		came := make(chan error)
		for i := range 5 {
			go func() {
				_, err := join(t, n, p, s, i)
				came <- err
			}()
		}
		for range 5 {
			if <-came != nil {
				refused++
			}
		}
		<-done
		t.Logf("%s: %d of 5 clients did not get in, in 32 s of %d forged datagrams a second", p.name, refused, sent/32)
		return refused
	})
	if figures[0] != 5 {
		t.Error("plain: the test tests nothing")
	}
	for _, refused := range figures[1:] {
		if refused > 0 {
			t.Errorf("%d of 5 clients did not get in", refused)
		}
	}
}
