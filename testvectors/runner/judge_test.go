package runner

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
)

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ want, got, paths string }{
		{`{"a":1,"b":[1,{"c":null}]}`, `{"b":[1,{"c":null}],"a":1}`, ""},
		{`{"a":1}`, `{"a":1.0}`, "a"},
		{`{"a":1}`, `{"a":1e0}`, "a"},
		{`{"a":1}`, `{"a":"1"}`, "a"},
		{`{"a":1}`, `{"A":1}`, "A a"},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, "a"},
		{`{"a":null}`, `{}`, "a"},
		{`{}`, `{"a":null}`, "a"},
		{`{"a":null}`, `{"a":false}`, "a"},
		{`{"a":[]}`, `{"a":null}`, "a"},
		{`{"a":null}`, `{"a":[]}`, "a"},
		{`{"a":[1,2]}`, `{"a":[1]}`, "a[1]"},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, "a[0] a[1]"},
		{`{"a":{"b":1}}`, `{"a":[]}`, "a"},
	} {
		want, err := parseValue([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseValue([]byte(c.got))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.paths, strings.Join(differences(want, got), " ")); diff != "" {
			t.Errorf("%s, %s: %s", c.want, c.got, diff)
		}
	}
}

func TestParseValueIsStrict(t *testing.T) {
	for _, text := range []string{``, `{`, `{"a":1}{}`, `{"a":1} x`, `{"a":1,"a":1}`, `[1,]`, `{"a"}`, `nul`, `]`} {
		if v, err := parseValue([]byte(text)); err == nil {
			t.Errorf("%q is %s", text, compact(v))
		}
	}
}

// TRC-5 leaves the deadline's value to the port, and nothing else.
func TestDeadlinesOfRequiredReceivers(t *testing.T) {
	const step = `{"id":1,"ok":true,"steps":[{"row":"R2","deadline_us":5}]}`
	for _, c := range []struct {
		level testvectors.Level
		op    string
		line  string
		want  verdict
	}{
		{testvectors.Required, "receiver", `{"id":1,"ok":true,"steps":[{"row":"R2","deadline_us":7}]}`, passed},
		{testvectors.Required, "receiver", `{"id":1,"ok":true,"steps":[{"row":"R2","deadline_us":null}]}`, passed},
		{testvectors.Required, "receiver", `{"id":1,"ok":true,"steps":[{"row":"R2","deadline_us":"7"}]}`, failed},
		{testvectors.Required, "receiver", `{"id":1,"ok":true,"steps":[{"row":"R2"}]}`, failed},
		{testvectors.Required, "receiver", `{"id":1,"ok":true,"steps":[{"row":"R3","deadline_us":5}]}`, failed},
		{testvectors.Required, "receiver", `{"id":1,"ok":true,"steps":[3]}`, failed},
		{testvectors.Recommended, "receiver", `{"id":1,"ok":true,"steps":[{"row":"R2","deadline_us":7}]}`, failed},
		{testvectors.Required, "sender", `{"id":1,"ok":true,"steps":[{"row":"R2","deadline_us":7}]}`, failed},
		{testvectors.Required, "sender", `{"id":1,"ok":false,"error":"unsupported"}`, skipped},
		{testvectors.Required, "sender", `{"id":1,"ok":false,"error":"unsupported","why":"later"}`, failed},
	} {
		q := question{request: []byte(`{"id":1,"op":"` + c.op + `","events":[]}`), response: []byte(step), op: c.op, level: c.level}
		if got, f := q.judge([]byte(c.line)); got != c.want {
			t.Errorf("%s %s, %s: %d (%s), want %d", c.level, c.op, c.line, got, f.Message, c.want)
		}
	}
}

