package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// endNames are those of the two ends.
var endNames = [2]string{"client", "server"}

// packetSecond is what --json prints of an end each second.
type packetSecond struct {
	packetCounts          // of this second
	RTTms        *float64 `json:"rtt_ms"`
	JitterMS     *float64 `json:"jitter_ms"`
	LossPercent  *float64 `json:"loss_percent"` // of the last ten seconds
	SentBits     int64    `json:"sent_bits"`    // a second, of the last ten
	Mode         string   `json:"mode"`
}

func (c packetCounts) minus(b packetCounts) packetCounts {
	return packetCounts{c.Sent - b.Sent, c.Fragmented - b.Fragmented, c.Delivered - b.Delivered, c.Acked - b.Acked, c.Lost - b.Lost, c.Late - b.Late}
}

// latest returns what happened since the last call.
func (e *packetEnd) latest(now core.Micros) packetSecond {
	known := e.endpoint.Estimates(now)
	s := packetSecond{packetCounts: e.total.minus(e.shown), SentBits: known.SentRate, Mode: e.endpoint.Mode().String()}
	e.shown = e.total
	if known.Measured {
		rtt, jitter := milliseconds(known.SRTT.Duration()), milliseconds(known.Jitter.Duration())
		s.RTTms, s.JitterMS = &rtt, &jitter
	}
	if perMille, ok := known.LossPerMille(); ok {
		loss := float64(perMille) / 10
		s.LossPercent = &loss
	}
	return s
}

// packetLines shows lines for people: the same on a terminal and in a pipe.
type packetLines screen

const packetHeading = "   s  end     sent  acked  lost   round trip   jitter  mode"

func (l packetLines) second(n int, x *exchange) error {
	if n == 1 {
		if _, err := fmt.Fprintln(l.w, screen(l).cut(packetHeading)); err != nil {
			return err
		}
	}
	now, second := x.now(), fmt.Sprint(n)
	for i, e := range x.ends {
		s := e.latest(now)
		line := fmt.Sprintf("%4s  %s  %4d  %5d  %4d  %11s  %7s  %s", second, endNames[i], s.Sent, s.Acked, s.Lost,
			figure("%.1f ms", s.RTTms), figure("%.1f ms", s.JitterMS), s.Mode)
		if _, err := fmt.Fprintln(l.w, screen(l).cut(line)); err != nil {
			return err
		}
		second = ""
	}
	return nil
}

// summary prints the figures at the end, of an interrupted exchange too.
func (l packetLines) summary(x *exchange, _ *packets, err error) error {
	if errors.Is(err, errMismatch) {
		return nil
	}
	out, sending := screen(l), min(x.now(), x.stopAt)
	rows := [][]string{{"", "client", "server"}}
	row := func(name string, figure func(e *packetEnd) string) {
		rows = append(rows, []string{name, figure(x.ends[0]), figure(x.ends[1])})
	}
	count := func(name string, figure func(e *packetEnd) int64) {
		row(name, func(e *packetEnd) string { return fmt.Sprint(figure(e)) })
	}
	trip := func(name string, figure func(s packet.Samples) core.Micros) {
		row(name, func(e *packetEnd) string {
			if s := e.endpoint.Samples(); s.Count > 0 {
				return figure(s).Duration().Round(100 * time.Microsecond).String()
			}
			return "-"
		})
	}
	count("packets sent", func(e *packetEnd) int64 { return e.total.Sent })
	count("of them in fragments", func(e *packetEnd) int64 { return e.total.Fragmented })
	count("acked", func(e *packetEnd) int64 { return e.total.Acked })
	count("lost", func(e *packetEnd) int64 { return e.total.Lost })
	count("acked late, after they were lost", func(e *packetEnd) int64 { return e.total.Late })
	count("delivered from the other end", func(e *packetEnd) int64 { return e.total.Delivered })
	count("ack-only packets sent", func(e *packetEnd) int64 { return statsOf(e).AcksSent })
	count("datagrams sent", func(e *packetEnd) int64 { return statsOf(e).DatagramsSent })
	count("bytes sent", func(e *packetEnd) int64 { return statsOf(e).BytesSent })
	trip("round trip, smallest", func(s packet.Samples) core.Micros { return s.Min })
	trip("round trip, mean", func(s packet.Samples) core.Micros { return s.Avg })
	trip("round trip, largest", func(s packet.Samples) core.Micros { return s.Max })
	row("time in GOOD", func(e *packetEnd) string {
		return e.timeInGood(sending).Duration().Round(100 * time.Millisecond).String()
	})
	count("changes of mode", func(e *packetEnd) int64 { return int64(e.changes) })
	fmt.Fprintln(out.w)
	if !out.table(rows) {
		for i, name := range endNames {
			out.print(name + ":")
			for _, row := range rows[1:] {
				out.print("  " + row[0] + ": " + row[i+1])
			}
		}
	}
	up, down := x.relay.Stats()
	out.print(fmt.Sprintf("relay: lost %d of the client's datagrams, %d of the server's; queue dropped %d",
		up.LostRandom, down.LostRandom, up.LostQueue+down.LostQueue))
	out.print("payloads equal, none delivered twice; every ack is of a packet that arrived")
	return nil
}

