package transport_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// withLatest has a channel of the kind Latest as well.
var withLatest = transport.Config{Channels: []channel.Config{{ID: 0, Kind: channel.Latest}, {ID: 1, Kind: channel.Ordered}, {ID: 2, Kind: channel.Unordered}}}

// What is broadcast comes to all who were accepted, and Readable says where something is.
func TestBroadcast(t *testing.T) {
	bubble(t, short, withLatest, func(w *world) {
		a, _ := w.connect("a", withLatest)
		b, atB := w.connect("b", withLatest)
		if _, err := w.dial("c", withLatest); err != nil { // who is not accepted
			t.Fatal(err)
		}
		for i := range 3 {
			for _, id := range []uint8{0, 2} {
				if refused := w.server.Broadcast(id, []byte{id, byte(i)}); len(refused) > 0 {
					t.Fatalf("%d refuse it", len(refused))
				}
			}
		}
		w.server.SendNow()
		time.Sleep(time.Second)
		for _, p := range []*transport.Peer{a, b} {
			var got []string
			for c := range p.Readable() {
				for m, ok := c.TryRecvMessage(); ok; m, ok = c.TryRecvMessage() {
					got = append(got, fmt.Sprint(c.ID(), m.Data, m.Arrived.IsZero()))
				}
			}
			if want := []string{"0 [0 2] false", "2 [2 0] true", "2 [2 1] true", "2 [2 2] true"}; !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
			for range p.Readable() {
				t.Error("there is more")
			}
		}
		atB.Close(0, "")
		if n := len(slices.Collect(w.server.Peers())); n != 1 {
			t.Errorf("%d peers", n)
		}
	})
}

// A message that is too large is refused with the limit, which is known before.
func TestMaxSize(t *testing.T) {
	bubble(t, short, withLatest, func(w *world) {
		a, _ := w.connect("a", withLatest)
		for id, want := range []int{16380, 65536, 65536, 0} {
			c := a.Channel(uint8(id))
			if c.MaxSize() != want {
				t.Errorf("channel %d: %d", id, c.MaxSize())
			}
			if want == 0 {
				continue
			}
			err := c.Send(make([]byte, want+1))
			if text := fmt.Sprintf("transport: channel %d takes messages of 1 to %d bytes, this one has %d", id, want, want+1); !errors.Is(err, channel.ErrMessageSize) || err.Error()[:len(text)] != text {
				t.Error(err)
			}
			if err := c.Send(make([]byte, want)); err != nil {
				t.Error(err)
			}
		}
	})
}

// Shutdown sends what was given before, and says why; who comes meanwhile hears it, too.
func TestShutdown(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		a, atA := w.connect("a", transport.Config{})
		for i := range 100 {
			if err := atA.Channel(1).Send([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.server.Shutdown(within(w.t, time.Minute), 300, "good night"); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if m, err := a.Channel(1).Recv(background); err != nil || m[0] != byte(i) {
				t.Fatal(i, m, err)
			}
		}
		_, err := a.Channel(1).Recv(background)
		var closed *transport.ClosedError
		if !errors.As(err, &closed) || closed.Code != 300 || closed.Text != "good night" {
			t.Error(err)
		}
	})
}

// Who has just connected hears that the server is closed, also if nothing of it has come yet (U9).
func TestCloseRightAfterDial(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		a, err := w.dial("a", transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		w.server.Close()
		start := time.Now()
		<-a.Done()
		if err := a.Err(); !errors.Is(err, transport.ErrClosedRemotely) || time.Since(start) > time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// Close closes, whatever it is given, and says what was wrong.
func TestCloseAlwaysCloses(t *testing.T) {
	for _, c := range []struct {
		code uint16
		text string
		want transport.ClosedError
	}{{1, "bye", transport.ClosedError{Code: 0, Text: "bye"}}, {700, string(make([]byte, 129)), transport.ClosedError{Code: 700, Text: string(make([]byte, 128))}}} {
		bubble(t, short, transport.Config{}, func(w *world) {
			a, atA := w.connect("a", transport.Config{})
			if err := atA.Close(c.code, c.text); err == nil {
				t.Error("no error")
			}
			if atA.Err() == nil {
				t.Error("it is open")
			}
			<-a.Done()
			var closed *transport.ClosedError
			if !errors.As(a.Err(), &closed) || closed.Code != c.want.Code || closed.Text != c.want.Text {
				t.Error(a.Err())
			}
		})
	}
}

// Both ends know the round trip without the wait of the other, and the client the server's time.
func TestTimeOfTheServer(t *testing.T) {
	bubble(t, netsim.Path{Delay: 15 * ms}, withLatest, func(w *world) {
		time.Sleep(time.Hour)
		w.net.SetPath("s", "a", netsim.Path{Delay: 45 * ms})
		a, atA := w.connect("a", withLatest)
		time.Sleep(5 * time.Second) // the client sends nothing but what keeps it alive
		for _, p := range []*transport.Peer{a, atA} {
			if rtt, ok := p.RTT(); !ok || rtt < 60*ms || rtt > 62*ms || p.Stats().RTT != rtt {
				t.Errorf("round trip %v, %v", rtt, ok)
			}
		}
		now, most, ok := a.RemoteTime()
		if off := now - w.server.Time(); !ok || off.Abs() > 16*ms || off.Abs() > most || most > 32*ms {
			t.Errorf("the server's time is wrong by %v, at most %v, %v", off, most, ok)
		}
		if h := w.server.Stats().RoundTrip; h.Count() == 0 || h.Sum/60_000 < 1 {
			t.Errorf("the histogram has %d", h.Count())
		}
	})
}
