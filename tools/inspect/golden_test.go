package inspect_test

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

var update = flag.Bool("update", false, "write the trees of the worked examples into testdata")

// exampleGroups are the worked examples of the documents.
var exampleGroups = []string{"examples", "repair-examples", "packet-examples", "channel-examples", "session-examples"}

// encodeRequest has what requests to encode have besides, so that their answers can be inspected.
type encodeRequest struct {
	Packet struct {
		Type string `json:"type"`
	} `json:"packet"`
	Mode  string   `json:"mode"`
	Key   string   `json:"key"`
	Link  uint32   `json:"link"`
	Taken []uint64 `json:"taken"`
}

// decodeOf are the requests that decode what others encode.
var decodeOf = map[string]string{
	"encode_packet": "decode_packet", "encode_body": "decode_body", "repair_encode": "repair_decode", "records_encode": "records_decode",
	"connection_encode": "connection_decode", "session_encode": "session_decode",
}

// example inspects the datagram of a vector, if it has one.
func example(v *testvectors.Vector) (r inspect.Result, b []byte, ok bool) {
	var q decodeRequest
	var e encodeRequest
	var answer struct{ Hex string }
	if json.Unmarshal(v.Request, &q) != nil || json.Unmarshal(v.Request, &e) != nil || json.Unmarshal(v.Response, &answer) != nil {
		return r, nil, false
	}
	if as, encodes := decodeOf[q.Op]; encodes {
		q.Op, q.Hex = as, answer.Hex
		if q.Type = e.Packet.Type; q.ProtocolID != nil {
			q.Type = ""
		}
	}
	if q.Op == "session_seal" {
		q.Hex = answer.Hex
	}
	b = check.Must(hex.DecodeString(q.Hex))
	if q.Op == "session_seal" || q.Op == "session_open" {
		return sealed(&e, b), b, true
	}
	opts, ok := q.options()
	if !ok || len(b) == 0 {
		return r, nil, false
	}
	return inspect.Datagram(b, opts), b, true
}

var modes = map[string]session.Mode{"crc": session.CRC, "mac": session.MAC, "aead": session.AEAD}

// sealed inspects a datagram of a connection that took others before.
func sealed(e *encodeRequest, b []byte) inspect.Result {
	key := session.Key(check.Must(hex.DecodeString(e.Key)))
	in := inspect.New(inspect.Options{As: inspect.Connection})
	in.Link(alice, e.Link, modes[e.Mode], key)
	for _, counter := range e.Taken {
		cfg := session.LinkConfig{Mode: modes[e.Mode], Agreed: session.Agreed{Link: e.Link}, Seal: key, Next: counter}
		in.Datagram(alice, bob, session.NewLink(cfg).Seal(nil, []byte{0}))
	}
	return in.Datagram(alice, bob, b)
}

// treeText is the tree of a datagram, a line a field.
func treeText(r *inspect.Result) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, size %d: %s\n", r.Protocol, r.Size, r.Summary)
	for _, note := range r.Notes {
		fmt.Fprintf(&s, "  note: %s\n", note)
	}
	if e := r.Refused; e != nil {
		fmt.Fprintf(&s, "  refused: %s at %s %d of the %s, bit %d, %s\n", e.Code, e.Unit, e.Place, e.Layer, e.Bit, e.Sentence)
	}
	var line func(f *inspect.Field, indent string)
	line = func(f *inspect.Field, indent string) {
		value := ""
		if f.Value != nil {
			value = fmt.Sprintf(" = %v", f.Value)
		}
		meaning := ""
		if f.Meaning != "" {
			meaning = " (" + f.Meaning + ")"
		}
		fmt.Fprintf(&s, "%s\n", strings.TrimRight(fmt.Sprintf("%s%d+%d %s%s%s %s", indent, f.Bit, f.Bits, f.Name, value, meaning, f.Sentence), " "))
		for i := range f.Fields {
			line(&f.Fields[i], indent+"  ")
		}
	}
	for i := range r.Fields {
		line(&r.Fields[i], "  ")
	}
	return s.String()
}

// The trees of the worked examples of the documents are those of the files in testdata.
func TestWorkedExamples(t *testing.T) {
	files := check.Must(testvectors.Load())
	for _, group := range exampleGroups {
		i := slices.IndexFunc(files, func(f testvectors.File) bool { return f.Group == group })
		check.That(t, i >= 0, "there is a group "+group)
		var got strings.Builder
		for j := range files[i].Vectors {
			v := &files[i].Vectors[j]
			if r, b, ok := example(v); ok {
				covers(t, v.Name, b, &r)
				fmt.Fprintf(&got, "%s: %x\n%s\n", v.Name, b, treeText(&r))
			}
		}
		name := filepath.Join("testdata", group+".txt")
		if *update {
			check.Must(0, os.WriteFile(name, []byte(got.String()), 0o666))
		}
		check.Equal(t, name, got.String(), string(check.Must(os.ReadFile(name))))
	}
}

// Each envelope that a vector seals is opened with its key, and each that a vector refuses to open is
// refused with the same code and place.
func TestEnvelopes(t *testing.T) {
	opened, refused := 0, 0
	for _, f := range check.Must(testvectors.Load()) {
		for _, v := range f.Vectors {
			var e encodeRequest
			var op struct{ Op, Hex string }
			var want struct {
				OK    bool
				Error string
				At    int
				Body  string
			}
			if json.Unmarshal(v.Request, &op) != nil || op.Op != "session_open" || json.Unmarshal(v.Response, &want) != nil || want.Error == "bad_request" {
				continue
			}
			check.Must(0, json.Unmarshal(v.Request, &e))
			b := check.Must(hex.DecodeString(op.Hex))
			if len(b) > 0 && session.Kind(b[0]) > session.KindAEAD {
				continue // a message of the handshake has no envelope
			}
			r := sealed(&e, b)
			covers(t, v.Name, b, &r)
			outer := r.Refused != nil && r.Refused.Layer == "datagram"
			switch {
			case want.OK:
				opened++
				check.That(t, !outer && len(r.Notes) == 0, v.Name+": it is opened: "+r.Summary)
			case want.Error == "unknown_link":
				check.That(t, len(r.Notes) == 1, v.Name+": a note says that the link is not known")
			default:
				refused++
				check.That(t, outer, v.Name+": it is refused: "+r.Summary)
				check.Same(t, v.Name+": code", string(r.Refused.Code), want.Error)
				check.Same(t, v.Name+": place", r.Refused.Place, want.At)
			}
		}
	}
	check.That(t, opened > 10 && refused > 10, fmt.Sprintf("there are vectors of both kinds: %d and %d", opened, refused))
}
