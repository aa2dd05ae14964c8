package transport_test

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// The same of messages: a channel that is full refuses, and SendWait waits.
func TestSlowReaderOfMessages(t *testing.T) {
	channels := []channel.Config{{ID: 1, Kind: channel.Ordered, Format: channel.Format{Window: 32, Group: 2}, SendQueue: 32}}
	bubble(t, short, transport.Config{Channels: channels}, func(w *world) {
		client, server := w.connect("c", transport.Config{Channels: channels})
		sent := 0
		for {
			err := client.Channel(1).Send(fmt.Append(nil, sent))
			if errors.Is(err, transport.ErrQueueFull) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			sent++
			if sent%10 == 0 {
				time.Sleep(100 * ms)
			}
		}
		if sent < 32 || sent > 100 {
			t.Errorf("%d messages were taken before anything was read", sent)
		}
		if err := client.Channel(1).SendWait(within(w.t, time.Minute), []byte("x")); !errors.Is(err, transport.ErrCanceled) {
			t.Errorf("SendWait: %v", err)
		}
		waited := make(chan error, 1)
		go func() { waited <- client.Channel(1).SendWait(background, fmt.Append(nil, sent)) }()
		for i := range sent + 1 {
			time.Sleep(10 * time.Second)
			if m, err := server.Channel(1).Recv(within(w.t, time.Second)); string(m) != fmt.Sprint(i) {
				t.Fatalf("message %d is %q, %v", i, m, err)
			}
		}
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if client.Err() != nil || server.Err() != nil {
			t.Error(client.Err(), server.Err())
		}
	})
}

// Messages that are not worth their time are skipped, and the receiver is told.
func TestLifetime(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		w.setPath("c", outage)
		client.Channel(1).SendFor([]byte("too late"), 500*ms)
		client.Channel(1).Send([]byte("in time"))
		time.Sleep(2 * time.Second)
		w.setPath("c", short)
		m, err := server.Channel(1).RecvMessage(background)
		if err != nil || !m.Skipped {
			t.Errorf("%+v, %v", m, err)
		}
		if m, err := server.Channel(1).Recv(background); string(m) != "in time" {
			t.Errorf("%q, %v", m, err)
		}
	})
}

// A channel that is not there is an error of every call.
func TestNoSuchChannel(t *testing.T) {
	bubble(t, short, transport.Config{Channels: transport.NoChannels}, func(w *world) {
		client, _ := w.connect("c", transport.Config{Channels: transport.NoChannels})
		for _, c := range []transport.Channel{client.Channel(1), client.Channel(200), client.Unreliable()} {
			_, err := c.Recv(background)
			for _, err := range []error{err, c.Send([]byte("x")), c.SendWait(background, []byte("x"))} {
				if !errors.Is(err, transport.ErrNoChannel) {
					t.Error(err)
				}
			}
			if _, ok := c.TryRecv(); ok {
				t.Error("a message came")
			}
		}
	})
}

// mute is a socket that sends nothing, and says so.
type mute struct{ net.PacketConn }

func (mute) WriteTo([]byte, net.Addr) (int, error) { return 0, errMute }

var errMute = errors.New("no way out")

// If nothing can be sent, that is what a time-out reports, and not the server's fault.
func TestNothingCanBeSent(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		_, err := transport.Over(background, mute{w.listen("c")}, netsim.Addr("s"), transport.Config{})
		if !errors.Is(err, transport.ErrTimeout) || !errors.Is(err, errMute) {
			t.Error(err)
		}
	})
}

// stuck is a socket whose writes block from some time on, until it is closed.
type stuck struct {
	net.PacketConn
	from   time.Time
	closed chan struct{}
}

func (s *stuck) WriteTo(b []byte, to net.Addr) (int, error) {
	if time.Now().After(s.from) {
		<-s.closed
		return 0, net.ErrClosed
	}
	return s.PacketConn.WriteTo(b, to)
}

func (s *stuck) Close() error {
	close(s.closed)
	return s.PacketConn.Close()
}

// A write that blocks does not keep callers waiting: the connection ends by its
// time-out, within a quarter more, and Close in time.
func TestAWriteThatBlocks(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		socket := &stuck{w.listen("c"), time.Now().Add(time.Second), make(chan struct{})}
		client, err := transport.Over(background, socket, netsim.Addr("s"), transport.Config{Timeout: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		start := time.Now()
		err = client.Chunks().Send(within(w.t, time.Minute), []byte("never leaves"))
		if !errors.Is(err, transport.ErrTimeout) {
			t.Error(err)
		}
		wantTook(t, "Send", start, 0, 4*time.Second)
		start = time.Now()
		client.Close(0, "")
		wantTook(t, "Close", start, 0, 3*time.Second)
	})
}
