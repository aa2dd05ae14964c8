package transport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

func TestLogger(t *testing.T) {
	here, there := &logtest.Records{}, &logtest.Records{}
	cfg := transport.Config{Keys: keys, Timeout: 2 * time.Second, Logger: here.Logger()}
	bubble(t, short, cfg, func(w *world) {
		here.Want(t, "a socket of the caller", "WARN socket buffers are small wanted=524288 read=0 write=0 error=unsupported operation: transport_test.gatherer has neither SetWriteBuffer nor a method Unwrap that leads to one")
		known := withKey(identity, key)
		known.Logger = there.Logger()
		client, _ := w.connect("a", known)
		there.Take() // its buffers, and that it began
		here.Want(t, "begun", "INFO connection begun remote=a")

		client.RebindOver(w.listen("b"))
		time.Sleep(time.Second)
		here.Want(t, "moved", "INFO connection moved remote=b from=a")
		there.Want(t, "moved", "INFO connection goes on with a new socket remote=s")

		client.Close(300, "enough")
		time.Sleep(time.Second)
		here.Want(t, "closed", "INFO connection ended remote=b why=closed_by_peer error=transport: closed by the other end: connection with b, code 300: \"enough\"")
		there.Want(t, "closed", "INFO connection ended remote=s why=closed error=transport: closed: connection with s")

		w.connect("c", withKey(identity, key))
		w.setPath("c", outage)
		time.Sleep(5 * time.Second)
		here.Want(t, "timed out", "INFO connection begun remote=c",
			"WARN connection ended remote=c why=timeout error=transport: timed out: nothing was heard of c")
	})
}

// Both ends say goodbye at once: what comes of the other's is no warning, and no refusal of a stranger.
func TestGoodbyeIsNoWarning(t *testing.T) {
	r := &logtest.Records{}
	bubble(t, netsim.Path{Delay: 25 * ms}, transport.Config{Logger: r.Logger()}, func(w *world) {
		client, _ := w.connect("a", transport.Config{})
		r.Take()
		client.Close(0, "bye")
		time.Sleep(time.Second)
		lines := r.Take()
		if len(lines) < 2 || !strings.HasPrefix(lines[0], "INFO connection ended") {
			t.Fatalf("%q: the test tests nothing", lines)
		}
		for _, line := range lines[1:] {
			if line != "DEBUG datagram of an ended connection remote=a code=ended_link" {
				t.Errorf("%q", lines)
			}
		}
		if st := w.server.Stats(); st.Undecodable[session.CodeEndedLink] == 0 || st.Undecodable[session.CodeUnknownLink] != 0 {
			t.Errorf("%v", st.Undecodable)
		}
	})
}

// A server that is closed while a client cannot be reached logs the end of its connection.
func TestTheEndOfAnUnreachableClientIsLogged(t *testing.T) {
	var events []eventlog.Event
	cfg := transport.Config{Log: func(e eventlog.Event) { events = append(events, e) }}
	bubble(t, short, cfg, func(w *world) {
		w.connect("a", transport.Config{})
		w.setPath("a", outage)
		w.server.Close()
		var why []string
		for _, e := range events {
			if e.Kind == eventlog.ConnectionEnded {
				why = append(why, string(e.End)+" "+e.Why)
			}
		}
		if want := []string{"server closed"}; !slices.Equal(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	})
}

// What others cause is written in an amount that the time bounds, and not they: garbage of one source and of a
// thousand, an anonymous client that comes and goes with the worst text that there is, and one that moves.
func TestLoggerIsLimited(t *testing.T) {
	r := &logtest.Records{}
	bubble(t, netsim.Path{}, transport.Config{Logger: r.Logger()}, func(w *world) {
		r.Take()
		one := w.listen("one")
		for range 1000 {
			one.WriteTo([]byte("what is this"), netsim.Addr("s"))
			time.Sleep(10 * ms)
		}
		wantRecords(t, "one source for ten seconds", r, eventlog.SourceAtOnce, "datagram refused remote=one code=unknown_kind")
		for i := range 1000 {
			w.listen(netsim.Addr(fmt.Sprint(i))).WriteTo([]byte("what is this"), netsim.Addr("s"))
			time.Sleep(10 * ms)
		}
		wantRecords(t, "a thousand sources", r, eventlog.KindAtOnce, "datagram refused")
		for range 200 {
			p, err := w.dial("guest", transport.Config{})
			if err != nil {
				t.Fatal(err)
			}
			p.Close(0, strings.Repeat("\x1b", 128))
		}
		lines := r.Take()
		if n := len(lines); n < 2*eventlog.SourceAtOnce || n > 2*eventlog.SourceAtOnce+4 {
			t.Errorf("a client that comes and goes: %d records", n)
		}
		for _, line := range lines {
			if len(line) > 300 {
				t.Errorf("%d bytes: %s", len(line), line)
			}
		}
		p, _ := w.dial("mover", transport.Config{})
		for i := range 100 {
			p.RebindOver(w.listen(netsim.Addr(fmt.Sprint("192.0.2.1:", 1000+i))))
			time.Sleep(100 * ms)
		}
		if n := len(r.Take()); n > 2*eventlog.SourceAtOnce+4 {
			t.Errorf("a client that moves: %d records", n)
		}
	})
}

// wantRecords checks that there are so many records, or one a second more, and what is in each.
func wantRecords(t *testing.T, when string, r *logtest.Records, want int, text string) {
	t.Helper()
	lines := r.Take()
	if n := len(lines); n < want || n > want+20 {
		t.Errorf("%s: %d records, want %d", when, n, want)
	}
	for _, line := range lines {
		if !strings.Contains(line, text) {
			t.Errorf("%s: %s", when, line)
		}
	}
}
