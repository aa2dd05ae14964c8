package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// examplePattern finds a worked example of the specification: a request and its
// response, a line each.
var examplePattern = regexp.MustCompile("(?s)```json\n([^\n]+)\n([^\n]+)\n```")

// examples adds the worked examples, taken out of the specification, so that they
// are run and cannot rot.
func (g *group) examples(spec []byte) error {
	for i, m := range examplePattern.FindAllSubmatch(spec, -1) {
		q, op, err := withoutID(m[1])
		if err != nil {
			return fmt.Errorf("example %d: %w", i+1, err)
		}
		a, _, err := withoutID(m[2])
		if err != nil {
			return fmt.Errorf("example %d: %w", i+1, err)
		}
		why, ok := aboutExamples[op]
		if !ok {
			return fmt.Errorf("example %d: op %q", i+1, op)
		}
		v := testvectors.Vector{
			Name: fmt.Sprintf("%d-%s", i+1, strings.ReplaceAll(op, "_", "-")), Comment: why.comment,
			Flags: strings.Fields(why.flags), Sentences: strings.Fields(why.sentences), Request: q, Response: a,
		}
		if op == contract.OpReceiver {
			v.Level = testvectors.Recommended // its times of acks are those of section 8.5
		}
		g.addVector(v)
	}
	return nil
}

