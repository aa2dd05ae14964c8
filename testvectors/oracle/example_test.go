package oracle

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"testing"
)

// example is a request or a response of the document's worked examples.
type example struct {
	Op         string
	ProtocolID uint32 `json:"protocol_id"`
	Hex        string
	Error      string
	Packet     struct {
		Type      string
		ChunkID   int64 `json:"chunk_id"`
		SliceID   int64 `json:"slice_id"`
		NumSlices int64 `json:"num_slices"`
		Data      string
		Acked     string
	}
}

func (e example) packet() Packet {
	p := Packet{Type: e.Packet.Type, ChunkID: e.Packet.ChunkID, SliceID: e.Packet.SliceID, NumSlices: e.Packet.NumSlices}
	if p.Type == TypeAck {
		p.NumSlices = int64(len(e.Packet.Acked))
		for _, c := range e.Packet.Acked {
			p.Acked = append(p.Acked, c == '1')
		}
		return p
	}
	p.Data, _ = hex.DecodeString(e.Packet.Data)
	return p
}

// The worked examples of section 6.4, as they stand in the document.
func TestWorkedExamples(t *testing.T) {
	spec, err := os.ReadFile("../../spec/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, b := range regexp.MustCompile("(?s)```json\n(.*?)\n(.*?)\n```").FindAllSubmatch(spec, -1) {
		var q, a example
		if json.Unmarshal(b[1], &q) != nil || json.Unmarshal(b[2], &a) != nil {
			t.Fatalf("no JSON: %s", b[0])
		}
		if q.Op == "sender" || q.Op == "receiver" {
			continue
		}
		seen++
		work(t, q, a)
	}
	if seen != 5 {
		t.Errorf("%d examples, want 5", seen)
	}
}

func work(t *testing.T, q, a example) {
	t.Helper()
	in, _ := hex.DecodeString(q.Hex)
	var got []byte
	var err error
	var back Packet
	switch q.Op {
	case "encode_body":
		got, err = EncodeBody(q.packet())
		back, _ = DecodeBody(q.Packet.Type, got)
	case "encode_packet":
		got, err = EncodeDatagram(q.ProtocolID, q.packet())
		back, _ = DecodeDatagram(q.ProtocolID, got)
	case "decode_packet":
		_, err = DecodeDatagram(q.ProtocolID, in)
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != a.Error {
			t.Errorf("%s: %v, want %s", q.Op, err, a.Error)
		}
		return
	default:
		t.Fatalf("an example of %s", q.Op)
	}
	if err != nil || hex.EncodeToString(got) != a.Hex {
		t.Errorf("%s: %x, %v, want %s", q.Op, got, err, a.Hex)
	}
	if !reflect.DeepEqual(back, q.packet()) {
		t.Errorf("%s comes back as %+v", a.Hex, back)
	}
}

// The hash that ACC-3 names.
func TestHashOfTheDocument(t *testing.T) {
	const want = "c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5"
	if got := fmt.Sprintf("%x", Accumulate(1, 1000)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
