package transport_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/session"
	"github.com/chunkwire/chunkwire/transport"
)

// records is a handler that keeps what it is told, without the times.
type records struct {
	mu  sync.Mutex
	all []string
}

func (r *records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *records) WithGroup(string) slog.Handler            { return r }

func (r *records) Handle(_ context.Context, record slog.Record) error {
	line := fmt.Sprintf("%v %s", record.Level, record.Message)
	record.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, line)
	return nil
}

// take returns what there is, and forgets it.
func (r *records) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// want checks that there are such records, in this order.
func (r *records) want(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := r.take(); !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLogger(t *testing.T) {
	here, there := &records{}, &records{}
	cfg := transport.Config{Keys: keys, Timeout: 2 * time.Second, Logger: slog.New(here)}
	bubble(t, short, cfg, func(w *world) {
		here.want(t, "a socket of the caller", "WARN socket buffers are small wanted=524288 read=0 write=0 error=unsupported operation: *netsim.Conn has neither SetWriteBuffer nor a method Unwrap that leads to one")
		known := withKey(identity, key)
		known.Logger = slog.New(there)
		client, _ := w.connect("a", known)
		there.take() // its buffers, and that it began
		here.want(t, "begun", "INFO connection begun remote=a")

		client.RebindOver(w.listen("b"))
		time.Sleep(time.Second)
		here.want(t, "moved", "INFO connection moved remote=b from=a")
		there.want(t, "moved", "INFO connection goes on with a new socket remote=s")

		client.Close(300, "enough")
		time.Sleep(time.Second)
		here.want(t, "closed", "INFO connection ended remote=b why=closed_by_peer error=transport: closed by the other end: connection with b: connection: closed by the other end, code 300: \"enough\"")
		there.want(t, "closed", "INFO connection ended remote=s why=closed error=transport: closed: connection with s")

		w.connect("c", withKey(identity, key))
		w.setPath("c", outage)
		time.Sleep(5 * time.Second)
		here.want(t, "timed out", "INFO connection begun remote=c",
			"WARN connection ended remote=c why=timeout error=transport: timed out: nothing was heard of c")
	})
	if text := fmt.Sprint(here.all, there.all); strings.Contains(text, fmt.Sprint(identity)) || strings.Contains(text, fmt.Sprintf("%x", key)) {
		t.Error("there is something secret: ", text)
	}
}

// What anyone can cause is written once of a source, once a second, and of refusals the first, the tenth, and
// so on.
func TestLoggerIsLimited(t *testing.T) {
	r := &records{}
	bubble(t, netsim.Path{}, transport.Config{Logger: slog.New(r)}, func(w *world) {
		r.take()
		one := w.listen("one")
		for range 1000 {
			one.WriteTo([]byte("what is this"), netsim.Addr("s"))
			time.Sleep(10 * ms)
		}
		r.want(t, "one source for ten seconds", "WARN datagram refused remote=one code=unknown_kind count=1")
		for i := range 1000 {
			w.listen(netsim.Addr(fmt.Sprint(i))).WriteTo([]byte("what is this"), netsim.Addr("s"))
			time.Sleep(10 * ms)
		}
		if n := len(r.take()); n < 9 || n > 11 {
			t.Errorf("%d records of a thousand sources in ten seconds", n)
		}
		for i := range 12 {
			w.dial(netsim.Addr(fmt.Sprint("other", i)), transport.Config{ProtocolID: 5})
		}
		if n := w.server.Stats().Refused[session.OtherProtocol]; n < 12 {
			t.Fatalf("%d refusals", n)
		}
		var refusals []string
		for _, line := range r.take() {
			if strings.Contains(line, "connection refused") {
				refusals = append(refusals, line[strings.Index(line, "reason"):])
			}
		}
		if want := []string{"reason=protocol count=1", "reason=protocol count=10"}; !slices.Equal(refusals, want) {
			t.Errorf("%q, want %q", refusals, want)
		}
	})
}
