package metrics

import (
	"bytes"
	"expvar"
	"fmt"
	"io"
	"net/http"

	"github.com/chunkwire/chunkwire/transport"
)

// Source has statistics: a [transport.Server].
type Source interface {
	Stats() transport.ServerStats
}

// ContentType is the type of WriteText.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// WriteText writes all metrics in Prometheus' text format.
func WriteText(w io.Writer, st *transport.ServerStats) error {
	var b bytes.Buffer
	for i := range Table {
		m := &Table[i]
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", m.Name, m.Help, m.Name, m.Kind)
		for _, s := range m.Samples(st) {
			m.write(&b, s)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// write writes the lines of a sample. What is in labels needs no escapes.
func (m *Metric) write(b *bytes.Buffer, s Sample) {
	switch {
	case s.Histogram != nil:
		m.writeHistogram(b, s.Histogram)
	case m.Label == "":
		fmt.Fprintf(b, "%s %s\n", m.Name, format(s.Value))
	default:
		fmt.Fprintf(b, "%s{%s=%q} %s\n", m.Name, m.Label, s.Label, format(s.Value))
	}
}

func (m *Metric) writeHistogram(b *bytes.Buffer, h *transport.Histogram) {
	n := int64(0)
	for i, bound := range Bounds {
		n += h.Counts[i]
		fmt.Fprintf(b, "%s_bucket{le=%q} %d\n", m.Name, format(bound), n)
	}
	n = h.Count()
	fmt.Fprintf(b, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %s\n%s_count %d\n", m.Name, n, m.Name, format(Sum(h)), m.Name, n)
}

// Values returns all metrics as an object for JSON: a number each; with a label, numbers by its values; of a
// histogram, count, sum and buckets by their upper ends.
func Values(st *transport.ServerStats) map[string]any {
	all := make(map[string]any, len(Table))
	for i := range Table {
		m := &Table[i]
		samples := m.Samples(st)
		switch {
		case m.Kind == Histogram:
			all[m.Name] = histogramValues(samples[0].Histogram)
		case m.Label == "":
			all[m.Name] = samples[0].Value
		default:
			labeled := make(map[string]float64, len(samples))
			for _, s := range samples {
				labeled[s.Label] = s.Value
			}
			all[m.Name] = labeled
		}
	}
	return all
}

func histogramValues(h *transport.Histogram) map[string]any {
	buckets := make(map[string]int64, len(h.Counts))
	for i, bound := range Bounds {
		buckets[format(bound)] = h.Counts[i]
	}
	buckets["+Inf"] = h.Counts[len(Bounds)]
	return map[string]any{"count": h.Count(), "sum": Sum(h), "buckets": buckets}
}

// Var returns the metrics of a source as a variable of package expvar.
func Var(source Source) expvar.Func {
	return func() any {
		st := source.Stats()
		return Values(&st)
	}
}

// Publish makes the metrics of a source a variable of package expvar, which must not have the name yet.
func Publish(name string, source Source) { expvar.Publish(name, Var(source)) }

// Handler serves the metrics of a source in Prometheus' text format.
func Handler(source Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		st := source.Stats()
		w.Header().Set("Content-Type", ContentType)
		_ = WriteText(w, &st)
	})
}
