package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/tools/bench"
)

// report writes RESULTS.md.
func report(r *bench.Result) error {
	versions, err := versions("github.com/xtaci/kcp-go/v5", "github.com/quic-go/quic-go", "github.com/sandertv/go-raknet", "github.com/pion/sctp")
	if err != nil {
		return err
	}
	controller, err := measure.Controller("../..")
	if err != nil {
		return err
	}
	t := tables{r}
	var b strings.Builder
	if err := page.Execute(&b, map[string]any{
		"Seeds": r.Seeds, "Commit": r.Commit, "Controller": controller, "Versions": versions, "Peers": bench.AllPeers(),
		"Behind": t.behind(), "Worst": t.worst(),
		"Cold": t.matrix(bench.Cold), "ColdBytes": t.bytes(bench.Cold), "Warm": t.matrix(bench.Warm), "WarmBytes": t.bytes(bench.Warm),
		"ByRTT": t.matrix(bench.ByRTT), "Streaming": t.matrix(bench.Streaming), "StreamingRate": t.rates(),
		"Trouble": t.matrix(bench.Trouble), "TroubleBytes": t.bytes(bench.Trouble), "Together": t.couples(), "Beside": t.beside(),
	}); err != nil {
		return err
	}
	return os.WriteFile("RESULTS.md", []byte(b.String()), 0o644)
}

// versions returns modules, each with its version.
func versions(modules ...string) ([]string, error) {
	lines, err := output("go", append([]string{"list", "-m", "-f", "{{.Path}} {{.Version}}"}, modules...)...)
	return strings.Split(lines, "\n"), err
}

// tables makes Markdown of a result.
type tables struct{ *bench.Result }

// of returns an experiment's cells and peers, in the order measured.
func (t tables) of(experiment string) (cells, peers []string, at map[[2]string]bench.Row) {
	at = make(map[[2]string]bench.Row)
	for _, row := range t.Rows {
		if row.Experiment != experiment {
			continue
		}
		if !slices.Contains(cells, row.Cell) {
			cells = append(cells, row.Cell)
		}
		if !slices.Contains(peers, row.Peer) {
			peers = append(peers, row.Peer)
		}
		at[[2]string{row.Cell, row.Peer}] = row
	}
	return cells, peers, at
}

