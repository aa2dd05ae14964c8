package formats_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
)

// decodings are the layouts of the operations that decode.
var decodings = map[string]string{
	"decode_packet": "chunk-datagram", "decode_body": "chunk-body", "repair_decode": "repair-datagram", "packet_decode": "packet",
	"records_decode": "channel-payload", "connection_decode": "connection-payload", "session_decode": "session-message",
}

// sample is bytes that a vector has decoded.
type sample struct {
	name   string
	bytes  []byte
	in     layout.Parameters
	given  layout.Values
	accept bool
}

// samples are those of all vectors.
func samples(t *testing.T) (list []sample) {
	names, err := filepath.Glob("../../testvectors/files/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Vectors []struct {
				Request struct {
					Op, Hex, Type              string
					ProtocolID                 *int64 `json:"protocol_id"`
					FragmentSize               int64  `json:"fragment_size"`
					MaxFragments               int64  `json:"max_fragments"`
					Lanes, Variant, Extensions int64
				}
				Response struct{ Ok bool }
			}
		}
		if json.Unmarshal(text, &file) != nil {
			continue // a contract's, with values of other types
		}
		for _, v := range file.Vectors {
			q := v.Request
			s := sample{name: decodings[q.Op], accept: v.Response.Ok, given: layout.Values{"type": q.Type}}
			if s.bytes, err = hex.DecodeString(q.Hex); s.name == "" || err != nil {
				continue
			}
			s.in = layout.Parameters{"LANES": q.Lanes, "REPAIR": q.Variant / 2, "MARKS": q.Extensions % 2, "CLOCKS": q.Extensions / 2 % 2}
			if q.MaxFragments > 0 && q.FragmentSize > 0 {
				s.in["FRAGMENT_SIZE"], s.in["MAX_FRAGMENTS"] = q.FragmentSize, q.MaxFragments
			}
			if q.ProtocolID != nil {
				s.in["PROTOCOL_ID"] = *q.ProtocolID
			} else if q.Op == "repair_decode" {
				s.name = "repair-body"
			}
			list = append(list, s)
		}
	}
	return list
}

// small are parameters with which much of what the others allow is too large.
func small(p layout.Parameters) layout.Parameters {
	q := layout.Parameters{"WINDOW": int64(64), "DATA": int64(4), "GROUP": int64(4), "LANES": int64(1)}
	for name, v := range p {
		if q[name] == nil {
			q[name] = v
		}
	}
	return q
}

// mostMutated is how many samples of a format are mutated.
const mostMutated = 15

// What is decoded with a fault or two is refused by the packages as by the layouts, and values that
// are changed are refused or encoded alike.
func TestMutations(t *testing.T) {
	all := samples(t)
	count := map[string]int{}
	for _, s := range all {
		if s.accept && len(s.bytes) < 400 {
			count[s.name]++
		}
	}
	if len(count) != len(decodings)+1 {
		t.Errorf("formats: %v", count)
	}
	seen := map[string]int{}
	for _, s := range all {
		formats.Check(t, s.name, s.bytes, s.in, s.given)
		if !s.accept || len(s.bytes) >= 400 {
			continue
		}
		if seen[s.name]++; seen[s.name]%(1+count[s.name]/mostMutated) != 0 {
			continue
		}
		for _, in := range []layout.Parameters{s.in, small(s.in)} {
			for m := range layout.Mutations(s.name, s.bytes, in, s.given) {
				formats.Check(t, s.name, m, in, s.given)
			}
			v, _ := layout.Decode(s.name, s.bytes, s.in, s.given)
			if v["type"] == "data" {
				continue
			}
			for m := range layout.ValueMutations(v) {
				formats.CheckValues(t, s.name, m, in, nil)
			}
		}
	}
}
