// Command live lets package packet talk to an endpoint that behaves as the library
// reliable 1.4.0 does, over UDP on this machine, through a relay that loses datagrams. It
// prints figures, and fails if an ack, a payload or a count is not as it must be.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"time"
)

const loopback = "127.0.0.1:0"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command returns the exit code: 0 all is well, 1 it is not, 2 bad usage.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cfg := config{listen: func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) }}
	f := flag.NewFlagSet("live", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&cfg.packets, "packets", 10_000, "how many `packets` each end sends")
	f.Float64Var(&cfg.path.Loss, "loss", 5, "`percent` of the datagrams lost each way")
	f.Float64Var(&cfg.path.Duplicate, "duplicate", 0, "`percent` of the datagrams doubled each way")
	f.Float64Var(&cfg.path.Reorder, "reorder", 0, "`percent` of the datagrams held back by 5 ms each way")
	f.Uint64Var(&cfg.seed, "seed", 1, "of the relay's chance and of the payloads")
	f.IntVar(&cfg.perSecond, "per-second", 1000, "how many `packets` a second each end sends")
	if err := f.Parse(args); err != nil {
		return 2
	}
	cfg.path.Delay, cfg.path.ReorderDelay = 5*time.Millisecond, 5*time.Millisecond
	if err := cfg.check(f.Args()); err != nil {
		fmt.Fprintln(stderr, "live:", err)
		return 2
	}
	result, err := run(ctx, cfg)
	if err == nil {
		fmt.Fprint(stdout, result)
		err = result.verdict(cfg)
	}
	if err != nil {
		fmt.Fprintln(stderr, "live:", err)
		return 1
	}
	fmt.Fprintln(stdout, "ok: payloads equal, none delivered twice, every ack is of a packet that arrived")
	return 0
}
