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

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// packetOf returns the packet of a request.
func packetOf(t *testing.T, c *contract.Packet) oracle.Packet {
	t.Helper()
	p := oracle.Packet{Type: c.Type, ChunkID: c.ChunkID}
	if c.Type == contract.TypeAck {
		p.NumSlices = int64(len(*c.Acked))
		for _, bit := range *c.Acked {
			p.Acked = append(p.Acked, bit == '1')
		}
		return p
	}
	data, err := hex.DecodeString(*c.Data)
	if err != nil {
		t.Fatal(err)
	}
	p.SliceID, p.NumSlices, p.Data = *c.SliceID, *c.NumSlices, data
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
		var q contract.Request
		var a contract.Response
		if json.Unmarshal(b[1], &q) != nil || json.Unmarshal(b[2], &a) != nil {
			t.Fatalf("no JSON: %s", b[0])
		}
		if q.Op == contract.OpSender || q.Op == contract.OpReceiver {
			continue
		}
		seen++
		work(t, q, a)
	}
	if seen != 5 {
		t.Errorf("%d examples, want 5", seen)
	}
}

func work(t *testing.T, q contract.Request, a contract.Response) {
	t.Helper()
	var got []byte
	var err error
	var back oracle.Packet
	switch q.Op {
	case contract.OpEncodeBody:
		got, err = oracle.EncodeBody(packetOf(t, q.Packet))
		back, _ = oracle.DecodeBody(q.Packet.Type, got)
	case contract.OpEncodePacket:
		got, err = oracle.EncodeDatagram(*q.ProtocolID, packetOf(t, q.Packet))
		back, _ = oracle.DecodeDatagram(*q.ProtocolID, got)
	case contract.OpDecodePacket:
		in, _ := hex.DecodeString(*q.Hex)
		_, err = oracle.DecodeDatagram(*q.ProtocolID, in)
		var refused *oracle.Error
		if !errors.As(err, &refused) || refused.Code != a.Error {
			t.Errorf("%s: %v, want %s", q.Op, err, a.Error)
		}
		return
	default:
		t.Fatalf("an example of %s", q.Op)
	}
	if err != nil || hex.EncodeToString(got) != *a.Hex {
		t.Errorf("%s: %x, %v, want %s", q.Op, got, err, *a.Hex)
	}
	if diff := cmp.Diff(packetOf(t, q.Packet), back); diff != "" {
		t.Errorf("%s is decoded to (-want +got):\n%s", *a.Hex, diff)
	}
}

// The hash that ACC-3 names.
func TestHashOfTheDocument(t *testing.T) {
	const want = "c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5"
	if got := fmt.Sprintf("%x", oracle.Accumulate(1, 1000)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
