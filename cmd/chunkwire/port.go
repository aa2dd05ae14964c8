package main

import (
	"github.com/chunkwire/chunkwire/testvectors/port"
	"github.com/spf13/cobra"
)

func newPort() *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "port",
		Short: "Answer the port contract: one JSON request a line, one JSON response a line",
		Long: `port answers what this implementation does, by the contract that a port in any
language answers: it reads one JSON object a line on standard input and writes one a
line on standard output. Ops: encode_body, decode_body, encode_packet, decode_packet,
and the traces of the specification's appendix B: sender, receiver.

With --live it does instead what 'chunkwire live' asks of a port.`,
		Example: `  echo '{"id":1,"op":"decode_body","type":"ack","hex":"34120001"}' | chunkwire port`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if live {
				return servePortLive(cmd)
			}
			return orEnd(cmd.Context(), func() error {
				return port.Serve(cmd.InOrStdin(), cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "send or receive one chunk over UDP, as the environment says")
	return cmd
}
