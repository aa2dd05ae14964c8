package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

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
				return servePort(cmd.InOrStdin(), cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "send or receive one chunk over UDP, as the environment says")
	return cmd
}

// servePort answers each line of r by a line on w, until r ends.
func servePort(r io.Reader, w io.Writer) error {
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			answer, encodingErr := json.Marshal(answerPort(line))
			if encodingErr != nil {
				return encodingErr
			}
			if _, err := out.Write(append(answer, '\n')); err != nil {
				return err
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
