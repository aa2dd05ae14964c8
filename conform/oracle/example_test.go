package oracle_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle"
)

// example is a request or a response.
type example struct {
	Op         string
	ProtocolID uint32 `json:"protocol_id"`
	Hex        string
	Packet     map[string]json.RawMessage
	Error      string
}

// packetOf returns the packet of a request.
func packetOf(t *testing.T, q *example) (p oracle.Packet) {
	t.Helper()
	v, err := layout.FromJSON("chunk-datagram", q.Packet, nil)
	if err != nil {
		t.Fatal(err)
	}
	layout.Names{}.Put(v, &p)
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
		work(t, &q, &a)
	}
	if seen != 5 {
		t.Errorf("%d examples, want 5", seen)
	}
}

func work(t *testing.T, q, a *example) {
	t.Helper()
	var got []byte
	var err error
	var back oracle.Packet
	switch q.Op {
	case "encode_body":
		got, err = oracle.EncodeBody(packetOf(t, q))
		back, _ = oracle.DecodeBody(packetOf(t, q).Type, got)
	case "encode_packet":
		got, err = oracle.EncodeDatagram(q.ProtocolID, packetOf(t, q))
		back, _ = oracle.DecodeDatagram(q.ProtocolID, got)
	case "decode_packet":
		in, _ := hex.DecodeString(q.Hex)
		_, err = oracle.DecodeDatagram(q.ProtocolID, in)
		var refused *oracle.Error
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
	if diff := cmp.Diff(packetOf(t, q), back); diff != "" {
		t.Errorf("%s is decoded to (-want +got):\n%s", a.Hex, diff)
	}
}

// The hash that ACC-3 names.
func TestHashOfTheDocument(t *testing.T) {
	const want = "c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5"
	if got := fmt.Sprintf("%x", oracle.Accumulate(1, 1000)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
