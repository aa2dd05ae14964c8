package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/chunkwire/chunkwire/tools/bench"
)

// citizenReport writes CITIZEN-RESULTS.md, with the figures of earlier versions beside: each
// file is what --save kept of one.
func citizenReport(r *bench.Result, before []string) error {
	versions, err := versions("github.com/xtaci/kcp-go/v5", "github.com/quic-go/quic-go")
	if err != nil {
		return err
	}
	c := citizen{now: r}
	for _, file := range before {
		old, err := read(file)
		if err != nil {
			return err
		}
		c.old = append(c.old, old)
	}
	if err := c.sharePlots(); err != nil {
		return err
	}
	var b strings.Builder
	if err := citizenPage.Execute(&b, map[string]any{
		"Seeds": r.Seeds, "Commit": r.Commit, "Versions": versions, "Peers": bench.FamilyPeers(), "Old": c.old,
		"Missed": missed(r), "Families": c.families(), "Beside": c.beside(), "Flows": c.flows(),
	}); err != nil {
		return err
	}
	return os.WriteFile("CITIZEN-RESULTS.md", []byte(b.String()), 0o644)
}

// citizen makes Markdown of what is measured now, beside what earlier versions had.
type citizen struct {
	now *bench.Result
	old []*bench.Result
}

// formerly returns the row of an earlier version, if it has it.
func formerly(old *bench.Result, now bench.Row) (row bench.Row, ok bool) {
	for _, row := range old.Rows {
		if row.Experiment == now.Experiment && row.Cell == now.Cell && row.FamilyName() == now.FamilyName() && row.Peer == now.Peer {
			return row, true
		}
	}
	return bench.Row{}, false
}

func (c citizen) rows(experiment string) (rows []bench.Row) {
	for _, row := range c.now.Rows {
		if row.Experiment == experiment {
			rows = append(rows, row)
		}
	}
	return rows
}

