package metrics_test

import (
	"encoding/json"
	"expvar"
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/metrics"
)

// fixed is a source whose statistics are known.
type fixed struct{ st transport.ServerStats }

func (f *fixed) Stats() transport.ServerStats { return f.st }

func newFixed() *fixed {
	f := &fixed{transport.ServerStats{
		Peers: 3, Accepted: 7, Moved: 1,
		Ended:       map[transport.End]int64{transport.EndTimeout: 2, transport.EndClosed: 1},
		Refused:     map[session.Reason]int64{session.Full: 5, session.OtherMode: 1, 200: 2},
		Undecodable: map[core.Code]int64{"kind": 4, "": 1},
	}}
	f.st.DatagramsIn, f.st.BytesOut = 1000, 1<<40
	f.st.Receiver.Chunks, f.st.Sender.SlicesResent = 12, 34
	f.st.RoundTrip.Counts[0], f.st.RoundTrip.Counts[3], f.st.RoundTrip.Counts[len(f.st.RoundTrip.Counts)-1] = 2, 5, 1
	f.st.RoundTrip.Sum = 45_123_456
	return f
}

func TestText(t *testing.T) {
	r := httptest.NewRecorder()
	metrics.Handler(newFixed()).ServeHTTP(r, httptest.NewRequest("GET", "/metrics", nil))
	if got := r.Header().Get("Content-Type"); got != metrics.ContentType {
		t.Errorf("the type is %s", got)
	}
	for _, want := range []string{
		"# HELP chunkwire_connections Connections that there are now.\n# TYPE chunkwire_connections gauge\nchunkwire_connections 3\n",
		"chunkwire_connections_ended_total{why=\"closed\"} 1\nchunkwire_connections_ended_total{why=\"timeout\"} 2\n",
		"chunkwire_handshakes_refused_total{reason=\"full\"} 5\nchunkwire_handshakes_refused_total{reason=\"mode\"} 1\nchunkwire_handshakes_refused_total{reason=\"reason 200\"} 2\n",
		"chunkwire_datagrams_refused_total{code=\"kind\"} 4\nchunkwire_datagrams_refused_total{code=\"other\"} 1\n",
		"chunkwire_datagrams_total{direction=\"in\"} 1000\nchunkwire_datagrams_total{direction=\"out\"} 0\n",
		"chunkwire_datagram_bytes_total{direction=\"out\"} 1.099511627776e+12\n",
		"chunkwire_slices_resent_total 34\n",
		"chunkwire_round_trip_seconds_bucket{le=\"0.0005\"} 2\nchunkwire_round_trip_seconds_bucket{le=\"0.001\"} 2\nchunkwire_round_trip_seconds_bucket{le=\"0.002\"} 2\nchunkwire_round_trip_seconds_bucket{le=\"0.005\"} 7\n",
		"chunkwire_round_trip_seconds_bucket{le=\"30\"} 7\nchunkwire_round_trip_seconds_bucket{le=\"+Inf\"} 8\nchunkwire_round_trip_seconds_sum 45.123456\nchunkwire_round_trip_seconds_count 8\n",
	} {
		if !strings.Contains(r.Body.String(), want) {
			t.Errorf("not there:\n%s", want)
		}
	}
	if t.Failed() {
		t.Log(r.Body.String())
	}
}

// The names are those that Prometheus wants: a prefix, a unit, and _total for counters.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metrics.Table {
		good := regexp.MustCompile(`^chunkwire_[a-z_]+$`).MatchString(m.Name) && strings.HasSuffix(m.Help, ".") &&
			strings.HasSuffix(m.Name, "_total") == (m.Kind == metrics.Counter) &&
			strings.HasSuffix(m.Name, "_seconds") == (m.Kind == metrics.Histogram)
		if !good || seen[m.Name] {
			t.Errorf("%s, %s: %q", m.Name, m.Kind, m.Help)
		}
		seen[m.Name] = true
	}
}

func TestExpvar(t *testing.T) {
	metrics.Publish("chunkwire_test", newFixed())
	var got map[string]any
	if err := json.Unmarshal([]byte(expvar.Get("chunkwire_test").String()), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(metrics.Table) {
		t.Errorf("%d metrics, want %d", len(got), len(metrics.Table))
	}
	ended := got["chunkwire_connections_ended_total"].(map[string]any)
	round := got["chunkwire_round_trip_seconds"].(map[string]any)
	if got["chunkwire_connections"] != 3. || ended["timeout"] != 2. || round["count"] != 8. || round["buckets"].(map[string]any)["0.005"] != 5. {
		t.Errorf("%v", got)
	}
}

// How many series there are is bounded, whatever is sent to a server.
func TestSeriesAreBounded(t *testing.T) {
	f := newFixed()
	for reason := range 256 {
		f.st.Refused[session.Reason(reason)] = 1
	}
	series := 0
	for _, m := range metrics.Table {
		series += len(m.Samples(&f.st))
	}
	if series > 256+100 {
		t.Errorf("%d series", series)
	}
}

// The dashboard is JSON that Grafana takes, and asks for metrics that there are.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title         string
		UID           string
		SchemaVersion int
		Panels        []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, RefID, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.UID == "" || board.SchemaVersion == 0 || len(board.Panels) == 0 {
		t.Errorf("%+v", board)
	}
	names := map[string]bool{}
	for _, m := range metrics.Table {
		if m.Kind != metrics.Histogram {
			names[m.Name] = true
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			names[m.Name+suffix] = true
		}
	}
	labels := []string{"by (why)", "by (reason)", "by (code)", "by (direction)", "by (le)", "by (operation)"}
	ids, shown := map[int]bool{}, map[string]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.Type == "" || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			found := regexp.MustCompile(`chunkwire_\w+`).FindAllString(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("%s: no metric in %s", p.Title, target.Expr)
			}
			for _, name := range found {
				if shown[name] = true; !names[name] {
					t.Errorf("%s: there is no %s", p.Title, name)
				}
			}
			for _, by := range regexp.MustCompile(`by \(\w+\)`).FindAllString(target.Expr, -1) {
				if !slices.Contains(labels, by) {
					t.Errorf("%s: %s", p.Title, by)
				}
			}
		}
	}
	if len(shown) < 20 {
		t.Errorf("%d metrics are shown: %v", len(shown), shown)
	}
}

// The error of a writer is returned.
func TestWriteTextFails(t *testing.T) {
	r, w := io.Pipe()
	_ = r.Close()
	if err := metrics.WriteText(w, &newFixed().st); err == nil {
		t.Error("no error")
	}
}
