package main

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/chunkwire/chunkwire/tools/bench"
)

// messageReport writes MESSAGES.md.
func messageReport(r *bench.Result) error {
	versions, err := versions("github.com/xtaci/kcp-go/v5", "github.com/quic-go/quic-go")
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := messagePage.Execute(&b, map[string]any{
		"Seeds": r.Seeds, "Commit": r.Commit, "Versions": versions, "Peers": bench.MessagePeers(),
		"Bytes": bench.MessageBytes, "Tables": messageTables(r), "Behind": messagesBehind(r),
	}); err != nil {
		return err
	}
	return os.WriteFile("MESSAGES.md", []byte(b.String()), 0o644)
}

var orders = []struct {
	ordered bool
	name    string
}{{true, "ordered"}, {false, "unordered"}}

// messageRows returns the rows of a cell and an order, those of the ideal first.
func messageRows(r *bench.Result, cell string, ordered bool) (rows []bench.Row) {
	for _, row := range r.Rows {
		if row.Experiment == bench.Messages && row.Cell == cell && row.Messages != nil && row.Messages.Ordered == ordered {
			rows = append(rows, row)
		}
	}
	return rows
}

// messageTables makes a table of each cell.
func messageTables(r *bench.Result) string {
	var b strings.Builder
	for _, c := range bench.MessageCells() {
		fmt.Fprintf(&b, "## %d %% loss each way\n\n", c.Loss)
		b.WriteString("| protocol | median, ms | 95th, ms | last, ms | bytes | sent again |\n|---|---:|---:|---:|---:|---:|\n")
		for _, order := range orders {
			fmt.Fprintf(&b, "| *%s* | | | | | |\n", order.name)
			for _, row := range messageRows(r, c.String(), order.ordered) {
				b.WriteString(messageLine(row))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func messageLine(row bench.Row) string {
	f := row.Messages
	name := row.Peer
	if row.Failed > 0 {
		name += fmt.Sprintf(" (%d of %d gave up)", row.Failed, row.Runs)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %.2f | %.1f %% |\n", name,
		between(row.Median, f.Median), between(row.P95, f.P95), between(f.Last.Median, f.Last), row.Bytes, 100*f.Again)
}

// between writes a figure, and between what it was in the runs, if there were any.
func between(d time.Duration, s bench.Spread) string {
	if s.Most == 0 {
		return ms(d)
	}
	return fmt.Sprintf("%s (%s–%s)", ms(d), ms(s.Least), ms(s.Most))
}

// messagesBehind lists the rows of peers that are ahead of ours of the same order with
// the default window, and says in what they are ahead of ours with the largest, too.
func messagesBehind(r *bench.Result) string {
	var b strings.Builder
	b.WriteString("| loss | peer | its median / 95th / last, ms; bytes | ours, default window | ours, largest window | ahead of both in |\n|---|---|---|---|---|---|\n")
	for _, c := range bench.MessageCells() {
		for _, order := range orders {
			var ours []bench.Row
			for _, row := range messageRows(r, c.String(), order.ordered) {
				if isOurMessages(row.Peer) {
					ours = append(ours, row)
				}
			}
			for _, row := range messageRows(r, c.String(), order.ordered) {
				if row.Runs == 0 || isOurMessages(row.Peer) || len(ours) == 0 || len(ahead(row, ours[0])) == 0 {
					continue
				}
				largest := ours[len(ours)-1]
				fmt.Fprintf(&b, "| %d %% | %s | %s | %s | %s | %s |\n", c.Loss, row.Peer, messageFigures(row),
					messageFigures(ours[0]), messageFigures(largest), strings.Join(ahead(row, largest), ", "))
			}
		}
	}
	return b.String()
}

// ahead says in what a row is below ours, by 1 ms at least.
func ahead(row, ours bench.Row) (in []string) {
	for _, f := range []struct {
		name      string
		its, ours time.Duration
	}{
		{"median", row.Median, ours.Median},
		{"95th", row.P95, ours.P95},
		{"last", row.Messages.Last.Median, ours.Messages.Last.Median},
	} {
		if f.ours-f.its >= time.Millisecond {
			in = append(in, f.name)
		}
	}
	return in
}

func messageFigures(row bench.Row) string {
	return fmt.Sprintf("%s / %s / %s; %.2f", ms(row.Median), ms(row.P95), ms(row.Messages.Last.Median), row.Bytes)
}

func isOurMessages(peer string) bool {
	return slices.ContainsFunc(bench.OurMessages(), func(p bench.MessagePeer) bool { return p.Name == peer })
}

// messagePlots draws how many messages are delivered within what time.
func messagePlots(r *bench.Result) error {
	for _, c := range bench.MessageCells() {
		for _, order := range orders {
			rows := messageRows(r, c.String(), order.ordered)
			if c.Loss == 0 || len(rows) == 0 {
				continue
			}
			title := fmt.Sprintf("%d %% loss, %s: messages delivered within a time", c.Loss, order.name)
			if err := delays(rows, title, messagePlot(c, order.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func messagePlot(c bench.Cell, order string) string {
	return fmt.Sprintf("messages-%d-%s.svg", c.Loss, order)
}

// delays draws the percentiles of each row.
func delays(rows []bench.Row, title, file string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "ms", "% of messages"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.TextStyle.Font.Size = 8
	for i, row := range rows {
		var points plotter.XYs
		for percent, d := range row.Messages.Delays {
			points = append(points, plotter.XY{X: float64(d) / float64(time.Millisecond), Y: float64(percent + 1)})
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Dashes, line.Width = plotutil.Color(i), plotutil.Dashes(i/7), vg.Points(1)
		switch {
		case row.Runs == 0: // the ideal
			line.Color = color.Black
		case isOurMessages(row.Peer):
			line.Width = vg.Points(2.5)
		}
		p.Add(line)
		p.Legend.Add(row.Peer, line)
	}
	p.Add(plotter.NewGrid())
	return p.Save(width, height, filepath.Join(folder, file))
}

var messagePage = template.Must(template.ParseFS(templates, "messages.md.tmpl"))
