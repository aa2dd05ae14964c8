// Package prometheus makes the metrics of package metrics a collector of Prometheus' client library, for programs
// that register theirs there.
package prometheus

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/metrics"
)

// Collector collects the metrics of a source.
type Collector struct {
	source       metrics.Source
	descriptions []*prometheus.Desc // of metrics.Table
}

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector returns a collector of a source: a transport.Server. Constant labels distinguish several of them.
func NewCollector(source metrics.Source, constLabels prometheus.Labels) *Collector {
	c := &Collector{source: source}
	for _, m := range metrics.Table {
		var labels []string
		if m.Label != "" {
			labels = []string{m.Label}
		}
		c.descriptions = append(c.descriptions, prometheus.NewDesc(m.Name, m.Help, labels, constLabels))
	}
	return c
}

// Describe sends the descriptions of all metrics.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		ch <- d
	}
}

// Collect sends the values of all metrics, of one moment.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	st := c.source.Stats()
	for i := range metrics.Table {
		m := &metrics.Table[i]
		for _, s := range m.Samples(&st) {
			ch <- collect(c.descriptions[i], m, s)
		}
	}
}

// collect returns a sample.
func collect(d *prometheus.Desc, m *metrics.Metric, s metrics.Sample) prometheus.Metric {
	var labels []string
	if m.Label != "" {
		labels = []string{s.Label}
	}
	switch m.Kind {
	case metrics.Histogram:
		return prometheus.MustNewConstHistogram(d, uint64(s.Histogram.Count()), metrics.Sum(s.Histogram), cumulative(s.Histogram), labels...)
	case metrics.Gauge:
		return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, s.Value, labels...)
	}
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, s.Value, labels...)
}

// cumulative returns how many times are at most as long as each bound.
func cumulative(h *transport.Histogram) map[float64]uint64 {
	buckets, n := make(map[float64]uint64, len(metrics.Bounds)), uint64(0)
	for i, bound := range metrics.Bounds {
		n += uint64(h.Counts[i])
		buckets[bound] = n
	}
	return buckets
}
