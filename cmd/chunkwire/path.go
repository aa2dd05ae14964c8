package main

import (
	"errors"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/spf13/pflag"
)

// pathFlags are the network that demo and simulate share.
type pathFlags struct {
	rtt, jitter                 time.Duration
	lossPPM, dupPPM, reorderPPM int
	rate, queue                 int64
}

const maxDelay = 24 * time.Hour

func (p *pathFlags) add(f *pflag.FlagSet) {
	f.DurationVar(&p.rtt, "rtt", 50*time.Millisecond, "round-trip time, half of it each way")
	f.Var(percent{&p.lossPPM}, "loss", "datagrams lost each way")
	f.Var(percent{&p.dupPPM}, "duplicate", "datagrams doubled each way")
	f.Var(percent{&p.reorderPPM}, "reorder", "datagrams held back by 10 ms each way")
	f.Var(bitRate(&p.rate, 0), "rate", "rate of the link each way, in bits a second; 0 is unlimited")
	f.Var(byteSize(&p.queue, 0, 1<<30), "queue", "with --rate, bytes that wait before the link; 0 is unlimited")
}

func (p *pathFlags) check() error {
	switch {
	case p.rtt < 0 || p.rtt > maxDelay:
		return errors.New("--rtt must be 0 to 24h")
	case p.jitter < 0 || p.jitter > maxDelay:
		return errors.New("--jitter must be 0 to 24h")
	case p.queue > 0 && p.rate == 0:
		return errors.New("--queue needs --rate: an unlimited link has no queue")
	}
	return p.path().Validate()
}

func (p *pathFlags) path() netsim.Path {
	return netsim.Path{
		Delay: p.rtt / 2, Jitter: p.jitter,
		LossPPM: p.lossPPM, DuplicatePPM: p.dupPPM,
		ReorderPPM: p.reorderPPM, ReorderDelay: 10 * time.Millisecond,
		Rate: p.rate, Queue: int(p.queue), Overhead: statemachine.HeaderBytes,
	}
}

// asPercent turns parts per million into percent.
func asPercent(ppm int) float64 { return float64(ppm) / 10_000 }
