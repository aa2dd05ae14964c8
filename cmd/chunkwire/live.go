package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/testvectors/runner/live"
)

func newLive() *cobra.Command {
	var asJSON, repair, connection bool
	var with string
	var cfg live.Config
	cmd := &cobra.Command{
		Use:   "live [flags] -- COMMAND ARGS...",
		Short: "Let a port send and receive real chunks over UDP",
		Long: `live starts a port again and again, each time for one chunk that it sends to the
reference implementation or receives from it, over UDP on this machine: of 1, 1024, 1025
and 262144 bytes, first over a perfect path and then over one that loses, duplicates and
reorders datagrams. The bytes are compared. With --with another port is at the other end.
With --connection each chunk goes over a connection, and again as messages of its channel.
With --slow the port sends one chunk more, over 1 Mbit/s with a queue of 64 KiB, a round
trip of 100 ms and 1 % loss, and is allowed 1.3 times its bytes: the recommended scheduler
(spec/RECOVERY.md) needs 1.03 there, and the base algorithm 1.84.

The environment has the task of the port:

  CHUNKWIRE_MODE=send    read all of standard input, send it as chunk 0 to
                         CHUNKWIRE_ADDRESS, and exit with 0 once all of it is acked
  CHUNKWIRE_MODE=recv    bind a UDP socket to CHUNKWIRE_ADDRESS, receive chunk 0, write
                         it to standard output, continue to answer until no slice has
                         arrived for 3 s, and exit with 0
  CHUNKWIRE_ADDRESS      an IPv4 address and a port, such as 127.0.0.1:40000
  CHUNKWIRE_PROTOCOL_ID  the protocol id, in decimal
  CHUNKWIRE_VARIANT      slices; or with --repair "repair": datagrams are as in
                         spec/REPAIR.md, and their protocol id is higher by 256 (RPI-1);
                         or with --connection "connection": send is a client of
                         spec/CONNECTION.md, and recv a server (testvectors/LIVE.md)

Exit codes: 0 all got through, 1 some did not, 2 bad usage, 5 the port does not start,
130 interrupted.`,
		Example: `  chunkwire live -- python3 live.py
  chunkwire live --loss 30 -- ./port --live
  chunkwire live --repair --loss 30 -- ./port --live
  chunkwire live --connection -- python3 live.py
  chunkwire live --with 'node live.js' -- python3 live.py
  chunkwire live --slow --loss 0 -- python3 live.py
  chunkwire live -- chunkwire port --live`,
		Args: wantsPort,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.Command, cfg.With = args, strings.Fields(with)
			switch {
			case connection && (repair || cfg.Slow):
				return usageError(cmd, errors.New("--connection excludes --repair, which its ends agree on, and --slow"))
			case connection:
				cfg.Variant = live.Connection
			case repair:
				cfg.Variant = live.Repair
			}
			switch {
			case cfg.Timeout <= 0:
				return usageError(cmd, errors.New("--timeout must be above 0"))
			case cmd.Flags().Changed("with") && len(cfg.With) == 0:
				return usageError(cmd, errors.New("--with needs a command"))
			case cfg.Loss < 0 || cfg.Loss >= 100:
				return usageError(cmd, errors.New("--loss must be 0 to below 100"))
			case len(cfg.With) == 0:
				cfg.With = nil
			}
			return runLive(cmd, cfg, asJSON)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.BoolVar(&repair, "repair", false, "chunks go as repair slices (spec/REPAIR.md)")
	f.BoolVar(&connection, "connection", false, "chunks and messages go over connections (spec/CONNECTION.md)")
	f.Float64Var(&cfg.Loss, "loss", 10, "`percent` of the datagrams lost each way in the second half; 0 leaves it out")
	f.BoolVar(&cfg.Slow, "slow", false, "also let the port send over a slow link, where the base algorithm overflows the queue")
	f.StringVar(&with, "with", "", "`command` of a port for the other end, split at spaces, in place of the reference implementation")
	f.DurationVar(&cfg.Timeout, "timeout", live.DefaultTimeout, "longest time of each transfer, including the start of the ports")
	f.BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	return cmd
}

// wantsPort refuses a command line that names no port.
func wantsPort(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no command of a port is given")
	}
	return nil
}

func runLive(cmd *cobra.Command, cfg live.Config, asJSON bool) error {
	report, err := live.Run(cmd.Context(), cfg)
	if err == nil && !report.OK {
		err = fmt.Errorf("%w: %d of %d transfers", errFailures, report.Failed(), len(report.Results))
	}
	if asJSON {
		return errors.Join(err, json.NewEncoder(cmd.OutOrStdout()).Encode(report))
	}
	report.Print(cmd.OutOrStdout())
	return err
}
