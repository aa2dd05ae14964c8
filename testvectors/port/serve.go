// Package port answers the port contract for this implementation: what a port in
// any language answers (testvectors/README.md), a JSON object a line. The ops are
// encode_body, decode_body, encode_packet, decode_packet, and the traces of the
// specification's appendix B, sender and receiver.
package port

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Serve answers each line of r by a line on w, until r ends.
func Serve(r io.Reader, w io.Writer) error {
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := out.Write(append(Answer(line), '\n')); err != nil {
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

// Answer answers one line, with or without its newline. The answer has none.
// Whatever the line holds, it is an answer: a bad request at worst (PRT-4).
func Answer(line []byte) []byte {
	a, err := json.Marshal(answer(line))
	if err != nil { // a response is strings, numbers, and JSON that was parsed before
		panic(fmt.Sprintf("port: an answer is no JSON: %v", err))
	}
	return a
}