// families makes a table of each.
func (c citizen) families() string {
	var b strings.Builder
	family, cell := "", ""
	for _, row := range c.rows(bench.Families) {
		f := row.Family
		if f.Family != family {
			family, cell = f.Family, ""
			fmt.Fprintf(&b, "\n### %s\n\n| | %s | bytes | dropped | queue, ms |", family, figureName(f.Counts))
			for _, old := range c.old {
				fmt.Fprintf(&b, " at %s | bytes |", old.Commit)
			}
			b.WriteString("\n|---|---:|---:|---:|---:|" + strings.Repeat("---:|---:|", len(c.old)) + "\n")
		}
		if row.Cell != cell {
			cell = row.Cell
			fmt.Fprintf(&b, "| *%s*%s | | | | |%s\n", cell, leastText(f), strings.Repeat(" | |", len(c.old)))
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.1f %% | %d |", row.Peer, familyText(row), row.Bytes, 100*f.Dropped, f.Mean.Milliseconds())
		for _, old := range c.old {
			if row, ok := formerly(old, row); ok {
				fmt.Fprintf(&b, " %s | %.2f |", familyText(row), row.Bytes)
			} else {
				b.WriteString(" | |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func figureName(f bench.Figure) string {
	return map[bench.Figure]string{
		bench.Each: "each block, ms", bench.Last: "the last block, ms", bench.All: "all, ms", bench.Sum: "the sum of the blocks, ms", bench.Rates: "Mbit/s, Jain",
	}[f]
}

func leastText(f *bench.FamilyFigures) string {
	if f.Least == 0 || f.Counts == bench.Rates {
		return ""
	}
	return ", at least " + ms(f.Least)
}

func familyText(row bench.Row) string {
	f := row.Family
	text := ms(row.Median) + " / " + ms(row.P95)
	if f.Counts == bench.Rates {
		text = fmt.Sprintf("%.2f, %.2f", f.Mbits, f.Jain)
	}
	if row.Failed == row.Runs {
		return "gave up"
	}
	if len(f.Sequence) > 0 {
		var all []string
		for _, took := range f.Sequence {
			all = append(all, ms(took))
		}
		text += " (" + strings.Join(all, ", ") + ")"
	}
	if row.Failed > 0 {
		text += fmt.Sprintf(", %d of %d gave up", row.Failed, row.Runs)
	}
	return text
}

// beside makes a table of each path.
func (c citizen) beside() string {
	var b strings.Builder
	cell := ""
	for _, row := range c.rows(bench.Beside) {
		if row.Cell != cell {
			cell = row.Cell
			fmt.Fprintf(&b, "\n### %s\n\n| first, then second | Mbit/s | ratio | worst | dropped | queue, ms | a chunk, ms |", cell)
			for _, old := range c.old {
				fmt.Fprintf(&b, " at %s | dropped |", old.Commit)
			}
			b.WriteString("\n|---|---:|---:|---:|---:|---:|---:|" + strings.Repeat("---:|---:|", len(c.old)) + "\n")
		}
		f := row.Beside
		chunk := ""
		if f.Block > 0 {
			chunk = ms(row.Median) + " / " + ms(row.P95)
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f | %.1f %% | %d | %s |", row.Peer, couple(f), f.Ratio, f.Worst, 100*f.Dropped, f.Wait.Milliseconds(), chunk)
		for _, old := range c.old {
			if row, ok := formerly(old, row); ok {
				fmt.Fprintf(&b, " %s | %.1f %% |", couple(row.Beside), 100*row.Beside.Dropped)
			} else {
				b.WriteString(" | |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func couple(f *bench.BesideFigures) string { return fmt.Sprintf("%.2f : %.2f", f.First, f.Second) }

// The targets: what a sender is to keep to that does no harm.
const (
	mostBytes   = 1.15 // times the size, and what is lost at random
	mostPoliced = 1.5  // times the size, behind a policer
	mostTime    = 1.15 // times the best peer's
	leastShare  = 1. / 3
	leastJain   = 0.9
)

// missed lists where ours misses a target, the worst first.
func missed(r *bench.Result) string {
	type line struct {
		by   float64
		text string
	}
	var lines []line
	add := func(row bench.Row, what string, figure, limit float64) {
		if figure > limit {
			where := cmp.Or(row.FamilyName(), row.Experiment) + ": " + row.Cell
			lines = append(lines, line{figure / limit, fmt.Sprintf("| %.2f | %s | %s | %s | %.2f | %.2f |", figure/limit, where, row.Peer, what, figure, limit)})
		}
	}
	for _, row := range r.Rows {
		switch {
		case row.Family != nil && isOurs(row.Peer):
			missedFamily(r, row, add)
		case row.Beside != nil && row.Beside.Block == 0 && (strings.Contains(row.Peer, "repair") || strings.Contains(row.Peer, "named")):
			add(row, "greater over lesser share, the worst run", 1/max(row.Beside.Worst, 0.001), 1/leastShare)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.by, a.by) })
	var b strings.Builder
	b.WriteString("| by | where | protocol | what | figure | target |\n|---:|---|---|---|---:|---:|\n")
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// missedFamily compares a row of ours with what others have in the same situation.
func missedFamily(r *bench.Result, row bench.Row, add func(row bench.Row, what string, figure, limit float64)) {
	f := row.Family
	bytes := mostBytes / (1 - f.Loss)
	if f.Policed {
		bytes = mostPoliced
	}
	add(row, "gave up", float64(row.Failed), 0.01)
	add(row, "bytes over the size", row.Bytes, bytes)
	var time, rate float64 // the best peer's
	for _, other := range r.Rows {
		if other.Family == nil || other.Cell != row.Cell || other.Family.Family != f.Family || isOurs(other.Peer) || other.Failed > 0 {
			continue
		}
		if other.Median > 0 && (time == 0 || other.Median.Seconds() < time) {
			time = other.Median.Seconds()
		}
		rate = max(rate, other.Family.Mbits)
	}
	if f.Counts == bench.Rates {
		add(row, "1 - Jain", 1-f.Jain, 1-leastJain)
		add(row, "Mbit/s of the best peer over ours", rate/f.Mbits, mostTime)
	} else if time > 0 {
		add(row, "time over the best peer's", row.Median.Seconds()/time, mostTime)
	}
}

// sharePlots draws what each flow has of a path, and the queue, over time, of each version.
func (c citizen) sharePlots() error {
	for _, result := range append(slices.Clone(c.old), c.now) {
		for _, s := range result.Shares {
			if err := sharePlot(s, result.Commit); err != nil {
				return err
			}
		}
	}
	return nil
}

func shareFile(s bench.Share, commit string) string {
	return "share-" + strings.NewReplacer(",", "", " ", "-", "/", "").Replace(s.Name+" "+strings.Join(s.Flows, " ")) + "-" + commit + ".svg"
}

func sharePlot(s bench.Share, commit string) error {
	rates, queue := plot.New(), plot.New()
	rates.Title.Text = fmt.Sprintf("%s, at %s: %s", s.Name, commit, strings.Join(s.Flows, ", then "))
	rates.Y.Label.Text, queue.Y.Label.Text, queue.X.Label.Text = "Mbit/s", "queue, ms", "s"
	rates.Legend.Top, rates.Legend.TextStyle.Font.Size = true, 8
	for i, flow := range s.Flows {
		if err := secondLine(rates, s, i, fmt.Sprintf("%d: %s", i+1, flow), func(p bench.SharePoint) float64 { return p.Mbits[i] }); err != nil {
			return err
		}
	}
	if err := secondLine(queue, s, 2, "", func(p bench.SharePoint) float64 { return p.Wait }); err != nil {
		return err
	}
	rates.Y.Max *= 1.2 // below the legend
	return saveAbove(rates, queue, filepath.Join(folder, shareFile(s, commit)))
}

func secondLine(p *plot.Plot, s bench.Share, color int, name string, value func(bench.SharePoint) float64) error {
	var points plotter.XYs
	for _, point := range s.Points {
		points = append(points, plotter.XY{X: float64(point.Second), Y: value(point)})
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = plotutil.Color(color), vg.Points(1.5)
	p.Add(line, plotter.NewGrid())
	p.Y.Min = 0
	if name != "" {
		p.Legend.Add(name, line)
	}
	return nil
}

// saveAbove draws one plot above another, as SVG.
func saveAbove(upper, lower *plot.Plot, file string) error {
	canvas := vgsvg.New(width, height)
	all := draw.New(canvas)
	upper.Draw(draw.Crop(all, 0, 0, height/3, 0))
	lower.Draw(draw.Crop(all, 0, 0, 0, -height*2/3))
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(f)
	return errors.Join(err, f.Close())
}

var citizenPage = template.Must(template.ParseFS(templates, "citizen.md.tmpl"))
