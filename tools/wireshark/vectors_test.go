package wireshark_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
)

const udpPort = 9000 // of the preference, so that what is not recognized is dissected, too

// request is one that decodes a datagram, or a payload.
type request struct {
	Op           string
	Type         string // of a bare body
	ProtocolID   uint32 `json:"protocol_id"`
	FragmentSize int    `json:"fragment_size"`
	MaxFragments int    `json:"max_fragments"`
	Lanes        int
	Variant      uint8
	Extensions   uint16
	Hex          *string
	bytes        []byte
}

type response struct {
	OK      bool
	Error   string
	Packet  map[string]any
	Message map[string]any
	Records []any
}

// vector is one of those that the dissector is to pass.
type vector struct {
	name string
	request
	response
}

// vectorsOf returns the vectors of an operation that have bytes.
func vectorsOf(t *testing.T, op string) (list []vector) {
	t.Helper()
	files, err := testvectors.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, v := range f.Vectors {
			one := vector{name: v.Name}
			if json.Unmarshal(v.Request, &one.request) != nil || one.Op != op || one.Type != "" || one.Hex == nil {
				continue
			}
			d := json.NewDecoder(bytes.NewReader(v.Response))
			d.UseNumber()
			if err = d.Decode(&one.response); err != nil {
				t.Fatal(v.Name, err)
			}
			if one.bytes, err = hex.DecodeString(*one.Hex); err == nil && one.Error != "bad_request" {
				list = append(list, one)
			}
		}
	}
	if len(list) == 0 {
		t.Fatalf("no vectors of %s", op)
	}
	return list
}

// dissectVectors puts datagrams to tshark, each between ends of its own, and returns what it says
// of each.
func dissectVectors(t *testing.T, list [][]byte, preferences ...string) (out [][]tree) {
	t.Helper()
	var all []datagram
	for i, b := range list {
		all = append(all, datagram{uint16(10000 + i), udpPort, b})
	}
	for _, f := range dissect(t, capture(t, all), append(preferences, fmt.Sprintf("port:%d", udpPort))...) {
		out = append(out, f.datagrams)
	}
	if len(out) != len(list) {
		t.Fatalf("%d frames of %d", len(out), len(list))
	}
	return out
}

