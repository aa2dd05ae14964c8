package inspect_test

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/spec"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

// decodeRequest has the members of all requests to decode.
type decodeRequest struct {
	Op           string  `json:"op"`
	Type         string  `json:"type"`
	ProtocolID   *uint32 `json:"protocol_id"`
	Hex          string  `json:"hex"`
	FragmentSize int     `json:"fragment_size"`
	MaxFragments int     `json:"max_fragments"`
	Lanes        int     `json:"lanes"`
	Variant      int     `json:"variant"`
	Extensions   int     `json:"extensions"`
	Window       int     `json:"window"`
	Data         int     `json:"data"`
	Group        int     `json:"group"`
}

// options returns what a request is about.
func (q *decodeRequest) options() (o inspect.Options, ok bool) {
	if q.ProtocolID != nil {
		o.ProtocolIDs = []uint32{*q.ProtocolID}
	}
	ack := q.Type == "ack"
	switch q.Op {
	case "decode_packet":
		o.As = inspect.Chunks
	case "decode_body":
		o.As = map[bool]inspect.Protocol{true: inspect.AckBody, false: inspect.SliceBody}[ack]
	case "repair_decode":
		o.As = map[bool]inspect.Protocol{true: inspect.RepairAckBody, false: inspect.RepairSliceBody}[ack]
		if q.Type == "" {
			o.As = inspect.Repair
		}
	case "packet_decode":
		o.As, o.Packets = inspect.Packets, packet.Format{FragmentSize: q.FragmentSize, MaxFragments: q.MaxFragments}
	case "records_decode":
		o.As = inspect.Records
		o.Channels.Window, o.Channels.Data, o.Channels.Group = q.Window, q.Data, q.Group
	case "connection_decode":
		o.As = inspect.ConnectionRecords
		o.Records = &connection.Format{Lanes: q.Lanes, Repair: q.Variant == 2, ECN: q.Extensions&1 == 1, Clock: q.Extensions&2 == 2}
	case "session_decode":
		o.As = inspect.Connection
	default:
		return o, false
	}
	return o, true
}

// Every datagram that a vector decodes has a tree whose leaves are all its bits, once each; every
// one that a vector refuses is refused with the same code and place, by a sentence that has that
// code.
func TestVectors(t *testing.T) {
	files := check.Must(testvectors.Load())
	accepted, refused := 0, 0
	for _, f := range files {
		for _, v := range f.Vectors {
			var q decodeRequest
			var want struct {
				OK    bool   `json:"ok"`
				Error string `json:"error"`
				At    *int   `json:"at"`
			}
			if json.Unmarshal(v.Request, &q) != nil || json.Unmarshal(v.Response, &want) != nil || want.Error == "bad_request" || want.Error == "unsupported" {
				continue
			}
			b, err := hex.DecodeString(q.Hex)
			opts, ok := q.options()
			if err != nil || !ok {
				continue
			}
			name := f.Group + " " + v.Name
			r := inspect.Datagram(b, opts)
			covers(t, name, b, &r)
			if q.Op == "session_decode" && r.Refused != nil && r.Refused.Layer != "datagram" {
				r.Refused = nil // the vector has any bytes in the envelope
			}
			check.That(t, (r.Refused == nil) == want.OK, name+": it is taken as the vector says: "+r.Summary)
			if want.OK {
				accepted++
				continue
			}
			refused++
			check.Same(t, name+": code", string(r.Refused.Code), want.Error)
			if want.At != nil {
				layer := r.Refused.Place
				if r.Refused.Unit == "byte" && r.Refused.Bit >= 0 {
					layer = r.Refused.Bit / 8
				}
				check.Same(t, name+": place", layer, *want.At)
			}
			_, known := spec.Find(r.Refused.Sentence)
			check.That(t, known, name+": the sentence is "+r.Refused.Sentence)
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	check.That(t, accepted > 500 && refused > 1000, "there are as many vectors as there were")
}

// covers makes sure that the leaves are all bits once, in order, with values, and that each field has a
// sentence, unless it is what a refusal left.
func covers(t *testing.T, name string, b []byte, r *inspect.Result) {
	t.Helper()
	at := 0
	for i := range r.Fields {
		r.Fields[i].Leaves(func(f *inspect.Field) {
			check.Same(t, name+": where "+f.Name+" begins", f.Bit, at)
			check.That(t, f.Bits > 0 && f.Value != nil, name+": "+f.Name+" has bits and a value")
			_, known := spec.Find(f.Sentence)
			check.Same(t, name+": there is a sentence of "+f.Name+", "+f.Sentence, known, f.Name != "rest" && f.Name != "bytes")
			at += f.Bits
		})
	}
	check.Same(t, name+": bits in the tree", at, 8*len(b))
}
