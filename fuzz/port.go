package fuzz

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// An input is what a port reads: lines, of which maxPortInput bytes are taken. For
// each line it must answer one, with the request's id, or null if it has none, and
// ok or a code (PRT-1 to PRT-4). What it decodes it must encode again, and the other
// way round.
var targetPort = newTarget("Port", "the port answers each line by one line, with the request's id or null", runPort, seedPort)

// Events of traces can ask for much work with few bytes.
const maxPortInput = 16 << 10

func runPort(t T, data []byte) {
	data = data[:min(len(data), maxPortInput)]
	var out bytes.Buffer
	if err := port.Serve(bytes.NewReader(data), &out); err != nil {
		t.Fatalf("serve: %v", err)
	}
	if verbose() {
		t.Logf("%s\n%s", data, &out)
	}
	asked := linesOf(data)
	answers := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	if len(asked) == 0 {
		if out.Len() != 0 {
			t.Fatalf("nothing was asked, and answered %q", out.Bytes())
		}
		return
	}
	if !bytes.HasSuffix(out.Bytes(), []byte("\n")) || len(answers) != len(asked) {
		t.Fatalf("%d lines, %d answers", len(asked), len(answers))
	}
	for i, line := range asked {
		checkAnswer(t, line, answers[i])
	}
}

// linesOf splits an input as a port does: the last line may lack its end.
func linesOf(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}

// object is a JSON object.
type object map[string]json.RawMessage

var (
	integer    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	errorCodes = []string{
		`"truncated"`, `"crc_mismatch"`, `"nonzero_padding"`, `"slice_id_out_of_range"`, `"bad_end_check"`,
		`"trailing_data"`, `"invalid_field"`, `"have_out_of_range"`, `"unsupported"`, `"bad_request"`,
	}
	// placedCodes are those of the packet layer, of channels and of connections, which come
	// with a place (PKO-2, CHO-2, CXO-2).
	placedCodes = []string{
		`"truncated"`, `"reserved_bits"`, `"not_minimal"`, `"empty_payload"`, `"too_large"`, `"too_many_fragments"`, `"single_fragment"`,
		`"fragment_id_out_of_range"`, `"sequence_mismatch"`, `"fragment_size"`, `"invalid_field"`,
		`"unknown_record"`, `"unknown_channel"`, `"length"`, `"fragment_count"`, `"fragment_index"`, `"room"`,
		`"group_count"`, `"group_start"`, `"group_order"`, `"group_bits"`, `"group_base"`,
		`"unknown_kind"`, `"version"`, `"trailing_data"`, `"mode"`, `"lanes"`, `"timeout"`, `"padding"`, `"stamp"`, `"link"`, `"variant"`, `"reason"`,
		`"unknown_link"`, `"stale"`, `"duplicate"`, `"tag"`, `"not_alone"`, `"text"`, `"lane"`, `"nonzero_padding"`, `"slice_id_out_of_range"`,
		`"have_out_of_range"`,
	}
	// resultOf names the fields that an op answers with (PRT-1).
	resultOf = map[string]string{
		"encode_body": "hex", "decode_body": "packet", "encode_packet": "hex", "decode_packet": "packet",
		"sender": "steps", "receiver": "steps",
		"packet_header": "hex", "packet_decode": "packet", "packet_endpoint": "steps", "packet_congestion": "steps",
		"records_encode": "hex", "records_decode": "records", "channel_report": "hex", "channel_receiver": "steps", "channel_sender": "steps",
		"session_encode": "hex", "session_decode": "message", "session_seal": "hex", "session_open": "counter body", "session_keys": "c2s s2c resume",
		"session_cookie": "address cookie", "session_proof": "proof", "session_client": "steps", "session_server": "steps",
		"connection_encode": "hex", "connection_decode": "records", "connection": "steps",
		"repair_row": "exponents", "repair_slice": "slice", "repair_rebuild": "added rank chunk",
		"repair_encode": "hex", "repair_decode": "packet", "repair_sender": "steps", "repair_receiver": "steps",
	}
)

