package port

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a port answers, and what it refuses (PRT-1 to PRT-3, PRT-5).
func TestPortAnswers(t *testing.T) {
	full := strings.Repeat("ab", 1024)
	cases := []struct{ name, request, want string }{
		{"encode body", `{"id":1,"op":"encode_body","packet":{"type":"slice","chunk_id":0,"slice_id":0,"num_slices":1,"data":"41"}}`, `{"id":1,"ok":true,"hex":"00000000000041"}`},
		{"encode packet", `{"id":2,"op":"encode_packet","protocol_id":287454020,"packet":{"type":"ack","chunk_id":4660,"acked":"10101010"}}`, `{"id":2,"ok":true,"hex":"5b8ed56c69240eaa00e2ac0899"}`},
		{"decode body", `{"id":3,"op":"decode_body","type":"ack","hex":"34120001"}`, `{"id":3,"ok":true,"packet":{"type":"ack","chunk_id":4660,"acked":"1"}}`},
		{"decode slice body", `{"id":3,"op":"decode_body","type":"slice","hex":"00000001` + full + `"}`, `{"id":3,"ok":true,"packet":{"type":"slice","chunk_id":0,"slice_id":0,"num_slices":2,"data":"` + full + `"}}`},
		{"decode packet", `{"id":4,"op":"decode_packet","protocol_id":287454020,"hex":"ca918a1e682400000600deadbeefe2ac0899"}`, `{"id":4,"ok":true,"packet":{"type":"slice","chunk_id":4660,"slice_id":0,"num_slices":1,"data":"deadbeef"}}`},
		{"another protocol id", `{"id":5,"op":"decode_packet","protocol_id":1,"hex":"ca918a1e682400000600deadbeefe2ac0899"}`, `{"id":5,"ok":false,"error":"crc_mismatch"}`},
		{"truncated", `{"id":6,"op":"decode_packet","protocol_id":0,"hex":""}`, `{"id":6,"ok":false,"error":"truncated"}`},
		{"out of range", `{"id":7,"op":"decode_body","type":"slice","hex":"00000100"}`, `{"id":7,"ok":false,"error":"slice_id_out_of_range"}`},
		{"slice_id too large", `{"id":8,"op":"encode_body","packet":{"type":"slice","chunk_id":0,"slice_id":3,"num_slices":3,"data":"41"}}`, `{"id":8,"ok":false,"error":"invalid_field"}`},
		{"chunk_id of 17 bits", `{"id":9,"op":"encode_body","packet":{"type":"ack","chunk_id":65536,"acked":"1"}}`, `{"id":9,"ok":false,"error":"invalid_field"}`},
		{"chunk_id beyond 64 bits", `{"id":9,"op":"encode_body","packet":{"type":"ack","chunk_id":99999999999999999999,"acked":"1"}}`, `{"id":9,"ok":false,"error":"invalid_field"}`},
		{"negative slice_id", `{"id":9,"op":"encode_body","packet":{"type":"slice","chunk_id":0,"slice_id":-1,"num_slices":1,"data":"41"}}`, `{"id":9,"ok":false,"error":"invalid_field"}`},
		{"257 slices", `{"id":9,"op":"encode_body","packet":{"type":"ack","chunk_id":0,"acked":"` + strings.Repeat("0", 257) + `"}}`, `{"id":9,"ok":false,"error":"invalid_field"}`},
		{"no slices", `{"id":9,"op":"encode_body","packet":{"type":"ack","chunk_id":0,"acked":""}}`, `{"id":9,"ok":false,"error":"invalid_field"}`},
		{"acked of other characters", `{"id":9,"op":"encode_body","packet":{"type":"ack","chunk_id":0,"acked":"12"}}`, `{"id":9,"ok":false,"error":"invalid_field"}`},
		{"another packet type", `{"id":9,"op":"encode_body","packet":{"type":"nack","chunk_id":0}}`, `{"id":9,"ok":false,"error":"invalid_field"}`},
		{"an id beyond 64 bits", `{"id":99999999999999999999,"op":"fly"}`, `{"id":99999999999999999999,"ok":false,"error":"unsupported"}`},
		{"protocol id of 33 bits, encoding", `{"id":11,"op":"encode_packet","protocol_id":4294967296,"packet":{"type":"ack","chunk_id":0,"acked":"1"}}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"protocol id of 33 bits, decoding", `{"id":11,"op":"decode_packet","protocol_id":4294967296,"hex":""}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"unknown op", `{"id":10,"op":"fly"}`, `{"id":10,"ok":false,"error":"unsupported"}`},
		{"an event that no sender knows", `{"id":10,"op":"sender","config":{"first_chunk_id":0,"give_up_us":1000,"profile":null},"events":[{"at":0,"event":"read"}]}`, `{"id":10,"ok":false,"error":"unsupported"}`},
		{"an event without its fields", `{"id":10,"op":"receiver","config":{"first_chunk_id":0,"give_up_us":1000},"events":[{"at":0,"event":"slice"}]}`, `{"id":10,"ok":false,"error":"bad_request"}`},
		{"a trace without events", `{"id":10,"op":"receiver","config":{"first_chunk_id":0,"give_up_us":1000}}`, `{"id":10,"ok":false,"error":"bad_request"}`},
		{"an unknown field in a trace", `{"id":10,"op":"receiver","config":{"first_chunk_id":0,"give_up_us":1000,"x":1},"events":[]}`, `{"id":10,"ok":true,"steps":[]}`},
		{"no JSON", `hello`, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"no object", `[1]`, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"an empty line", ``, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"no id", `{"op":"decode_body","type":"ack","hex":"34120001"}`, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"id of another type", `{"id":"x","op":"decode_body","type":"ack","hex":"34120001"}`, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"fields of an unknown op", `{"id":1,"op":"nope","type":5,"packet":[]}`, `{"id":1,"ok":false,"error":"unsupported"}`},
		{"op of another type", `{"id":1,"op":5}`, `{"id":1,"ok":false,"error":"bad_request"}`},
		{"id in capitals", `{"ID":1,"op":"nope"}`, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"op in capitals", `{"id":1,"Op":"nope"}`, `{"id":1,"ok":false,"error":"bad_request"}`},
		{"other capitals are no matter", `{"id":3,"ID":4,"Type":5,"op":"decode_body","type":"ack","hex":"34120001"}`, `{"id":3,"ok":true,"packet":{"type":"ack","chunk_id":4660,"acked":"1"}}`},
		{"a packet in capitals", `{"id":9,"op":"encode_body","packet":{"type":"ack","Chunk_ID":0,"acked":"1"}}`, `{"id":9,"ok":false,"error":"bad_request"}`},
		{"a packet that is no object", `{"id":9,"op":"encode_body","packet":[]}`, `{"id":9,"ok":false,"error":"bad_request"}`},
		{"a packet that is null", `{"id":9,"op":"encode_body","packet":null}`, `{"id":9,"ok":false,"error":"bad_request"}`},
		{"no object", `[1]`, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"null", `null`, `{"id":null,"ok":false,"error":"bad_request"}`},
		{"a trace in capitals", `{"id":10,"op":"receiver","config":{"first_chunk_id":0,"give_up_us":1000},"events":[{"AT":5,"event":"poll"}]}`, `{"id":10,"ok":false,"error":"bad_request"}`},
		{"no op", `{"id":11}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"hex of another type", `{"id":11,"op":"decode_body","type":"ack","hex":5}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"hex missing", `{"id":11,"op":"decode_body","type":"ack"}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"hex of odd length", `{"id":11,"op":"decode_body","type":"ack","hex":"341"}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"hex in upper case", `{"id":11,"op":"decode_body","type":"slice","hex":"0000000000004A"}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"body type missing", `{"id":11,"op":"decode_body","hex":"34120001"}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"protocol id missing", `{"id":11,"op":"decode_packet","hex":""}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"packet missing", `{"id":11,"op":"encode_body"}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"chunk_id no integer", `{"id":11,"op":"encode_body","packet":{"type":"ack","chunk_id":1.5,"acked":"1"}}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"data missing", `{"id":11,"op":"encode_body","packet":{"type":"slice","chunk_id":1,"slice_id":0,"num_slices":1}}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"acked missing", `{"id":11,"op":"encode_body","packet":{"type":"ack","chunk_id":1}}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"packet type missing", `{"id":11,"op":"encode_body","packet":{"chunk_id":1}}`, `{"id":11,"ok":false,"error":"bad_request"}`},
		{"a header", `{"id":12,"op":"packet_header","sequence":100,"ack":99,"ack_bits":4294967295}`, `{"id":12,"ok":true,"hex":"20640001"}`},
		{"a header that cannot be encoded", `{"id":12,"op":"packet_header","sequence":65536,"ack":99,"ack_bits":0}`, `{"id":12,"ok":false,"error":"invalid_field","at":-1}`},
		{"a regular packet", `{"id":12,"op":"packet_decode","fragment_size":4,"max_fragments":1,"hex":"206400012a"}`, `{"id":12,"ok":true,"packet":{"kind":"regular","sequence":100,"ack":99,"ack_bits":4294967295,"payload":"2a"}}`},
		{"a fragment", `{"id":12,"op":"packet_decode","fragment_size":1,"max_fragments":2,"hex":"01070001012a"}`, `{"id":12,"ok":true,"packet":{"kind":"fragment","sequence":7,"fragment_id":1,"num_fragments":2,"data":"2a"}}`},
		{"the first fragment", `{"id":12,"op":"packet_decode","fragment_size":1,"max_fragments":2,"hex":"0107000001200700012a"}`, `{"id":12,"ok":true,"packet":{"kind":"fragment","sequence":7,"fragment_id":0,"num_fragments":2,"ack":6,"ack_bits":4294967295,"data":"2a"}}`},
		{"a packet that is refused", `{"id":12,"op":"packet_decode","fragment_size":4,"max_fragments":4,"hex":"20640001"}`, `{"id":12,"ok":false,"error":"empty_payload","at":4}`},
		{"an endpoint", `{"id":13,"op":"packet_endpoint","config":{"fragment_size":4,"max_fragments":4,"fragment_above":4,"next_to_send":0,"next_to_receive":0},"events":[{"at":0,"event":"send","payload":""}]}`, `{"id":13,"ok":true,"steps":[{"datagrams":[],"delivered":null,"acked":[],"lost":[],"refused":{"error":"payload_size","at":-1}}]}`},
		{"an event that no endpoint knows", `{"id":13,"op":"packet_endpoint","config":{"fragment_size":4,"max_fragments":4,"fragment_above":4,"next_to_send":0,"next_to_receive":0},"events":[{"at":0,"event":"read"}]}`, `{"id":13,"ok":false,"error":"unsupported"}`},
		{"an event without a name", `{"id":13,"op":"packet_endpoint","config":{"fragment_size":4,"max_fragments":4,"fragment_above":4,"next_to_send":0,"next_to_receive":0},"events":[{"at":0}]}`, `{"id":13,"ok":false,"error":"bad_request"}`},
		{"congestion avoidance", `{"id":14,"op":"packet_congestion","config":{"profile":"default"},"events":[{"at":0,"srtt":600000,"silent":false,"min_rtt":600000},{"at":4000000,"srtt":600000,"silent":false,"min_rtt":600000}]}`, `{"id":14,"ok":true,"steps":[{"mode":"bad","recovery":4000000},{"mode":"good","recovery":4000000}]}`},
		{"records", `{"id":15,"op":"records_encode","records":[{"type":"skip","channel":1,"first":65534,"count":4},{"type":"status","channel":1,"next":700}]}`, `{"id":15,"ok":true,"hex":"0401feff030601bc02"}`},
		{"a record that cannot be encoded", `{"id":15,"op":"records_encode","records":[{"type":"pad"},{"type":"pad"}]}`, `{"id":15,"ok":false,"error":"unknown_record","at":0}`},
		{"a number that no field holds", `{"id":15,"op":"records_encode","records":[{"type":"status","channel":1,"next":1},{"type":"status","channel":1,"next":65536}]}`, `{"id":15,"ok":false,"error":"invalid_field","at":6}`},
		{"bits that no field holds, which come before the base of the groups", `{"id":15,"op":"records_encode","records":[{"type":"report","channel":1,"base":5,"room":9,"groups":[[6,4294967296]]}]}`, `{"id":15,"ok":false,"error":"invalid_field","at":9}`},
		{"a payload of records", `{"id":15,"op":"records_decode","hex":"05010500090001050000000000010302006869"}`, `{"id":15,"ok":true,"records":[{"type":"report","channel":1,"base":5,"room":9,"groups":[[5,0]]},{"type":"unreliable","channel":3,"data":"6869"}]}`},
		{"a payload that is refused", `{"id":15,"op":"records_decode","hex":"0601bc02060140"}`, `{"id":15,"ok":false,"error":"truncated","at":6}`},
		{"a report", `{"id":15,"op":"channel_report","channel":1,"base":65530,"room":500,"missing":[65530,65532,3,40]}`, `{"id":15,"ok":true,"hex":"0501fafff40102030040010000280000000000"}`},
		{"a report of what does not ascend", `{"id":15,"op":"channel_report","channel":1,"base":0,"room":5,"missing":[0,2,1]}`, `{"id":15,"ok":false,"error":"bad_request"}`},
		{"conditions that are no object", `{"id":14,"op":"packet_congestion","config":{"profile":"default"},"events":[5]}`, `{"id":14,"ok":false,"error":"bad_request"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := ask(t, c.request); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func ask(t *testing.T, request string) string {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(strings.NewReader(request+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// One line out for each line in, in order, the last one without its newline too
// (PRT-1).
func TestPortAnswersLineByLine(t *testing.T) {
	var out bytes.Buffer
	in := `{"id":1,"op":"x"}` + "\n\n" + `{"id":2,"op":"x"}`
	if err := Serve(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"id":1,"ok":false,"error":"unsupported"}
{"id":null,"ok":false,"error":"bad_request"}
{"id":2,"ok":false,"error":"unsupported"}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// The examples of the specification are requests and responses; each is run.
func TestSpecificationExamples(t *testing.T) {
	spec, err := os.ReadFile("../../spec/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)\n(.*?)\n```").FindAllSubmatch(spec, -1)
	if len(blocks) < 5 {
		t.Fatalf("only %d examples found", len(blocks))
	}
	for _, b := range blocks {
		request, want := string(b[1]), string(b[2])
		got := ask(t, request)
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", request, got, want)
		}
		// What is encoded must decode to the same packet again.
		var q, a map[string]any
		if json.Unmarshal([]byte(request), &q) != nil || json.Unmarshal([]byte(got), &a) != nil {
			t.Fatalf("no JSON: %s", request)
		}
		packet, ok := q["packet"].(map[string]any)
		if !ok {
			continue
		}
		q["op"] = strings.Replace(q["op"].(string), "encode", "decode", 1)
		q["hex"], q["type"] = a["hex"], packet["type"]
		delete(q, "packet")
		again, _ := json.Marshal(q)
		var back map[string]any
		if err := json.Unmarshal([]byte(ask(t, string(again))), &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(packet, back["packet"]); diff != "" {
			t.Errorf("%s: %s", again, diff)
		}
	}
}
