package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

// report prints the slice map, the table and the relay's losses at the end.
func (d *demo) report(out screen, slices *sliceMap, p pushed) {
	fmt.Fprintln(out.w)
	if d.repair {
		out.print(fmt.Sprintf("any %d independent slices make the block: nothing is sent again", slices.numSlices))
	} else {
		out.print("how often each slice was sent (· is once):")
		for _, row := range slices.times(out.mapWidth()) {
			fmt.Fprintf(out.w, "  %s\n", row)
		}
	}
	fmt.Fprintln(out.w)
	d.table(out, slices.totals(), p)
	if random, queue := p.down.LostRandom+p.up.LostRandom, p.down.LostQueue+p.up.LostQueue; random+queue > 0 {
		out.print(fmt.Sprintf("relay: lost %d of the server's datagrams, %d of the client's; queue dropped %d",
			p.down.LostRandom, p.up.LostRandom, queue))
	}
}

func (d *demo) equal(p pushed) bool {
	return bytes.Equal(p.got, simulate.Pattern(int(d.size), d.seed))
}

// table prints the figures of the run beside the figures of one packet in fragments, or
// above them where the screen is narrow.
func (d *demo) table(out screen, sums sliceSums, p pushed) {
	equal := "equal"
	if !d.equal(p) {
		equal = "DIFFERENT"
	}
	f := estimateFragmenting(int(d.size), d.loss, d.rtt, d.rate)
	size := float64(d.size)
	beyond := []string{"of them resent", fmt.Sprintf("%d (%d needlessly)", sums.Resent, sums.Spurious), ""}
	if d.repair {
		beyond = []string{"of them for repair", fmt.Sprint(sums.Repair), ""}
	}
	rows := [][]string{
		{"", "this run", "one packet in fragments, expected"},
		{"delivered after", formatSeconds(p.delivered.Seconds()), formatSeconds(f.Seconds)},
		{"known to the server after", formatSeconds(p.acked.Seconds()), ""},
		{"rate", formatRate(8 * size / p.delivered.Seconds()), formatRate(8 * size / f.Seconds)},
		{"attempts at the whole", "1", formatCount(f.Attempts)},
		{"datagrams sent", fmt.Sprint(sums.Sent), formatCount(f.Datagrams)},
		beyond,
		{"bytes sent / size", fmt.Sprintf("%.2f", float64(p.server.Sender.BytesSent)/size), formatCount(f.Bytes / size)},
		{"acks sent", fmt.Sprint(p.client.Receiver.AcksSent), ""},
		{"round trip measured", fmt.Sprint(p.server.Sender.Schedule.SmoothedRTT.Duration().Round(100 * time.Microsecond)), ""},
		{"bytes", equal, ""},
	}
	if out.table(rows) {
		return
	}
	var here, there [][]string
	for _, row := range rows[1:] {
		here = append(here, row[:2])
		if row[2] != "" {
			there = append(there, []string{row[0], row[2]})
		}
	}
	out.pairs(here)
	fmt.Fprintln(out.w)
	out.print(rows[0][2] + ":")
	out.pairs(there)
}

// demoReport is what --json prints.
type demoReport struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Size  int64  `json:"size"`
	pathReport
	Variant        string  `json:"variant"` // repair, or slices, which are sent again
	Profile        string  `json:"profile"`
	Seed           uint64  `json:"seed"`
	DeliverMS      float64 `json:"deliver_ms"`
	AckedMS        float64 `json:"acked_ms"`
	BytesSent      int64   `json:"bytes_sent"`
	SlicesSent     int     `json:"slices_sent"`
	SlicesResent   int     `json:"slices_resent"` // 0 with repair
	SlicesRepair   int     `json:"slices_repair"` // of those sent; 0 without repair
	SlicesSpurious int     `json:"slices_spurious"`
	AcksSent       int64   `json:"acks_sent"`
	MeasuredRTTms  float64 `json:"measured_rtt_ms"`
	LostDown       int64   `json:"lost_down"`
	LostUp         int64   `json:"lost_up"`
	QueueDropped   int64   `json:"queue_dropped"`

	// What one packet in fragments would take; null: it would never arrive.
	FragmentedMS        *float64 `json:"fragmented_ms"`
	FragmentedAttempts  *float64 `json:"fragmented_attempts"`
	FragmentedDatagrams *float64 `json:"fragmented_datagrams"`
}

func (d *demo) writeJSON(w io.Writer, sums sliceSums, p pushed, err error) error {
	f := estimateFragmenting(int(d.size), d.loss, d.rtt, d.rate)
	r := demoReport{
		OK: err == nil, Size: d.size, pathReport: d.pathFlags.report(), Variant: simulate.VariantName(d.repair), Profile: d.profile, Seed: d.seed,
		DeliverMS: milliseconds(p.delivered), AckedMS: milliseconds(p.acked),
		BytesSent: p.server.Sender.BytesSent, SlicesSent: sums.Sent, SlicesResent: sums.Resent, SlicesRepair: sums.Repair, SlicesSpurious: sums.Spurious,
		AcksSent: p.client.Receiver.AcksSent, MeasuredRTTms: milliseconds(p.server.Sender.Schedule.SmoothedRTT.Duration()),
		LostDown: p.down.LostRandom, LostUp: p.up.LostRandom, QueueDropped: p.down.LostQueue + p.up.LostQueue,
		FragmentedMS: finite(1000 * f.Seconds), FragmentedAttempts: finite(f.Attempts), FragmentedDatagrams: finite(f.Datagrams),
	}
	if err != nil {
		r.Error = sentence(err)
	}
	return json.NewEncoder(w).Encode(r)
}

// finite returns a number that JSON can hold, or nil.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}
