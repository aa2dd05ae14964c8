package main

import (
	"cmp"
	"time"

	"github.com/spf13/pflag"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// pathFlags are the network of the commands that have one. What is set before add is the default.
type pathFlags struct {
	rtt, jitter              time.Duration
	loss, duplicate, reorder float64 // percent
	rate, queue              int64
}

func (p *pathFlags) add(f *pflag.FlagSet) {
	f.DurationVar(&p.rtt, "rtt", cmp.Or(p.rtt, 50*time.Millisecond), "round-trip time, half of it each way")
	f.DurationVar(&p.jitter, "jitter", 0, "extra delay each way, random up to this, without reordering")
	f.Var(percent{&p.loss}, "loss", "datagrams lost each way")
	f.Var(percent{&p.duplicate}, "duplicate", "datagrams duplicated each way")
	f.Var(percent{&p.reorder}, "reorder", "datagrams held back by 10 ms each way")
	f.Var(bitRate(&p.rate, 0), "rate", "rate of the link each way, in bits a second; 0 is unlimited")
	f.Var(byteSize(&p.queue, 0, 1<<30), "queue", "with --rate, bytes that wait before the link; 0 is unlimited")
}

// simulated returns what is simulated.
func (p *pathFlags) simulated() simulate.Path {
	return simulate.Path{RTT: p.rtt, Jitter: p.jitter, Loss: p.loss, Duplicate: p.duplicate, Reorder: p.reorder, Rate: p.rate, Queue: p.queue}
}

func (p *pathFlags) check() error       { return p.simulated().Check() }
func (p *pathFlags) path() netsim.Path  { return p.simulated().OneWay() }
func (p *pathFlags) report() pathReport { return p.simulated().Report() }

// pathReport is what --json prints of the network.
type pathReport = simulate.PathReport
