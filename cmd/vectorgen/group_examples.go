package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// examplePattern finds a worked example of the specification: a request and its
// response, a line each.
var examplePattern = regexp.MustCompile("(?s)```json\n([^\n]+)\n([^\n]+)\n```")

// examples is the worked examples, taken out of the specification, so that they
// are run and cannot rot.
func examples(spec []byte) (testvectors.File, error) {
	g := newGroup("examples", "The worked examples of spec/PROTOCOL.md, as they stand there: begin with these.")
	for i, m := range examplePattern.FindAllSubmatch(spec, -1) {
		q, op, err := withoutID(m[1])
		if err != nil {
			return g.file, fmt.Errorf("example %d: %w", i+1, err)
		}
		a, _, err := withoutID(m[2])
		if err != nil {
			return g.file, fmt.Errorf("example %d: %w", i+1, err)
		}
		why, ok := aboutExamples[op]
		if !ok {
			return g.file, fmt.Errorf("example %d: op %q", i+1, op)
		}
		g.addRaw(fmt.Sprintf("%d-%s", i+1, strings.ReplaceAll(op, "_", "-")), why, q, a)
		if op == "receiver" {
			// Its times of acks are those of section 8.5.
			g.file.Vectors[len(g.file.Vectors)-1].Level = testvectors.Recommended
		}
	}
	return g.file, nil
}

// aboutExamples is about the examples, by their op.
var aboutExamples = map[string]about{
	"encode_body":   {"Kills an implementation that packs bits otherwise: the document shows every bit.", "bit-order minus-one", "BIT-1 SLC-1 ACK-1"},
	"encode_packet": {"Kills an implementation that frames otherwise: the document shows every bit and what the crc is taken over.", "crc-input frame-offset", "FRM-1 FRM-2 FRM-4"},
	"decode_packet": {"Kills a decoder that does not look at padding.", "padding", "DEC-10 LAW-2"},
	"sender":        {"Kills a sender that sends another slice than the one that was lost, or goes on when all are acked.", "contract", "SND-6 SND-12 SND-13 TRC-2 TRC-4"},
	"receiver":      {"Kills a receiver that does not ack a slice of a chunk that was read: its sender would never end.", "contract", "RCV-13 RCV-16 TRC-3 TRC-4"},
}

// withoutID takes the id out of a request or a response, and leaves the rest as
// it stands.
func withoutID(line []byte) (rest json.RawMessage, op string, err error) {
	var object struct {
		ID json.RawMessage
		Op string
	}
	if err := json.Unmarshal(line, &object); err != nil {
		return nil, "", err
	}
	begin := append(append([]byte(`{"id":`), object.ID...), ',')
	if !bytes.HasPrefix(line, begin) {
		return nil, "", fmt.Errorf("the id is not the first field: %s", line)
	}
	return append([]byte("{"), line[len(begin):]...), object.Op, nil
}