func statsOf(e *packetEnd) packet.Stats { return e.endpoint.Stats() }

// packetJSON shows objects.
type packetJSON struct{ *json.Encoder }

func (j packetJSON) second(n int, x *exchange) error {
	now := x.now()
	return j.Encode(struct {
		Kind   string       `json:"kind"`
		Second int          `json:"second"`
		Client packetSecond `json:"client"`
		Server packetSecond `json:"server"`
	}{"second", n, x.ends[0].latest(now), x.ends[1].latest(now)})
}

// packetEndReport is what the summary says of an end.
type packetEndReport struct {
	packetCounts
	AcksSent      int64    `json:"acks_sent"`
	DatagramsSent int64    `json:"datagrams_sent"`
	BytesSent     int64    `json:"bytes_sent"`
	RTTMinMS      *float64 `json:"rtt_min_ms"` // of the last 512 packets that were acked
	RTTMeanMS     *float64 `json:"rtt_mean_ms"`
	RTTMaxMS      *float64 `json:"rtt_max_ms"`
	GoodMS        float64  `json:"good_ms"` // time in GOOD, while it sent
	ModeChanges   int      `json:"mode_changes"`
	Mode          string   `json:"mode"`
}

// packetsReport is the summary.
type packetsReport struct {
	Kind        string          `json:"kind"`
	OK          bool            `json:"ok"`
	Error       string          `json:"error,omitempty"`
	Seconds     float64         `json:"seconds"`
	RTTms       float64         `json:"rtt_ms"`
	LossPercent float64         `json:"loss_percent"`
	PerSecond   int             `json:"per_second"`
	Cadence     bool            `json:"cadence"`
	Profile     string          `json:"profile"`
	Seed        uint64          `json:"seed"`
	Client      packetEndReport `json:"client"`
	Server      packetEndReport `json:"server"`
	LostUp      int64           `json:"lost_up"`
	LostDown    int64           `json:"lost_down"`
	QueueDrop   int64           `json:"queue_dropped"`
}

func (e *packetEnd) report(sending core.Micros) packetEndReport {
	stats := statsOf(e)
	r := packetEndReport{
		packetCounts: e.total, AcksSent: stats.AcksSent, DatagramsSent: stats.DatagramsSent, BytesSent: stats.BytesSent,
		GoodMS: milliseconds(e.timeInGood(sending).Duration()), ModeChanges: e.changes, Mode: e.mode.String(),
	}
	if s := e.endpoint.Samples(); s.Count > 0 {
		for to, v := range map[**float64]core.Micros{&r.RTTMinMS: s.Min, &r.RTTMeanMS: s.Avg, &r.RTTMaxMS: s.Max} {
			ms := milliseconds(v.Duration())
			*to = &ms
		}
	}
	return r
}

func (j packetJSON) summary(x *exchange, p *packets, err error) error {
	now := x.now()
	sending := min(now, x.stopAt)
	up, down := x.relay.Stats()
	r := packetsReport{
		Kind: "summary", OK: err == nil, Seconds: now.Duration().Seconds(), RTTms: milliseconds(p.rtt), LossPercent: p.loss,
		PerSecond: p.perSecond, Cadence: p.cadence, Profile: p.profile, Seed: p.seed,
		Client: x.ends[0].report(sending), Server: x.ends[1].report(sending),
		LostUp: up.LostRandom, LostDown: down.LostRandom, QueueDrop: up.LostQueue + down.LostQueue,
	}
	if err != nil {
		r.Error = sentence(err)
	}
	return j.Encode(r)
}