// A trace that should have been refused has no step that shows the event at fault.
func TestTheEventsOfARefusedTraceAreShown(t *testing.T) {
	q := question{op: "sender", level: testvectors.Required,
		request:  []byte(`{"id":1,"op":"sender","events":[{"at":0,"event":"poll","due":[0]}]}`),
		response: []byte(`{"id":1,"ok":false,"error":"bad_request"}`)}
	for answer, want := range map[string]bool{`{"id":1,"ok":true,"steps":[]}`: true, `{"id":1,"ok":false,"error":"bad_request"}`: false} {
		_, f := q.judge([]byte(answer))
		if got := strings.Contains(strings.Join(f.Lines, "\n"), `"due":[0]`); got != want {
			t.Errorf("%s: shown %t, want %t:\n%s", answer, got, want, strings.Join(f.Lines, "\n"))
		}
	}
}

// Whatever a port sends can be drawn, by each layout.
func TestDrawTakesEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for _, request := range []string{
			`"op":"decode_packet","protocol_id":17`, `"op":"decode_body","type":"slice"`, `"op":"encode_body","packet":{"type":"ack"}`, `"op":"decode_body"`,
			`"op":"repair_decode","type":"ack"`, `"op":"repair_decode","protocol_id":1`, `"op":"packet_decode","fragment_size":0`, `"op":"packet_header"`,
			`"op":"records_decode"`, `"op":"connection_decode","lanes":1,"variant":2`, `"op":"session_open"`, `"op":"channel_report"`, `"op":5`,
		} {
			if rows := draw(t, request, hex.EncodeToString(b)); len(rows) == 0 {
				t.Fatalf("%s, %x: nothing drawn", request, b)
			}
		}
	}
}

func draw(t *testing.T, request, bytes string) []row {
	t.Helper()
	v, err := parseValue([]byte("{" + request + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return drawHex(v, bytes)
}

// Bytes are drawn field by field, as far as they go.
func TestDraw(t *testing.T) {
	for _, c := range []struct {
		request, hex string
		want         []row
	}{
		{`"op":"decode_packet","protocol_id":287454020`, "ca918a1e682400000600deadbeefe2ac089901", []row{
			{"bytes", "19"}, {"crc", "0x1e8a91ca bytes 0 to 3, wrong: of these bytes it is 0xdeaa7e24"}, {"type", "slice      bit 32"},
			{"chunk_id", "4660       bits 33 to 48"}, {"slice_id", "0          bits 49 to 56"}, {"num_slices", "1          bits 57 to 64"},
			{"slice_bytes", "4          bits 65 to 74"}, {"padding", "0          bits 75 to 79"}, {"data", "4 bytes, deadbeef bytes 10 to 13"},
			{"end_check", "0x9908ace2 bytes 14 to 17"}, {"refused", "crc_mismatch (DEC-2) at 0"}, {"left", "1 bytes, 01"},
		}},
		{`"op":"decode_body","type":"ack"`, "341202", []row{
			{"bytes", "3"}, {"chunk_id", "4660       bytes 0 to 1"}, {"num_slices", "3          byte 2"}, {"refused", "truncated (DEC-9) at 24"},
		}},
		{`"op":"packet_decode","fragment_size":4,"max_fragments":4`, "010700010205", []row{
			{"bytes", "6"}, {"kind", "fragment   bit 0"}, {"reserved", "0          bits 1 to 7"}, {"sequence", "7          bytes 1 to 2"}, {"fragment_id", "1          byte 3"},
			{"num_fragments", "3          byte 4"}, {"data", "1 bytes, 05 byte 5"}, {"refused", "fragment_size (PKD-11) at 5"},
		}},
		{`"op":"packet_header"`, "zz", []row{{"hex", `"zz"`}}},
		{`"op":"sender"`, "00", []row{{"bytes", "1"}, {"hex", "1 bytes, 00"}}},
	} {
		if diff := cmp.Diff(c.want, draw(t, c.request, c.hex), cmp.AllowUnexported(row{})); diff != "" {
			t.Errorf("%s: %s", c.hex, diff)
		}
	}
}
