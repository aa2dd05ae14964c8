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
	"strings"

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
		Example: `  chunkwire demo
  chunkwire recv --listen :9000 --out world.bin
  chunkwire send --to 192.0.2.7:9000 world.bin
  chunkwire keygen --out alice.key
  chunkwire relay --listen :9001 --to 192.0.2.7:9000 --loss 5 --rtt 80ms
  chunkwire simulate --rtt 50ms --loss 5 --rate 10M --queue 256K
  chunkwire inspect --file world.pcap
  chunkwire view transfer.log -o transfer.html`,
		Version: version(),

		SuggestionsMinimumDistance: 2,

		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError(cmd, err) })
	root.AddCommand(
		newDemo(),
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
	root.SetHelpCommand(newHelp())
	for _, cmd := range append(root.Commands(), root) {
		cmd.Args = usageArgs(cmd.Args)
	}
	return root
}

// noCommand refuses the name of a command that does not exist.
func noCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("there is no command %q", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return err
}

// newHelp returns the command help, which refuses what is no command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, c := range cmd.Root().Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError(cmd.Root(), noCommand(cmd.Root(), args))
			}
			return found.Help()
		},
	}
}
