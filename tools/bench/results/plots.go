package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/chunkwire/chunkwire/tools/bench"
)

const (
	folder = "plots"
	width  = 7 * vg.Inch
	height = 4 * vg.Inch
)

// plots draws every figure of RESULTS.md.
func plots(r *bench.Result) error {
	for _, n := range bench.Networks {
		of := func(row bench.Row) bool {
			return row.Experiment == bench.Warm && strings.HasPrefix(row.Cell, n.Network+" ")
		}
		if err := lines(r, of, "time-"+n.Network, n.Network+": median time of 256 KiB", "loss each way, %", "ms", true, milliseconds); err != nil {
			return err
		}
		if err := lines(r, of, "bytes-"+n.Network, n.Network+": bytes both ways / size", "loss each way, %", "", false, ratio); err != nil {
			return err
		}
	}
	byRTT := func(row bench.Row) bool { return row.Experiment == bench.ByRTT }
	if err := lines(r, byRTT, "rtt", "100 Mbit/s, 1 % loss: median time of 256 KiB", "round trip, ms", "ms", true, milliseconds); err != nil {
		return err
	}
	for _, m := range r.Maps {
		if err := sliceMap(m); err != nil {
			return err
		}
	}
	return nil
}

func milliseconds(row bench.Row) float64 { return float64(row.Median) / float64(time.Millisecond) }
func ratio(row bench.Row) float64        { return row.Bytes }

// drawn are the protocols of a plot, by the names at their lines: the tables have the others.
var drawn = []struct{ peer, name string }{
	{"repair", "chunkwire"}, {"kcp turbo", "kcp turbo"}, {"quic-go", "quic-go"}, {"go-raknet", "RakNet"}, {"pion sctp", "SCTP"},
}

// lines draws a line for each of them, with its name at its end.
func lines(r *bench.Result, of func(bench.Row) bool, file, title, x, y string, log bool, value func(bench.Row) float64) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	if log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	most := 0.0
	for i, d := range drawn {
		var points plotter.XYs
		for _, row := range r.Rows {
			if of(row) && row.Peer == d.peer && row.Median > 0 {
				points = append(points, plotter.XY{X: row.X, Y: value(row)})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1)
		if i == 0 {
			line.Width = vg.Points(2.5)
		}
		marks.Color, marks.Shape = plotutil.Color(i), plotutil.Shape(i)
		end := points[len(points)-1]
		name, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{end}, Labels: []string{d.name}})
		if err != nil {
			return err
		}
		name.TextStyle[0].Color, name.Offset = line.Color, vg.Point{X: vg.Points(6), Y: -vg.Points(3)}
		p.Add(line, marks, name)
		most = max(most, end.X)
	}
	p.X.Max = 1.2 * most // room for the names
	p.Add(plotter.NewGrid())
	return p.Save(width, height, filepath.Join(folder, file+".svg"))
}

var kinds = []struct {
	name  string
	color color.Color
}{
	{"acked", color.Gray{190}},
	{"sent", color.RGBA{B: 200, A: 255}},
	{"resent", color.RGBA{R: 220, A: 255}},
	{"repair", color.RGBA{R: 220, A: 255}},
	{"counted", color.Gray{120}},
}

// sliceMap draws what happened to each slice over time.
func sliceMap(m bench.SliceMap) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, %s", m.Cell, m.Peer)
	p.X.Label.Text, p.Y.Label.Text = "ms", "slice"
	p.Legend.Top, p.Legend.Left = true, true
	for _, k := range kinds {
		var points plotter.XYs
		for _, e := range m.Events {
			if e.Kind == k.name {
				points = append(points, plotter.XY{X: float64(e.AtMicros) / 1000, Y: float64(e.Slice)})
			}
		}
		if len(points) == 0 {
			continue
		}
		marks, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		marks.GlyphStyle = draw.GlyphStyle{Color: k.color, Radius: vg.Points(1.5), Shape: draw.CircleGlyph{}}
		p.Add(marks)
		p.Legend.Add(k.name, marks)
	}
	return p.Save(width, height, filepath.Join(folder, mapFile(m)))
}

func mapFile(m bench.SliceMap) string {
	name := strings.NewReplacer(" %", "", " ", "-", "(", "", ")", "", ",", "").Replace(m.Cell + " " + m.Peer)
	return "slices-" + name + ".svg"
}