func checkAnswer(t T, line, answer []byte) {
	t.Helper()
	var a, q object
	if err := json.Unmarshal(answer, &a); err != nil || a == nil {
		t.Fatalf("the answer is no object: %q, %v", answer, err)
	}
	if json.Unmarshal(line, &q) != nil {
		q = nil
	}
	id := "null"
	if integer.Match(q["id"]) {
		id = string(q["id"])
	}
	if string(a["id"]) != id {
		t.Fatalf("the request's id is %s, the answer's %s", id, a["id"])
	}
	var op string
	json.Unmarshal(q["op"], &op)
	switch ok := string(a["ok"]); {
	case ok == "true":
		if !hasResults(a, strings.Fields(resultOf[op])) || id == "null" {
			t.Fatalf("the answer of op %q is %s", op, answer)
		}
		checkInverse(t, op, q, a)
	case ok != "false" || !isRefusal(a):
		t.Fatalf("a refusal is %s", answer)
	case id == "null" && string(a["error"]) != `"bad_request"`:
		t.Fatalf("a line without an id is refused by %s", answer)
	}
}

// hasResults reports whether an answer has these fields, at least one, and no others but its id
// and ok.
func hasResults(a object, fields []string) bool {
	for _, f := range fields {
		if len(a[f]) == 0 {
			return false
		}
	}
	return len(fields) > 0 && len(a) == 2+len(fields)
}

// isRefusal reports whether an answer has a code, and a place if its code has one, and
// nothing else.
func isRefusal(a object) bool {
	code := string(a["error"])
	if at, ok := a["at"]; ok {
		return len(a) == 4 && slices.Contains(placedCodes, code) && integer.Match(at)
	}
	return len(a) == 3 && slices.Contains(errorCodes, code)
}

// checkInverse asks the inverse question: what was decoded encodes to the same
// bytes (LAW-2, CHR-6), and what was encoded decodes.
func checkInverse(t T, op string, q, a object) {
	t.Helper()
	inverse := object{"id": q["id"]}
	for _, f := range []string{"protocol_id", "variant", "extensions"} {
		if v, ok := q[f]; ok {
			inverse[f] = v
		}
	}
	var want []byte
	field := "hex"
	switch op {
	case "decode_body", "decode_packet", "repair_decode":
		inverse["op"] = json.RawMessage(`"` + strings.Replace(op, "decode", "encode", 1) + `"`)
		inverse["packet"] = a["packet"]
		want = q["hex"]
	case "encode_body", "encode_packet", "repair_encode":
		var packet object
		json.Unmarshal(q["packet"], &packet)
		inverse["op"] = json.RawMessage(`"` + strings.Replace(op, "encode", "decode", 1) + `"`)
		inverse["hex"], inverse["type"] = a["hex"], packet["type"]
		field = "packet"
	case "records_decode":
		inverse["op"], inverse["records"] = json.RawMessage(`"records_encode"`), a["records"]
		want = q["hex"]
	case "records_encode", "channel_report":
		inverse["op"], inverse["hex"] = json.RawMessage(`"records_decode"`), a["hex"]
	case "session_encode":
		inverse["op"], inverse["hex"] = json.RawMessage(`"session_decode"`), a["hex"]
	case "connection_decode":
		inverse["op"], inverse["records"], inverse["lanes"] = json.RawMessage(`"connection_encode"`), a["records"], q["lanes"]
		want = q["hex"]
	case "connection_encode":
		inverse["op"], inverse["hex"], inverse["lanes"] = json.RawMessage(`"connection_decode"`), a["hex"], q["lanes"]
	default:
		return
	}
	var back object
	json.Unmarshal(port.Answer(mustMarshal(t, inverse)), &back)
	if string(back["ok"]) != "true" || want != nil && !sameString(back[field], want) {
		t.Fatalf("%s gives %s, but the inverse of that %s", op, a, back)
	}
}

// sameString compares JSON strings, which can be written in more than one way.
func sameString(a, b json.RawMessage) bool {
	var x, y string
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x == y
}

// longestPortSeed keeps the replay of the seeds short: longer traces are left out.
const longestPortSeed = 6000

func seedPort(files []testvectors.File) (seeds [][]byte) {
	for _, f := range files {
		for _, v := range f.Vectors {
			line := append([]byte(`{"id":1,`), v.Request[1:]...)
			if string(v.Request) == "{}" {
				line = []byte(`{"id":1}`)
			}
			var q object
			if json.Unmarshal(line, &q) != nil || len(line) > longestPortSeed {
				continue
			}
			seeds = append(seeds, compact(line))
		}
	}
	return append(seeds, nil, []byte("\n"), []byte("{}\n{}"), []byte(`{"id":99999999999999999999,"op":"fly"}`+"\n"))
}

// compact writes JSON on one line.
func compact(text []byte) []byte {
	b, _ := json.Marshal(json.RawMessage(text))
	return append(b, '\n')
}
