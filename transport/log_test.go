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
		here.Want(t, "a socket of the caller", "WARN socket buffers are small wanted=524288 read=0 write=0 error=unsupported operation: *netsim.Conn has neither SetWriteBuffer nor a method Unwrap that leads to one")
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
		here.Want(t, "closed", "INFO connection ended remote=b why=closed_by_peer error=transport: closed by the other end: connection with b: connection: closed by the other end, code 300: \"enough\"")
		there.Want(t, "closed", "INFO connection ended remote=s why=closed error=transport: closed: connection with s")

		w.connect("c", withKey(identity, key))
		w.setPath("c", outage)
		time.Sleep(5 * time.Second)
		here.Want(t, "timed out", "INFO connection begun remote=c",
			"WARN connection ended remote=c why=timeout error=transport: timed out: nothing was heard of c")
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

// What anyone can cause is written once of a source, once a second, and of refusals the first, the tenth, and
// so on.
func TestLoggerIsLimited(t *testing.T) {
	r := &logtest.Records{}
	bubble(t, netsim.Path{}, transport.Config{Logger: r.Logger()}, func(w *world) {
		r.Take()
		one := w.listen("one")
		for range 1000 {
			one.WriteTo([]byte("what is this"), netsim.Addr("s"))
			time.Sleep(10 * ms)
		}
		r.Want(t, "one source for ten seconds", "WARN datagram refused remote=one code=unknown_kind count=1")
		for i := range 1000 {
			w.listen(netsim.Addr(fmt.Sprint(i))).WriteTo([]byte("what is this"), netsim.Addr("s"))
			time.Sleep(10 * ms)
		}
		if n := len(r.Take()); n < 9 || n > 11 {
			t.Errorf("%d records of a thousand sources in ten seconds", n)
		}
		for i := range 12 {
			w.dial(netsim.Addr(fmt.Sprint("other", i)), transport.Config{ProtocolID: 5})
		}
		if n := w.server.Stats().Refused[session.OtherProtocol]; n < 12 {
			t.Fatalf("%d refusals", n)
		}
		var refusals []string
		for _, line := range r.Take() {
			if strings.Contains(line, "connection refused") {
				refusals = append(refusals, line[strings.Index(line, "reason"):])
			}
		}
		if want := []string{"reason=protocol count=1", "reason=protocol count=10"}; !slices.Equal(refusals, want) {
			t.Errorf("%q, want %q", refusals, want)
		}
	})
}
