// Command chunkwire moves files between machines over connections or the plain
// chunk protocol, shows what they do through bad networks, on one machine or in
// virtual time, and gives the reference answers for people who port the protocols.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(finish(ctx, newRoot().ExecuteContext(ctx), os.Stderr))
}

// finish prints an error, and returns the exit code.
func finish(ctx context.Context, err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintln(stderr, "chunkwire: "+sentence(err))
	}
	return exitCode(ctx, err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "chunkwire",
		Short: "Move blocks of data over UDP, fast and reliably",
		Long: `chunkwire moves blocks of data over UDP. A block is sent as slices of 1 KiB and some
repair slices, which are sums of slices; almost any set of enough slices rebuilds it, so
loss costs no round trip. A connection also carries messages and packets, and is encrypted
if both ends have a key. --plain is the chunk protocol alone, which resends lost slices.`,
		Example: `  chunkwire play
  chunkwire demo
  chunkwire recv --listen :9000 --out world.bin
  chunkwire send --to 192.0.2.7:9000 world.bin
  chunkwire keygen --out alice.key
  chunkwire relay --listen :9001 --to 192.0.2.7:9000 --loss 5 --rtt 80ms
  chunkwire simulate --rtt 50ms --loss 5 --rate 10M --queue 256K
  chunkwire inspect --file world.pcap
  chunkwire view transfer.log -o transfer.html`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err) })
	root.AddCommand(
		newDemo(),
		newPlay(),
		newSend(),
		newRecv(),
		newRelay(),
		newInspect(),
		newKeygen(),
		newSimulate(),
		newView(),
		newPort(),
		newConformance(),
		newLive(),
		newVersion(),
	)
	for _, cmd := range append(root.Commands(), root) {
		cmd.Args = usageArgs(cmd.Args)
	}
	return root
}
