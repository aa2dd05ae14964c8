package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"
)

func newPort() *cobra.Command {
	return &cobra.Command{
		Use:   "port",
		Short: "Answer the port contract: one JSON request a line, one JSON response a line",
		Long: `port answers what this implementation does, by the contract that a port in any
language answers: it reads one JSON object a line on standard input and writes one a
line on standard output. Ops: encode_body, decode_body, encode_packet, decode_packet,
and the traces of the specification's appendix B: sender, receiver.`,
		Example: `  echo '{"id":1,"op":"decode_body","type":"ack","hex":"34120001"}' | chunkwire port`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return servePort(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
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
