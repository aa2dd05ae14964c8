// Package metrics shows what a [transport.Server] did to monitoring systems: one table of metrics, as Prometheus'
// text format and as expvar. The module transport/metrics/prometheus has a collector on the same table, for programs that
// use Prometheus' client library.
//
// Labels are reasons, codes and directions, and never addresses or identities: how many series there are does not
// depend on who sends what.
package metrics

import (
	"maps"
	"slices"
	"strconv"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/transport"
)

// Kind is the kind of a metric, as Prometheus names it.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric is a row of the table.
type Metric struct {
	Name  string // with its unit, and _total of counters
	Help  string
	Kind  Kind
	Label string // the name of its one label; empty if it has none

	samples func(st *transport.ServerStats) []Sample
}

// Sample is a value of a metric.
type Sample struct {
	Label     string // the value of the metric's label
	Value     float64
	Histogram *transport.Histogram // of a Histogram, instead of Value
}

// Samples returns the values of a metric, in the order of their labels.
func (m *Metric) Samples(st *transport.ServerStats) []Sample { return m.samples(st) }

// Table has all metrics.
var Table = []Metric{
	{"chunkwire_connections", "Connections that there are now.", Gauge, "", number(func(st *transport.ServerStats) int { return st.Peers })},
	{"chunkwire_connections_accepted_total", "Connections that began.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Accepted })},
	{"chunkwire_connections_ended_total", "Connections that ended, by how they did.", Counter, "why", byKey(func(st *transport.ServerStats) map[transport.End]int64 { return st.Ended }, endName)},
	{"chunkwire_connections_moved_total", "Times that a connection went on from another address.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Moved })},
	{"chunkwire_handshakes_challenged_total", "Handshakes that were begun.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Challenges })},
	{"chunkwire_handshakes_half_open_total", "Handshakes that were proven, and of which no data came.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.HalfOpen })},
	{"chunkwire_handshakes_refused_total", "Handshakes that were answered by a refusal, by its reason.", Counter, "reason", byKey(func(st *transport.ServerStats) map[session.Reason]int64 { return st.Refused }, session.Reason.String)},
	{"chunkwire_handshakes_unanswered_total", "Handshakes that were not answered, by why.", Counter, "why", two(
		"bad_source", func(st *transport.ServerStats) int64 { return st.BadSources },
		"busy", func(st *transport.ServerStats) int64 { return st.AnswersDropped })},
	{"chunkwire_datagrams_total", "Datagrams that were read, and given to the socket.", Counter, "direction", inOut(
		func(st *transport.ServerStats) int64 { return st.DatagramsIn },
		func(st *transport.ServerStats) int64 { return st.DatagramsOut })},
	{"chunkwire_datagram_bytes_total", "Bytes of their UDP payload.", Counter, "direction", inOut(
		func(st *transport.ServerStats) int64 { return st.BytesIn },
		func(st *transport.ServerStats) int64 { return st.BytesOut })},
	{"chunkwire_datagrams_refused_total", "Datagrams that were dropped without an answer, by the code of the refusal; ended_link is of ordinary goodbyes.", Counter, "code", byKey(func(st *transport.ServerStats) map[core.Code]int64 { return st.Undecodable }, codeName)},
	{"chunkwire_socket_errors_total", "Reads and writes that the system failed.", Counter, "operation", two(
		"read", func(st *transport.ServerStats) int64 { return st.ReadErrors },
		"write", func(st *transport.ServerStats) int64 { return st.WriteErrors })},
	{"chunkwire_socket_buffer_bytes", "Sizes of the first socket's buffers as the system reports them; 0 if it does not.", Gauge, "buffer", two(
		"read", func(st *transport.ServerStats) int { return st.ReadBuffer },
		"write", func(st *transport.ServerStats) int { return st.WriteBuffer })},
	{"chunkwire_chunks_total", "Chunks that came whole, and that the other ends have whole.", Counter, "direction", inOut(
		func(st *transport.ServerStats) int64 { return st.Receiver.Chunks },
		func(st *transport.ServerStats) int64 { return st.Sender.Chunks })},
	{"chunkwire_chunk_bytes_total", "Their bytes.", Counter, "direction", inOut(
		func(st *transport.ServerStats) int64 { return st.Receiver.ChunkBytes },
		func(st *transport.ServerStats) int64 { return st.Sender.ChunkBytes })},
	{"chunkwire_slices_total", "Slices of chunks that came, and that were sent, again or for repair too.", Counter, "direction", inOut(
		func(st *transport.ServerStats) int64 { return st.Receiver.SlicesReceived },
		func(st *transport.ServerStats) int64 { return st.Sender.SlicesSent })},
	{"chunkwire_slices_needless_total", "Slices that came and added nothing, by why.", Counter, "why", two(
		"dependent", func(st *transport.ServerStats) int64 { return st.Receiver.Dependent },
		"duplicate", func(st *transport.ServerStats) int64 { return st.Receiver.Duplicates })},
	{"chunkwire_slices_resent_total", "Slices that were sent again.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Sender.SlicesResent })},
	{"chunkwire_slices_repair_total", "Repair slices that were sent.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Sender.SlicesRepair })},
	{"chunkwire_slices_lost_total", "Slices that were found lost because later ones arrived.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Sender.Schedule.Lost })},
	{"chunkwire_slices_spurious_total", "Resends that turned out not to have been needed.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Sender.Schedule.Spurious })},
	{"chunkwire_slice_timeouts_total", "Times that the timer of a sender of chunks ran out.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.Sender.Schedule.Timeouts })},
	{"chunkwire_acks_total", "Acks of chunks that came, and that were sent.", Counter, "direction", inOut(
		func(st *transport.ServerStats) int64 { return st.Sender.AcksReceived },
		func(st *transport.ServerStats) int64 { return st.Receiver.AcksSent })},
	{"chunkwire_packets_total", "Packets of messages that came, and that were sent.", Counter, "direction", inOut(
		func(st *transport.ServerStats) int64 { return st.PacketsReceived },
		func(st *transport.ServerStats) int64 { return st.PacketsSent })},
	{"chunkwire_packets_acked_total", "Packets that were sent and acked.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.PacketsAcked })},
	{"chunkwire_packets_lost_total", "Packets that were sent and lost.", Counter, "", number(func(st *transport.ServerStats) int64 { return st.PacketsLost })},
	{"chunkwire_round_trip_seconds", "Round trips: the latest of each connection, ten times a second while it hears something.", Histogram, "", histogram(func(st *transport.ServerStats) *transport.Histogram { return &st.RoundTrip })},
	{"chunkwire_chunk_in_seconds", "Times of chunks that came, from the first slice to the last new one.", Histogram, "", histogram(func(st *transport.ServerStats) *transport.Histogram { return &st.ChunkIn })},
	{"chunkwire_chunk_out_seconds", "Times of chunks that were sent, from Send to the last ack.", Histogram, "", histogram(func(st *transport.ServerStats) *transport.Histogram { return &st.ChunkOut })},
}

// get returns a number of the statistics.
type get[N int | int64] func(*transport.ServerStats) N

func number[N int | int64](value get[N]) func(*transport.ServerStats) []Sample {
	return func(st *transport.ServerStats) []Sample { return []Sample{{Value: float64(value(st))}} }
}

// two are samples of two labels.
func two[N int | int64](one string, first get[N], other string, second get[N]) func(*transport.ServerStats) []Sample {
	return func(st *transport.ServerStats) []Sample {
		return []Sample{{Label: one, Value: float64(first(st))}, {Label: other, Value: float64(second(st))}}
	}
}

func inOut(in, out get[int64]) func(*transport.ServerStats) []Sample {
	return two("in", in, "out", out)
}

// byKey are samples of all keys that there are.
func byKey[K comparable](values func(*transport.ServerStats) map[K]int64, name func(K) string) func(*transport.ServerStats) []Sample {
	return func(st *transport.ServerStats) []Sample {
		named := map[string]int64{}
		for key, n := range values(st) {
			named[name(key)] += n
		}
		var all []Sample
		for _, label := range slices.Sorted(maps.Keys(named)) {
			all = append(all, Sample{Label: label, Value: float64(named[label])})
		}
		return all
	}
}

func histogram(of func(*transport.ServerStats) *transport.Histogram) func(*transport.ServerStats) []Sample {
	return func(st *transport.ServerStats) []Sample { return []Sample{{Histogram: of(st)}} }
}

func endName(end transport.End) string { return string(end) }

func codeName(code core.Code) string {
	if code == "" {
		return "other"
	}
	return string(code)
}

// Bounds are the upper ends of the buckets of all histograms, in seconds.
var Bounds = func() (all []float64) {
	for _, bound := range transport.HistogramBounds {
		all = append(all, seconds(bound))
	}
	return all
}()

func seconds(t core.Micros) float64 { return float64(t) / 1e6 }

// Sum returns the sum of a histogram's times, in seconds.
func Sum(h *transport.Histogram) float64 { return seconds(h.Sum) }

func format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