// judge compares what tshark says with a vector: the fields of one that is accepted, code and
// sentence of one that is refused. err is what the codec says.
func judge(t *testing.T, v vector, said []tree, err error, got func(tree) any, want any) {
	t.Helper()
	if len(v.bytes) == 0 && v.Op != "records_decode" && v.Op != "connection_decode" {
		return // Wireshark gives an empty datagram to no dissector
	}
	if len(said) != 1 {
		t.Errorf("%s: %d datagrams", v.name, len(said))
		return
	}
	n := said[0]
	var refusal *core.Error
	switch errors.As(err, &refusal); {
	case v.OK != (refusal == nil):
		t.Errorf("%s: the codec says %v", v.name, err)
	case !v.OK && (n.text("refused") != v.Error || n.text("sentence") != refusal.Rule() || n.number("place") != fmt.Sprint(refusal.Place())):
		t.Errorf("%s: %q, %q at %q, want %v", v.name, n.text("refused"), n.text("sentence"), n.text("place"), err)
	case v.OK && n.has("refused"):
		t.Errorf("%s: refused: %q, %q", v.name, n.text("refused"), n.text("sentence"))
	case v.OK:
		if diff := cmp.Diff(textOf(want), textOf(plainFacts(got(n)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v.name, diff)
		}
	}
}

// plainFacts makes facts comparable with JSON.
func plainFacts(v any) any {
	switch v := v.(type) {
	case facts:
		m := map[string]any{}
		for name, member := range v {
			m[name] = member
		}
		return m
	case []facts:
		list := []any{}
		for _, f := range v {
			list = append(list, plainFacts(f))
		}
		return list
	}
	return v
}

func bytesOf(list []vector) (out [][]byte) {
	for _, v := range list {
		out = append(out, v.bytes)
	}
	return out
}

func TestVectorsOfChunks(t *testing.T) {
	t.Parallel()
	need(t, "tshark")
	byID := map[uint32][]vector{}
	for _, v := range vectorsOf(t, "decode_packet") {
		byID[v.ProtocolID] = append(byID[v.ProtocolID], v)
	}
	for id, list := range byID {
		said := dissectVectors(t, bytesOf(list), "protocol:plain chunks", "variant:slices", fmt.Sprintf("protocol_ids:%#x", id))
		for i, v := range list {
			_, err := codec.NewFramer(id).Decode(v.bytes)
			judge(t, v, said[i], err, func(n tree) any { return chunkFacts(n) }, v.Packet)
		}
	}
}

func TestVectorsOfRepairSlices(t *testing.T) {
	t.Parallel()
	need(t, "tshark")
	list := vectorsOf(t, "repair_decode")
	said := dissectVectors(t, bytesOf(list), "protocol:plain chunks", "variant:repair slices")
	for i, v := range list {
		_, err := codec.Repair.Framer(v.ProtocolID).Decode(v.bytes)
		judge(t, v, said[i], err, func(n tree) any { return chunkFacts(n) }, v.Packet)
	}
}

func TestVectorsOfPackets(t *testing.T) {
	t.Parallel()
	need(t, "tshark")
	byFormat := map[packet.Format][]vector{}
	for _, v := range vectorsOf(t, "packet_decode") {
		f := packet.Format{FragmentSize: v.FragmentSize, MaxFragments: v.MaxFragments}
		byFormat[f] = append(byFormat[f], v)
	}
	for f, list := range byFormat {
		said := dissectVectors(t, bytesOf(list), "protocol:packets", fmt.Sprintf("fragment_size:%d", f.FragmentSize), fmt.Sprintf("max_fragments:%d", f.MaxFragments))
		for i, v := range list {
			_, err := f.Decode(v.bytes)
			judge(t, v, said[i], err, func(n tree) any { return packetFacts(n) }, v.Packet)
		}
	}
}

func TestVectorsOfSessions(t *testing.T) {
	t.Parallel()
	need(t, "tshark")
	// The handshakes and the data of the vectors have nothing to do with each other.
	var messages, data []vector
	for _, v := range vectorsOf(t, "session_decode") {
		if v.OK && v.Message["type"] == "data" {
			data = append(data, v)
		} else {
			messages = append(messages, v)
		}
	}
	for _, list := range [][]vector{messages, data} {
		said := dissectVectors(t, bytesOf(list), "protocol:connections")
		for i, v := range list {
			if v.Message["type"] == "data" {
				// What the bodies are is not decoded there, and most are no packets.
				delete(v.Message, "body")
				said[i][0].values["refused"] = nil
			}
			_, err := session.Decode(v.bytes)
			judge(t, v, said[i], err, func(n tree) any { return messageFacts(n) }, v.Message)
		}
	}
}

// Payloads go in envelopes of the mode crc, behind a LINKED that has what the ends agreed on.
func TestVectorsOfPayloads(t *testing.T) {
	t.Parallel()
	need(t, "tshark")
	channels := vectorsOf(t, "records_decode")
	for i := range channels {
		channels[i].Lanes, channels[i].Extensions = 16, session.ExtensionECN
	}
	var list []vector
	var sent [][]byte
	left := map[string]int{}
	for _, v := range append(channels, vectorsOf(t, "connection_decode")...) {
		if why := notInAPacket(v); why != "" {
			left[why]++
			continue
		}
		list = append(list, v)
		linked, data := inEnvelope(uint32(len(list)), v)
		sent = append(sent, linked, data)
	}
	t.Log("left out:", left)
	said := dissectVectors(t, sent, "protocol:connections")
	for i, v := range list {
		judge(t, v, said[2*i+1], asInConnection(decodePayload(v)), func(n tree) any { return recordsFacts(n) }, v.Records)
	}
}

// notInAPacket says why a payload is not put to the dissector.
func notInAPacket(v vector) string {
	switch {
	case len(v.bytes) == 0:
		return "empty: the packet is refused"
	case len(v.bytes) > session.LargestBody-4:
		return "larger than a datagram"
	case bytes.HasSuffix(v.bytes, []byte("a\x00b")):
		return "a zero byte in a text, which Wireshark takes for its end"
	case v.Op == "records_decode" && v.Error == "unknown_record" && hasOwnType(v):
		return "of a type that connections have"
	}
	return ""
}

// hasOwnType reports whether the record that the channels refuse is one of connections.
func hasOwnType(v vector) bool {
	var refusal *core.Error
	errors.As(decodePayload(v), &refusal)
	return connection.Format{ECN: true, Clock: true}.IsRecord(v.bytes, refusal.Place())
}

func inEnvelope(link uint32, v vector) (linked, data []byte) {
	m := session.Message{Kind: session.KindLinked, Agreed: session.Agreed{Link: link, Lanes: v.Lanes, Extensions: v.Extensions, Timeout: 10_000_000}}
	binary.LittleEndian.PutUint32(m.Nonce[:], link)
	if v.Lanes > 0 {
		m.Agreed.Variant = max(v.Variant, session.VariantSlices)
	}
	linked, err := m.Append(nil)
	if err != nil {
		panic(err)
	}
	body := append(packet.Header{Sequence: 7, Ack: 6, AckBits: 0xffffffff}.Append(nil), v.bytes...)
	m = session.Message{Kind: session.KindCRC, Agreed: session.Agreed{Link: link}, Body: body, Tag: make([]byte, 4)}
	if data, err = m.Append(nil); err != nil {
		panic(err)
	}
	return linked, data
}

// decodePayload decodes a payload as the vectors do.
func decodePayload(v vector) (err error) {
	own := connection.Format{Lanes: v.Lanes, Repair: v.Variant == session.VariantRepair, ECN: v.Extensions&session.ExtensionECN != 0, Clock: v.Extensions&session.ExtensionClock != 0}
	for at, more := 0, true; more; more = at < len(v.bytes) {
		if v.Op == "connection_decode" && own.IsRecord(v.bytes, at) {
			var r connection.Record
			at, err = own.Decode(v.bytes, at, &r)
		} else {
			var r channel.Record
			at, err = channel.Format{Window: 16384}.Decode(v.bytes, at, &r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// asInConnection returns an error as the document of connections has it.
func asInConnection(err error) error {
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Rule() != "CHR-21" {
		return err
	}
	_, e := connection.Format{}.Decode(append(make([]byte, refusal.Place()), 0xff), refusal.Place(), &connection.Record{})
	return e
}
