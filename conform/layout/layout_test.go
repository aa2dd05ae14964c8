package layout_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/layout"
)

type request = map[string]json.RawMessage

// answer answers a request about bytes by the layouts alone, with the sentence that refuses; ok is
// false if it is another request.
func answer(q request) (a map[string]any, check string, ok bool) {
	text := func(name string) (s string) { json.Unmarshal(q[name], &s); return s }
	numberOf := func(name string) (n int64) { json.Unmarshal(q[name], &n); return n }
	object := func(name string) (o request) { json.Unmarshal(q[name], &o); return o }
	bytesOf := func() []byte { b, _ := hex.DecodeString(text("hex")); return b }
	p := layout.Parameters{"PROTOCOL_ID": numberOf("protocol_id")}
	for field, name := range map[string]string{"fragment_size": "FRAGMENT_SIZE", "max_fragments": "MAX_FRAGMENTS", "lanes": "LANES"} {
		if q[field] != nil {
			p[name] = numberOf(field)
		}
	}
	if numberOf("variant") == 2 {
		p["REPAIR"] = int64(1)
	}
	p["MARKS"], p["CLOCKS"] = numberOf("extensions")%2, numberOf("extensions")/2%2
	op := text("op")
	protocol := map[string]string{"encode_packet": "chunk", "decode_packet": "chunk", "encode_body": "chunk", "decode_body": "chunk", "repair_encode": "repair", "repair_decode": "repair"}[op]
	name := protocol + "-body"
	if op == "encode_packet" || op == "decode_packet" || protocol == "repair" && q["protocol_id"] != nil {
		name = protocol + "-datagram"
	}
	encode := func(name, member string, o request) {
		v, err := layout.FromJSON(strings.Replace(name, "-body", "-datagram", 1), o, p) // which has the type
		if err != nil {
			a = map[string]any{"ok": false, "error": "bad_request"}
			return
		}
		b, refused := layout.Encode(name, v, p)
		if a = map[string]any{"ok": true, "hex": hex.EncodeToString(b)}; refused != nil {
			a = map[string]any{"ok": false, "error": refused.Code, "at": refused.At}
			check = refused.Check
		}
	}
	decode := func(name, member string, given layout.Values) {
		v, refused := layout.Decode(name, bytesOf(), p, given)
		if refused != nil {
			a = map[string]any{"ok": false, "error": refused.Code, "at": refused.At}
			check = refused.Check
			return
		}
		o := layout.JSON(name, v, p)
		if a = map[string]any{"ok": true, member: o}; member == "records" {
			a[member] = o[0].Value
		}
	}
	switch op {
	case "encode_packet", "encode_body", "repair_encode":
		encode(name, "packet", object("packet"))
	case "decode_packet", "decode_body", "repair_decode":
		given := layout.Values{}
		if q["type"] != nil {
			given["type"] = text("type")
		}
		decode(name, "packet", given)
		if p, ok := a["packet"].(layout.Object); ok && q["type"] != nil {
			a["packet"] = append(layout.Object{{Name: "type", Value: text("type")}}, p...)
		}
	case "packet_header":
		encode("packet-header", "", q)
	case "packet_decode":
		decode("packet", "packet", nil)
	case "records_encode":
		encode("channel-payload", "", q)
	case "records_decode":
		decode("channel-payload", "records", nil)
	case "connection_encode":
		encode("connection-payload", "", q)
	case "connection_decode":
		decode("connection-payload", "records", nil)
	case "session_encode":
		encode("session-message", "", object("message"))
	case "session_decode":
		decode("session-message", "message", nil)
	default:
		return nil, "", false
	}
	if protocol != "" {
		delete(a, "at")
	}
	return a, check, true
}

// Each vector about bytes is answered by the layouts as by the oracle that made it.
func TestVectors(t *testing.T) {
	names, err := filepath.Glob("../../testvectors/files/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Vectors []struct {
				Name     string
				Request  request
				Response map[string]any

				Sentences []string
			}
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for _, v := range file.Vectors {
			if v.Response["error"] == "bad_request" {
				continue // of the contract, not of a format
			}
			a, check, ok := answer(v.Request)
			if !ok {
				continue
			}
			examples := strings.Contains(v.Name, "examples/") || strings.Contains(v.Name, "contract/") // they have the sentences of their section
			if check != "" && !examples && !slices.Contains(v.Sentences, check) {
				t.Errorf("%s is refused by %s, not by one of %v", v.Name, check, v.Sentences)
			}
			asked[string(v.Request["op"])]++
			var got map[string]any
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			if json.Unmarshal(text, &got); !reflect.DeepEqual(got, v.Response) {
				t.Errorf("%s: %s, want %v", v.Name, text, v.Response)
			}
		}
	}
	t.Log(asked)
}