// grid makes a table of cells by peers.
func (t tables) grid(experiment string, cell func(bench.Row) string) string {
	cells, peers, at := t.of(experiment)
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(peers, " | "), strings.Repeat("---|", len(peers)))
	for _, c := range cells {
		fmt.Fprintf(&b, "| %s |", c)
		for _, p := range peers {
			fmt.Fprintf(&b, " %s |", cell(at[[2]string{c, p}]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (t tables) matrix(experiment string) string {
	return t.grid(experiment, func(row bench.Row) string {
		if row.Failed == row.Runs {
			return "gave up"
		}
		text := ms(row.Median) + " / " + ms(row.P95)
		if row.Failed > 0 {
			text += fmt.Sprintf(" (%d gave up)", row.Failed)
		}
		return text
	})
}

func (t tables) bytes(experiment string) string {
	return t.grid(experiment, func(row bench.Row) string { return fmt.Sprintf("%.2f", row.Bytes) })
}

func (t tables) rates() string {
	return t.grid(bench.Streaming, func(row bench.Row) string {
		if row.Median == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f", float64(row.Size*8)/row.Median.Seconds()/1e6)
	})
}

// couples lists both of each two that shared a link.
func (t tables) couples() string {
	var b strings.Builder
	b.WriteString("| who beside whom | | median / 95th ms | bytes of both |\n|---|---|---|---|\n")
	for _, row := range t.Rows {
		if row.Experiment == bench.Together {
			fmt.Fprintf(&b, "| %s | %s | %s / %s | %.2f |\n", row.Cell, row.Peer, ms(row.Median), ms(row.P95), row.Bytes)
		}
	}
	return b.String()
}

// beside lists what two streams have of a link.
func (t tables) beside() string {
	var b strings.Builder
	b.WriteString("| | the first, then the second | Mbit/s | dropped |\n|---|---|---|---|\n")
	for _, row := range t.Rows {
		if f := row.Beside; f != nil {
			fmt.Fprintf(&b, "| %s | %s | %.2f : %.2f | %.2f %% |\n", row.Cell, row.Peer, f.Mbits[0], f.Mbits[1], 100*f.Dropped)
		}
	}
	return b.String()
}

// comparableBytes is how many times the bytes of a peer ours may send to be
// compared with it.
const comparableBytes = 1.05

// behind lists the cells in which a peer's median is below that of our default,
// those first in which it is below our best at comparable bytes, too.
func (t tables) behind() string {
	type line struct {
		ratio float64
		text  string
	}
	var lines []line
	for _, experiment := range []string{bench.Cold, bench.Warm, bench.ByRTT, bench.Streaming, bench.Trouble} {
		cells, peers, at := t.of(experiment)
		for _, c := range cells {
			ours := at[[2]string{c, bench.Ours()[0].Name}]
			for _, p := range peers {
				row := at[[2]string{c, p}]
				if isOurs(p) || row.Median == 0 || ours.Median-row.Median < time.Millisecond {
					continue
				}
				best := fastest(c, peers, at, row.Bytes*comparableBytes)
				lines = append(lines, line{float64(best.Median) / float64(row.Median), fmt.Sprintf("| %s, %s | %s | %s | %s | %s: %s |",
					experiment, c, p, figures(row), figures(ours), best.Peer, figures(best))})
			}
		}
	}
	if len(lines) == 0 {
		return "None.\n"
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(b.ratio, a.ratio) })
	var b strings.Builder
	b.WriteString("| cell | peer | its figures | our default's | our best at comparable bytes |\n|---|---|---|---|---|\n")
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// fastest returns our fastest profile in a cell, of those that send no more than so
// many bytes; if there is none, of all.
func fastest(cell string, peers []string, at map[[2]string]bench.Row, bytes float64) (best bench.Row) {
	for _, limit := range []float64{bytes, math.Inf(1)} {
		for _, p := range peers {
			row := at[[2]string{cell, p}]
			if isOurs(p) && row.Median > 0 && row.Bytes <= limit && (best.Median == 0 || row.Median < best.Median) {
				best = row
			}
		}
		if best.Median > 0 {
			break
		}
	}
	return best
}

func figures(row bench.Row) string {
	if row.Median == 0 {
		return "gave up"
	}
	return fmt.Sprintf("%s / %s, %.2f", ms(row.Median), ms(row.P95), row.Bytes)
}

// worst lists our default's cells by how far they are from the ideal.
func (t tables) worst() string {
	type line struct {
		ratio float64
		text  string
	}
	var lines []line
	for _, row := range t.Rows {
		ideal, ok := bench.Ideal[row.Cell]
		if row.Peer != bench.Ours()[0].Name || !ok || (row.Experiment != bench.Cold && row.Experiment != bench.Warm) {
			continue
		}
		median, p95 := float64(row.Median)/float64(ideal.Median), float64(row.P95)/float64(ideal.P95)
		lines = append(lines, line{max(median, p95), fmt.Sprintf("| %s, %s | %s / %s | %s / %s | %.2f / %.2f | %.2f |",
			row.Cell, row.Experiment, ms(row.Median), ms(row.P95), ms(ideal.Median), ms(ideal.P95), median, p95, row.Bytes)})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(b.ratio, a.ratio) })
	var b strings.Builder
	b.WriteString("| cell | ours, median / 95th ms | ideal | ratio | bytes |\n|---|---|---|---|---|\n")
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

func isOurs(peer string) bool {
	return slices.ContainsFunc(bench.OurStreams(), func(p bench.Peer) bool { return p.Name == peer })
}

func ms(d time.Duration) string { return fmt.Sprint((d + time.Millisecond/2).Milliseconds()) }

var page = template.Must(template.ParseFS(templates, "page.md.tmpl"))