// aboutExamples is about the examples, by their op.
var aboutExamples = map[string]about{
	"encode_body":   {"Catches an implementation that packs bits in another way: the document shows every bit.", "bit-order minus-one", "BIT-1 SLC-1 ACK-1"},
	"encode_packet": {"Catches an implementation with another frame: the document shows every bit and what the crc is taken over.", "crc-input frame-offset", "FRM-1 FRM-2 FRM-4"},
	"decode_packet": {"Catches a decoder that does not check the padding.", "padding", "DEC-10 LAW-2"},
	"sender":        {"Catches a sender that sends another slice than the one that was lost, or goes on when all are acked.", "contract", "SND-6 SND-12 SND-13 TRC-2 TRC-4"},
	"receiver":      {"Catches a receiver that does not ack a slice of a chunk that was read: its sender would resend without end.", "contract", "RCV-13 RCV-16 TRC-3 TRC-4"},
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

// documentOf is a document whose examples the oracle must answer in the same way.
type documentOf struct {
	answers
	about map[string]about             // by the op
	level map[string]testvectors.Level // of the ops that have another one than the group
}

var (
	ofPackets = documentOf{packetAnswers, aboutPacketExamples, map[string]testvectors.Level{contract.OpPacketEndpoint: testvectors.PacketsEndpoint}}

	ofRepair = documentOf{repairAnswers, aboutRepairExamples, map[string]testvectors.Level{
		contract.OpRepairSender: testvectors.RepairSender, contract.OpConnectionEncode: testvectors.RepairConnection, contract.OpConnectionDecode: testvectors.RepairConnection,
	}}

	ofChannels = documentOf{channelAnswers, aboutChannelExamples, map[string]testvectors.Level{
		contract.OpChannelReceiver: testvectors.ChannelsReceiver, contract.OpChannelSender: testvectors.ChannelsSender,
	}}

	ofConnections = documentOf{connectionAnswers, aboutConnectionExamples, map[string]testvectors.Level{
		contract.OpSessionClient: testvectors.SessionClient, contract.OpSessionServer: testvectors.SessionServer,
		contract.OpConnectionEncode: testvectors.Connection, contract.OpConnectionDecode: testvectors.Connection, contract.OpConnection: testvectors.ConnectionEndpoint,
	}}
)

// answeredExamples adds the worked examples of a document: blocks of requests, each with
// its response on the next line.
func (g *group) answeredExamples(spec []byte, of documentOf) error {
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllSubmatch(spec, -1) {
		lines := bytes.Split(block[1], []byte("\n"))
		if len(lines)%2 != 0 {
			return fmt.Errorf("not requests and responses: %s", block[1])
		}
		for i := 0; i < len(lines); i += 2 {
			if err := g.answeredExample(lines[i], lines[i+1], of); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *group) answeredExample(request, response []byte, of documentOf) error {
	q, op, err := withoutID(request)
	a, _, err2 := withoutID(response)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	why, ok := of.about[op]
	if !ok {
		return fmt.Errorf("an example of op %q", op)
	}
	if want, err := of.answer(q); err != nil || !bytes.Equal(want, a) {
		return fmt.Errorf("%s: the document has\n%s, the oracle\n%s, %w", q, a, want, err)
	}
	g.addVector(testvectors.Vector{
		Name: fmt.Sprintf("%d-%s", len(g.file.Vectors)+1, strings.ReplaceAll(op, "_", "-")), Comment: why.comment, Level: of.level[op],
		Flags: strings.Fields(why.flags), Sentences: strings.Fields(why.sentences), Request: q, Response: a,
	})
	return nil
}

// aboutPacketExamples is about the examples of the packet layer, by their op.
var aboutPacketExamples = map[string]about{
	"packet_header":     {"Catches an encoder of other headers than the document shows.", "ack-distance ack-elision", "PKT-1 PKT-2"},
	"packet_decode":     {"Catches a decoder that differs from the document's examples, or reports another byte.", "canonical fragment-head", "PKT-1 PKT-4 PKF-2 PKD-12"},
	"packet_endpoint":   {"Catches an endpoint that differs from the document's examples.", "row", "PKA-1 PKA-2 PKR-1 PKO-4 PKO-5"},
	"packet_congestion": {"Catches congestion avoidance that differs from the document's example.", "congestion-mode", "PKC-2 PKC-6 PKO-6"},
}

// aboutRepairExamples is about the examples of repair slices, by their op.
var aboutRepairExamples = map[string]about{
	"repair_row":      {"Catches a generator of other exponents than the document shows.", "generator", "RPC-1 RPC-2 RPO-1"},
	"repair_slice":    {"Catches a coder of other slices than the document shows.", "repair-slice", "RPC-3 RPC-4 RPO-2"},
	"repair_rebuild":  {"Catches a decoder that differs from the document's examples.", "solve rank", "RPC-5 RPC-6 RPO-3"},
	"repair_encode":   {"Catches an encoder of other packets than the document shows.", "bit-order canonical", "RPS-1 RPA-1 RPO-4"},
	"repair_decode":   {"Catches a decoder that differs from the document's examples.", "canonical check-order", "RPD-6 RPO-4"},
	"repair_sender":   {"Catches a sender that differs from the document's example.", "row", "RPX-3 RPX-4 RPX-6 RPX-7 RPO-6 RPO-8"},
	"repair_receiver": {"Catches a receiver that differs from the document's example.", "row", "RPR-3 RPR-6 RPR-8 RPR-9 RPO-7 RPO-8"},

	"connection_encode": {"Catches an encoder of other records with repair slices than the document shows.", "record-row bit-order", "RPI-3 RPO-9 CXR-8"},
	"connection_decode": {"Catches a decoder of records with repair slices that differs from the document's examples.", "record-row canonical", "RPI-3 RPO-9 CXR-5"},
}

// aboutChannelExamples is about the examples of channels, by their op.
var aboutChannelExamples = map[string]about{
	"records_encode":   {"Catches an encoder of other records than the document shows.", "record-row byte-order", "CHR-8 CHR-7 CHO-4"},
	"records_decode":   {"Catches a decoder that differs from the document's examples, or reports another byte.", "record-row canonical", "CHR-2 CHR-3 CHO-2 CHO-4"},
	"channel_report":   {"Catches a port that makes another report than the document shows, or goes through the set from the bottom.", "missing-set wrap", "CHV-6 CHR-3 CHO-5"},
	"channel_receiver": {"Catches a receiver that differs from the document's example.", "row", "CHV-1 CHV-2 CHV-5 CHG-3 CHO-7 CHO-8"},
	"channel_sender":   {"Catches a sender that differs from the document's example.", "row", "CHS-1 CHS-3 CHS-4 CHX-1 CHO-9 CHO-10"},
}

// aboutConnectionExamples is about the examples of connections, by their op.
var aboutConnectionExamples = map[string]about{
	"session_encode": {"Catches an encoder of other messages than the document shows.", "byte-order encoder", "CXH-2 CXH-3 CXH-10 CXH-11 CXO-3"},
	"session_decode": {"Catches a decoder that differs from the document's examples, or reports another byte.", "canonical check-order", "CXH-9 CXH-10 CXO-2 CXO-3"},
	"session_seal":   {"Catches a port that covers other bytes by its tag than the document shows.", "tag counter", "CXE-1 CXE-2 CXE-3 CXE-4 CXE-5 CXO-4"},
	"session_open":   {"Catches a port that takes other datagrams than the document's examples, or reports another byte.", "tag replay", "CXE-6 CXE-7 CXE-8 CXO-4"},
	"session_keys":   {"Catches a port that derives other keys than the document shows.", "key-derivation", "CXK-1 CXK-2 CXK-3"},
	"session_cookie": {"Catches a port that makes another cookie than the document shows.", "cookie", "CXK-4 CXN-7 CXO-5"},
	"session_proof":  {"Catches a port that makes another proof than the document shows.", "proof", "CXK-6 CXK-7 CXK-8 CXO-6"},

	"session_client":    {"Catches a client that differs from the document's example.", "row", "CXC-2 CXC-4 CXC-6 CXC-7 CXO-7 CXO-8"},
	"session_server":    {"Catches a server that differs from the document's example.", "row", "CXS-1 CXS-2 CXS-8 CXS-10 CXO-9 CXO-10"},
	"connection_encode": {"Catches an encoder of other records than the document shows.", "record-row byte-order", "CXR-1 CXR-2 CXR-3 CXR-8 CXO-11"},
	"connection_decode": {"Catches a decoder that differs from the document's examples, or reports another byte.", "record-row canonical", "CXR-5 CXR-7 CXO-11"},
	"connection":        {"Catches an end that differs from the document's example.", "row", "CXM-1 CXM-2 CXL-2 CXO-12 CXO-13"},
}
