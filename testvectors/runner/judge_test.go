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

// Whatever a port sends can be drawn.
func TestDrawWireTakesEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for _, body := range []string{"", "slice", "ack"} {
			if rows := drawWire(hex.EncodeToString(b), body, "17"); len(rows) == 0 {
				t.Fatalf("%x: nothing drawn", b)
			}
		}
	}
	for _, text := range []string{"0", "zz"} {
		if rows := drawWire(text, "", nil); rows[0].name != "hex" {
			t.Errorf("%q: %v", text, rows)
		}
	}
}

func TestDrawWire(t *testing.T) {
	got := drawWire("ca918a1e682400000600deadbeefe2ac089901", "", "287454020")
	want := []row{
		{"bytes", "19"},
		{"crc32", "0x1e8a91ca bits 0 to 31, wrong: of these bytes it is 0xdeaa7e24"},
		{"type", "0          bit 32"},
		{"chunk_id", "4660       bits 33 to 48"},
		{"slice_id", "0          bits 49 to 56"},
		{"num_slices-1", "0          bits 57 to 64"},
		{"slice_bytes-1", "3          bits 65 to 74"},
		{"padding", "0          bits 75 to 79"},
		{"data", "4 bytes, deadbeef"},
		{"end check", "0x9908ace2 bits 112 to 143"},
		{"trailing", "1 bytes, 01"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}

// A datagram of the packet layer is drawn field by field, as far as it goes.
func TestDrawPacket(t *testing.T) {
	for _, c := range []struct {
		hex  string
		want []row
	}{
		{"22640001fb6869", []row{
			{"bytes", "7"}, {"prefix", "34    0x22 at 0"}, {"sequence", "100   0x0064 at 1"}, {"distance", "1     0x01 at 3"},
			{"ack_bits 0", "251   0xfb at 4"}, {"payload", "2 bytes, 6869 at 5"},
		}},
		{"000000", []row{{"bytes", "3"}, {"prefix", "0     0x00 at 0"}, {"sequence", "0     0x0000 at 1"}, {"ack", "missing: 0 of 2 bytes are left"}}},
		{"010700010205", []row{
			{"bytes", "6"}, {"prefix", "1     0x01 at 0"}, {"sequence", "7     0x0007 at 1"}, {"fragment_id", "1     0x01 at 3"},
			{"num_fragments-1", "2     0x02 at 4"}, {"data", "1 bytes, 05 at 5"},
		}},
		{"0107000002200700", []row{
			{"bytes", "8"}, {"prefix", "1     0x01 at 0"}, {"sequence", "7     0x0007 at 1"}, {"fragment_id", "0     0x00 at 3"}, {"num_fragments-1", "2     0x02 at 4"},
			{"embedded prefix", "32    0x20 at 5"}, {"embedded sequence", "7     0x0007 at 6"}, {"embedded distance", "missing: 0 of 1 bytes are left"},
		}},
		{"zz", []row{{"hex", `"zz"`}}},
	} {
		request, err := parseValue([]byte(`{"op":"packet_decode","hex":"` + c.hex + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, drawHex(request, c.hex), cmp.AllowUnexported(row{})); diff != "" {
			t.Errorf("%s: %s", c.hex, diff)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32() & 0x3f)
		}
		if rows := drawPacket(hex.EncodeToString(b)); len(rows) == 0 {
			t.Fatalf("%x: nothing drawn", b)
		}
	}
}
