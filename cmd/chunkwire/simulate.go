package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/spf13/cobra"
)

// simulation is what the flags of simulate say.
type simulation struct {
	size, rate, queue int64
	rtt, jitter       time.Duration
	lossPPM           int
	dupPPM            int
	reorderPPM        int
	profile           string
	sendRate          int64
	seeds             int
	firstSeed         uint64
	limit             time.Duration
	json              bool
}

func newSimulate() *cobra.Command {
	sim := simulation{}
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Transfer one block many times in virtual time, and tell how long it takes",
		Long: `simulate transfers one block from a sender to a receiver over a simulated network,
once for each seed, in virtual time: exact, repeatable, and much faster than the
real thing. Loss is random, independent, in each direction, behind the bottleneck;
every datagram costs 28 bytes more on the link, for IP and UDP.
` + exitHelp,
		Example: `  chunkwire simulate --rate 100M --rtt 50ms
  chunkwire simulate --rate 1M --queue 64K --loss 5 --profile fixed
  chunkwire simulate --loss 20 --seeds 1000 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			profile, err := sim.resolve()
			if err != nil {
				return usageError(cmd, err)
			}
			return sim.run(cmd.OutOrStdout(), profile)
		},
	}
	f := cmd.Flags()
	f.Var(byteSize(&sim.size, codec.MaxChunkSize, codec.MaxChunkSize), "size", "size of the block")
	f.DurationVar(&sim.rtt, "rtt", 50*time.Millisecond, "round-trip time, half of it each way")
	f.DurationVar(&sim.jitter, "jitter", 0, "extra delay each way, random up to this, without reordering")
	f.Var(percent{&sim.lossPPM}, "loss", "datagrams lost each way")
	f.Var(percent{&sim.dupPPM}, "duplicate", "datagrams doubled each way")
	f.Var(percent{&sim.reorderPPM}, "reorder", "datagrams held back by 10 ms each way")
	f.Var(bitRate(&sim.rate, 0), "rate", "rate of the link each way, in bits a second; 0 is unlimited")
	f.Var(byteSize(&sim.queue, 0, 1<<30), "queue", "bytes that wait before the link; 0 is unlimited")
	f.StringVar(&sim.profile, "profile", profileNames[0], profileUsage)
	f.Var(bitRate(&sim.sendRate, -1), "send-rate", "the profile's rate, in bits a second; for fixed and article the link's if not given")
	f.IntVar(&sim.seeds, "seeds", 100, "number of transfers")
	f.Uint64Var(&sim.firstSeed, "seed", 1, "seed of the first transfer")
	f.DurationVar(&sim.limit, "limit", 10*time.Minute, "virtual time that a transfer may take")
	f.BoolVar(&sim.json, "json", false, "print one JSON object")
	f.Lookup("send-rate").DefValue = "profile's"
	return cmd
}

// resolve checks the flags and returns the profile.
func (sim *simulation) resolve() (statemachine.Profile, error) {
	if sim.size < 1 {
		return statemachine.Profile{}, fmt.Errorf("--size must be 1 to %d", codec.MaxChunkSize)
	}
	if sim.seeds < 1 || sim.limit <= 0 {
		return statemachine.Profile{}, fmt.Errorf("--seeds and --limit must be above 0")
	}
	if err := sim.path().Validate(); err != nil {
		return statemachine.Profile{}, err
	}
	if sim.sendRate < 0 && sim.profile != "burst" {
		sim.sendRate = sim.rate
	}
	return profileOf(sim.profile, sim.sendRate)
}

func (sim *simulation) path() netsim.Path {
	return netsim.Path{
		Delay: sim.rtt / 2, Jitter: sim.jitter,
		LossPPM: sim.lossPPM, DuplicatePPM: sim.dupPPM,
		ReorderPPM: sim.reorderPPM, ReorderDelay: 10 * time.Millisecond,
		Rate: sim.rate, Queue: int(sim.queue), Overhead: statemachine.HeaderBytes,
	}
}

func (sim *simulation) run(w io.Writer, p statemachine.Profile) error {
	report := sim.report(sim.transfers(p))
	if sim.json {
		return json.NewEncoder(w).Encode(report)
	}
	return report.print(w)
}

// transfers runs all seeds, as many at once as there are processors. A failed
// one is nil.
func (sim *simulation) transfers(p statemachine.Profile) []*netsim.Transfer {
	results := make([]*netsim.Transfer, sim.seeds)
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				if t, err := sim.transfer(p, sim.firstSeed+uint64(i)); err == nil {
					results[i] = &t
				}
			}
		})
	}
	for i := range results {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

func (sim *simulation) transfer(p statemachine.Profile, seed uint64) (netsim.Transfer, error) {
	limit := statemachine.FromDuration(sim.limit)
	c := netsim.Conversation{
		Sender: statemachine.NewSender(statemachine.SenderConfig{
			Scheduler: statemachine.NewBase(p), GiveUp: limit,
		}),
		Receiver: statemachine.NewReceiver(statemachine.ReceiverConfig{GiveUp: limit}),
		Down:     netsim.NewLink(sim.path(), 2*seed),
		Up:       netsim.NewLink(sim.path(), 2*seed+1),
	}
	return c.Transfer(pattern(int(sim.size), seed), limit)
}

// simulationReport is what --json prints.
type simulationReport struct {
	Size           int64    `json:"size"`
	RTTms          float64  `json:"rtt_ms"`
	LossPercent    float64  `json:"loss_percent"`
	RateBits       int64    `json:"rate_bits"`
	QueueBytes     int64    `json:"queue_bytes"`
	Profile        string   `json:"profile"`
	Seeds          int      `json:"seeds"`
	Failed         int      `json:"failed"`
	DeliverMS      quantile `json:"deliver_ms"`
	AckedMS        quantile `json:"acked_ms"`
	BytesDownRatio float64  `json:"bytes_down_ratio"`
	BytesUpRatio   float64  `json:"bytes_up_ratio"`
	SlicesSent     float64  `json:"slices_sent"`
}

func (sim *simulation) report(transfers []*netsim.Transfer) simulationReport {
	r := simulationReport{
		Size: sim.size, RTTms: sim.rtt.Seconds() * 1000, LossPercent: float64(sim.lossPPM) / 10_000,
		RateBits: sim.rate, QueueBytes: sim.queue, Profile: sim.profile, Seeds: sim.seeds,
	}
	var deliver, acked, down, up, slices []float64
	for _, t := range transfers {
		if t == nil {
			r.Failed++
			continue
		}
		deliver = append(deliver, float64(t.Delivered)/1000)
		acked = append(acked, float64(t.Acked)/1000)
		down = append(down, float64(t.BytesDown)/float64(sim.size))
		up = append(up, float64(t.BytesUp)/float64(sim.size))
		slices = append(slices, float64(t.SlicesSent))
	}
	r.DeliverMS, r.AckedMS = quantiles(deliver), quantiles(acked)
	r.BytesDownRatio, r.BytesUpRatio = quantiles(down).Median, quantiles(up).Median
	r.SlicesSent = quantiles(slices).Median
	return r
}

func (r simulationReport) print(w io.Writer) error {
	rate, queue := "unlimited", "unlimited"
	if r.RateBits > 0 {
		rate = formatBits(float64(r.RateBits))
	}
	if r.QueueBytes > 0 {
		queue = formatBytes(float64(r.QueueBytes))
	}
	fmt.Fprintf(w, "%s over %s, RTT %g ms, queue %s, %g %% loss each way; profile %s, %d seeds\n\n",
		formatBytes(float64(r.Size)), rate, r.RTTms, queue, r.LossPercent, r.Profile, r.Seeds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tmedian\t95th\tmax\t")
	fmt.Fprintf(t, "delivered, ms\t%.1f\t%.1f\t%.1f\t\n", r.DeliverMS.Median, r.DeliverMS.P95, r.DeliverMS.Max)
	fmt.Fprintf(t, "acked, ms\t%.1f\t%.1f\t%.1f\t\n", r.AckedMS.Median, r.AckedMS.P95, r.AckedMS.Max)
	fmt.Fprintf(t, "slices sent\t%g\t\t\t\n", r.SlicesSent)
	fmt.Fprintf(t, "bytes down / size\t%.3f\t\t\t\n", r.BytesDownRatio)
	fmt.Fprintf(t, "bytes up / size\t%.3f\t\t\t\n", r.BytesUpRatio)
	fmt.Fprintf(t, "failed\t%d\t\t\t\n", r.Failed)
	return t.Flush()
}
