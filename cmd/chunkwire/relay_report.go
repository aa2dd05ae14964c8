package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/netsim"
)

// relayReport is what --json prints.
type relayReport struct {
	Listen  string  `json:"listen"`
	To      string  `json:"to"`
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	Clients int     `json:"clients"`         // that have a place now
	Served  int64   `json:"clients_served"`  // so far
	Ignored int64   `json:"ignored"`         // datagrams of clients that found no place
	Failed  int64   `json:"socket_failures"` // datagrams and reads
	Failure string  `json:"last_failure,omitempty"`
	Up      relayed `json:"up"`
	Down    relayed `json:"down"`
}

// relayed is what happened one way.
type relayed struct {
	Settings    map[string]string `json:"settings"`
	Sent        int64             `json:"sent"`
	SentBytes   int64             `json:"sent_bytes"`
	Delivered   int64             `json:"delivered"`
	LostRandom  int64             `json:"lost_random"`
	LostOutage  int64             `json:"lost_outage"`
	LostQueue   int64             `json:"lost_queue"`
	LostPolicer int64             `json:"lost_policer"`
	Duplicated  int64             `json:"duplicated"`
	Reordered   int64             `json:"reordered"`
	Corrupted   int64             `json:"corrupted"`
}

func (r *relaying) report() relayReport {
	sent, back := r.relay.Stats()
	counts := r.relay.Counts()
	report := relayReport{
		Listen: r.listen.String(), To: r.to.String(), Seed: r.flags.seed, Seconds: r.elapsed().Seconds(),
		Clients: counts.Clients, Served: counts.Served, Ignored: counts.Ignored,
		Failed: counts.DialErrors + counts.WriteErrors + counts.ReadErrors,
		Up:     relayedBy(&r.ways[up], sent), Down: relayedBy(&r.ways[down], back),
	}
	if counts.LastError != nil {
		report.Failure = counts.LastError.Error()
	}
	return report
}

func relayedBy(w *way, s netsim.LinkStats) relayed {
	return relayed{
		w.settings(), s.Sent, s.SentBytes, s.Delivered, s.LostRandom, s.LostOutage, s.LostQueue, s.LostPolicer,
		s.Duplicated, s.Reordered, s.Corrupted,
	}
}

// stats prints what has happened so far.
func (r *relaying) stats() {
	if r.flags.json {
		_ = json.NewEncoder(r.stdout).Encode(r.report())
		return
	}
	r.table(r.screen)
}

// table prints a row for each count that there is, with a column for each way.
func (r *relaying) table(s screen) {
	report := r.report()
	a, b := report.Up, report.Down
	rows := [][]string{{"", "up", "down"}}
	add := func(name string, up, down int64, always bool) {
		if always || up+down > 0 {
			rows = append(rows, []string{name, share(up, a.Sent, always), share(down, b.Sent, always)})
		}
	}
	add("datagrams", a.Sent, b.Sent, true)
	add("bytes", a.SentBytes, b.SentBytes, true)
	add("delivered", a.Delivered, b.Delivered, true)
	add("lost by chance", a.LostRandom, b.LostRandom, false)
	add("lost in outages", a.LostOutage, b.LostOutage, false)
	add("lost at the queue", a.LostQueue, b.LostQueue, false)
	add("lost at the policer", a.LostPolicer, b.LostPolicer, false)
	add("doubled", a.Duplicated, b.Duplicated, false)
	add("held back", a.Reordered, b.Reordered, false)
	add("corrupted", a.Corrupted, b.Corrupted, false)
	if !s.table(rows) {
		for _, row := range rows[1:] {
			s.print(row[0] + ": up " + row[1] + ", down " + row[2])
		}
	}
	line := countOf(report.Served, "client")
	if report.Ignored > 0 {
		line += fmt.Sprintf("; %s of others were ignored (--max-clients)", countOf(report.Ignored, "datagram"))
	}
	if report.Failed > 0 {
		line += fmt.Sprintf("; the system refused %s: %s", countOf(report.Failed, "time"), report.Failure)
	}
	s.print(line)
}

// share writes a count, and what part that is of another.
func share(n, of int64, plain bool) string {
	if plain || of == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(of))
}

// end prints the statistics at the end.
func (r *relaying) end() error {
	if r.flags.json {
		return json.NewEncoder(r.stdout).Encode(r.report())
	}
	r.table(r.screen)
	return nil
}

// print prints lines for people.
func (r *relaying) print(text string) {
	for _, line := range strings.Split(text, "\n") {
		_, _ = io.WriteString(r.screen.w, line+"\n")
	}
}

// status looks for what must be said at once, and shows on a terminal what has happened so far: in the
// line above the one where the next line is written, so that both can be read.
func (r *relaying) status() {
	counts := r.relay.Counts()
	if !r.warned && counts.LastError != nil && udp.PortUnreachable(counts.LastError) {
		r.warned, r.live = true, false
		r.print(fmt.Sprintf("chunkwire: note: nobody listens at %v (connection refused); the relay goes on", r.to))
	}
	if !r.screen.live {
		return
	}
	line := r.screen.cut(r.statusLine())
	if r.live {
		_, _ = io.WriteString(r.screen.w, "\x1b7\x1b[1A\r\x1b[2K"+line+"\x1b8")
		return
	}
	r.live = true
	_, _ = io.WriteString(r.screen.w, line+"\n")
}

func (r *relaying) statusLine() string {
	report := r.report()
	return fmt.Sprintf("%4.0f s  %s  up %s  down %s", report.Seconds, countOf(int64(report.Clients), "client"), report.Up.brief(), report.Down.brief())
}

// brief writes the counts of one way in a few words.
func (d relayed) brief() string {
	lost := d.LostRandom + d.LostOutage + d.LostQueue + d.LostPolicer
	text := fmt.Sprintf("%d, lost %s", d.Sent, share(lost, d.Sent, false))
	if d.Corrupted > 0 {
		text += fmt.Sprintf(", corrupted %d", d.Corrupted)
	}
	return text
}
