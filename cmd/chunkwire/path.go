package main

import (
	"cmp"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
)

// pathFlags are the network of the commands that have one. What is set before add is the default.
type pathFlags struct {
	rtt, jitter              time.Duration
	loss, duplicate, reorder float64 // percent
	rate, queue              int64
}

const maxDelay = 24 * time.Hour

func (p *pathFlags) add(f *pflag.FlagSet) {
	f.DurationVar(&p.rtt, "rtt", cmp.Or(p.rtt, 50*time.Millisecond), "round-trip time, half of it each way")
	f.DurationVar(&p.jitter, "jitter", 0, "extra delay each way, random up to this, without reordering")
	f.Var(percent{&p.loss}, "loss", "datagrams lost each way")
	f.Var(percent{&p.duplicate}, "duplicate", "datagrams doubled each way")
	f.Var(percent{&p.reorder}, "reorder", "datagrams held back by 10 ms each way")
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
		Loss: p.loss, Duplicate: p.duplicate,
		Reorder: p.reorder, ReorderDelay: 10 * time.Millisecond,
		Rate: p.rate, Queue: int(p.queue), Overhead: codec.HeaderBytes,
	}
}

// pathReport is what --json prints of the network.
type pathReport struct {
	RTTms            float64 `json:"rtt_ms"`
	JitterMS         float64 `json:"jitter_ms"`
	LossPercent      float64 `json:"loss_percent"`
	DuplicatePercent float64 `json:"duplicate_percent"`
	ReorderPercent   float64 `json:"reorder_percent"`
	RateBits         int64   `json:"rate_bits"`
	QueueBytes       int64   `json:"queue_bytes"`
}

func (p *pathFlags) report() pathReport {
	return pathReport{milliseconds(p.rtt), milliseconds(p.jitter), p.loss, p.duplicate, p.reorder, p.rate, p.queue}
}
