package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/testvectors/port"
	"github.com/chunkwire/chunkwire/testvectors/runner/live"
)

func newPort() *cobra.Command {
	var asLive bool
	cmd := &cobra.Command{
		Use:   "port",
		Short: "Answer the port contract: one JSON request a line, one JSON response a line",
		Long: `port answers for this implementation by the contract of ports in any language:
it reads one JSON object a line on standard input and writes one a line on
standard output. Ops: encode_body, decode_body, encode_packet, decode_packet,
and the traces of spec/PROTOCOL.md, appendix B: sender, receiver; packet_header,
packet_decode, packet_endpoint and packet_congestion of spec/PACKETS.md, appendix C.

With --live it is a port for 'chunkwire live' instead.`,
		Example: `  echo '{"id":1,"op":"decode_body","type":"ack","hex":"34120001"}' | chunkwire port`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !asLive {
				return orEnd(cmd.Context(), func() error {
					return port.Serve(cmd.InOrStdin(), cmd.OutOrStdout())
				})
			}
			err := live.Serve(cmd.Context(), os.Getenv, cmd.InOrStdin(), cmd.OutOrStdout())
			if errors.Is(err, live.ErrEnvironment) {
				return usageError(cmd, err)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asLive, "live", false, "send or receive one chunk over UDP, as the environment says")
	return cmd
}
