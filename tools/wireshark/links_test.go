package wireshark_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

const client, server = 40000, 40001 // ports

// must returns bytes that an encoder made.
func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func slice(chunk uint16, id, of int) codec.Slice {
	s := codec.Slice{ChunkID: chunk, SliceID: id, NumSlices: of, Data: make([]byte, codec.SliceSize)}
	if s.Last() {
		s.Data = []byte{1, 2, 3}
	}
	return s
}

func ack(chunk uint16, of int, acked ...int) codec.Ack {
	a := codec.Ack{ChunkID: chunk, NumSlices: of, Acked: core.Set{}}
	for _, id := range acked {
		a.Acked.Add(id)
	}
	return a
}

// plainTalk is a chunk of three slices by plain datagrams: slice 1 is lost and goes again, slice 0
// goes again though it was acked. Numbers of frames begin with 1.
func plainTalk(id uint32) []datagram {
	f := codec.NewFramer(id)
	send := func(i int) datagram {
		return datagram{client, server, must(f.AppendSlice(nil, slice(5, i, 3)))}
	}
	answer := func(acked ...int) datagram {
		return datagram{server, client, must(f.AppendAck(nil, ack(5, 3, acked...)))}
	}
	return []datagram{
		send(0), send(1), send(2), // frames 1 to 3
		answer(0, 2),     // 4
		send(1), send(0), // 5, 6
		answer(0, 1, 2), // 7
	}
}

// Slices are linked with those that they repeat and the acks that they get, acks with the slices
// that they are the first to ack.
func TestLinksOfChunks(t *testing.T) {
	need(t, "tshark")
	frames := dissect(t, capture(t, plainTalk(protocolID)))
	checkLinks(t, frames, "slice.acked_in", "4", "7", "4", "", "7", "4", "")
	checkLinks(t, frames, "resend", "", "", "", "", "2", "1", "")
	checkLinks(t, frames, "resend_after_ack", "", "", "", "", "", "4", "")
	checkLinks(t, frames, "ack.complete", "", "", "", "0", "", "", "1")
	check.Equal(t, "first acked by frame 4", frames[3].datagrams[0].values["ack.first"], []string{"1", "3"})
	check.Equal(t, "first acked by frame 7", frames[6].datagrams[0].values["ack.first"], []string{"2"})
}

// checkLinks compares a field of each frame.
func checkLinks(t *testing.T, frames []frame, field string, want ...string) {
	t.Helper()
	var got []string
	for _, f := range frames {
		got = append(got, f.datagrams[0].text(field))
	}
	check.Equal(t, field, got, want)
}

// A protocol id that is not among the preferences is found, and what has another one is refused.
func TestFindsProtocolID(t *testing.T) {
	need(t, "tshark")
	const id = 0xcafe
	list := append(plainTalk(id), plainTalk(0xdead)[0])
	frames := dissect(t, capture(t, list))
	for i, f := range frames[:7] {
		check.Same(t, fmt.Sprintf("protocol id of frame %d", i+1), f.datagrams[0].number("protocol_id"), fmt.Sprint(id))
	}
	check.Same(t, "the other one", frames[7].datagrams[0].text("refused"), "crc_mismatch")
	frames = dissect(t, capture(t, list), "find_ids:false")
	check.Same(t, "without finding", frames[0].datagrams[0].text("sentence"), "DEC-2")
	frames = dissect(t, capture(t, list), "find_ids:false", "protocol_ids:1, 0xcafe")
	check.Same(t, "among the preferences", frames[0].datagrams[0].text("refused"), "")
}

// Datagrams that offload has joined are cut, and each is linked.
func TestCutsAndLinks(t *testing.T) {
	need(t, "tshark")
	f := codec.NewFramer(protocolID)
	var joined []byte
	for i := range 4 {
		joined = must(f.AppendSlice(joined, slice(5, i, 4)))
	}
	again := must(f.AppendSlice(nil, slice(5, 2, 4)))
	frames := dissect(t, capture(t, []datagram{
		{client, server, joined}, {client, server, again}, {server, client, must(f.AppendAck(nil, ack(5, 4, 0, 1, 2, 3)))},
	}))
	check.Same(t, "datagrams", len(frames[0].datagrams), 4)
	check.Same(t, "resend", frames[1].datagrams[0].text("resend"), "1")
	check.Same(t, "first acked", frames[2].datagrams[0].text("ack.first"), "1")
	for i, d := range frames[0].datagrams {
		check.Same(t, "slice", d.number("slice.id"), fmt.Sprint(i))
		check.Same(t, "acked in", d.text("slice.acked_in"), "3")
	}
}

// connectionTalk is a handshake and a chunk of two slices in envelopes; frame 8 is frame 6 again,
// duplicated on the way.
func connectionTalk() []datagram {
	offer := session.Offer{Nonce: session.Nonce{1, 0, 16}, Protocol: protocolID, Mode: session.CRC, Lanes: 2, Variants: session.VariantSlices, Timeout: 10_000_000}
	agreed := session.Agreed{Link: 0x1234, Lanes: 2, Variant: session.VariantSlices, Timeout: 10_000_000}
	message := func(from, to uint16, m session.Message) datagram { return datagram{from, to, must(m.Append(nil))} }
	out := session.NewLink(session.LinkConfig{Mode: session.CRC, Agreed: agreed})
	in := session.NewLink(session.LinkConfig{Mode: session.CRC, Agreed: agreed})
	format := connection.Format{Lanes: 2}
	send := func(number uint16, id int) datagram {
		b := packet.Header{Sequence: number, Ack: 65535}.Append(nil)
		payload := must(format.Append(nil, &connection.Record{Type: connection.TypeSlice, Lane: 1, Slice: slice(9, id, 2)}))
		return datagram{client, server, out.Seal(nil, append(b, payload...))}
	}
	list := []datagram{
		message(client, server, session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}, Offer: offer}),
		message(server, client, session.Message{Kind: session.KindChallenge, Offer: session.Offer{Nonce: offer.Nonce}}),
		message(client, server, session.Message{Kind: session.KindProof, Offer: offer}),
		message(server, client, session.Message{Kind: session.KindLinked, Offer: session.Offer{Nonce: offer.Nonce}, Agreed: agreed}),
		send(0, 0), send(1, 1), send(2, 0),
	}
	list = append(list, list[5])
	b := packet.Header{Sequence: 0, Ack: 2, AckBits: 7}.Append(nil)
	payload := must(format.Append(nil, &connection.Record{Type: connection.TypeChunkAck, Lane: 1, Ack: ack(9, 2, 0, 1)}))
	return append(list, datagram{server, client, in.Seal(nil, append(b, payload...))})
}

func TestLinksOfConnections(t *testing.T) {
	need(t, "tshark")
	frames := dissect(t, capture(t, connectionTalk()))
	checkLinks(t, frames, "answers", "", "1", "2", "3", "", "", "", "", "")
	checkLinks(t, frames, "answered_in", "2", "3", "4", "", "", "", "", "", "")
	checkLinks(t, frames, "duplicate", "", "", "", "", "", "", "", "6", "")
	checkLinks(t, frames, "packet.acked_in", "", "", "", "", "9", "9", "9", "", "")
	record := func(i int) tree { return frames[i-1].datagrams[0].parts["record"][0] }
	check.Same(t, "resend", record(7).text("resend"), "5")
	check.Same(t, "acked in", record(6).text("slice.acked_in"), "9")
	check.Equal(t, "first acked", record(9).values["ack.first"], []string{"5", "6"})
	check.Equal(t, "packets acked", slices.Sorted(slices.Values(frames[8].datagrams[0].values["packet.acks"])), []string{"5", "6", "7"})
}

// A connection of which the capture has not the handshake is recognized by its counters.
func TestWithoutHandshake(t *testing.T) {
	need(t, "tshark")
	frames := dissect(t, capture(t, connectionTalk()[4:]))
	check.Same(t, "slice", frames[1].datagrams[0].parts["record"][0].number("slice.id"), "1")
}

// Datagrams of others are not taken for ours.
func TestLeavesOthersAlone(t *testing.T) {
	need(t, "tshark")
	r := rand.New(rand.NewPCG(1, 0))
	var list []datagram
	for i := range 2000 {
		b := make([]byte, 1+r.IntN(1400))
		for k := range b {
			b[k] = byte(r.Uint32())
		}
		if i%2 == 0 { // also such as begin as ours do
			b[0] = []byte{0x40, 0x41, 0x42, 0x48, 0x49, 0x4a, 0x4b, 0x4c}[r.IntN(8)]
		}
		list = append(list, datagram{client, server, b})
	}
	for i, f := range dissect(t, capture(t, list)) {
		check.Same(t, fmt.Sprintf("frame %d: datagrams", i+1), len(f.datagrams), 0)
	}
}

// The filters of README are such as tshark takes, and each of the talks has what most of them find.
func TestFiltersOfReadme(t *testing.T) {
	need(t, "tshark")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Filters")
	table, _, _ = strings.Cut(table, "## Fields")
	var filters []string
	for _, m := range regexp.MustCompile("`(chunkwire[^`]+)`").FindAllStringSubmatch(table, -1) {
		filters = append(filters, "("+m[1]+")")
	}
	if len(filters) < 12 {
		t.Fatalf("%d filters", len(filters))
	}
	name := capture(t, append(plainTalk(protocolID), plainTalk(0xdead)[0]))
	out, err := tshark(t, name, "-2", "-Y", strings.Join(filters, " or "), "-T", "fields", "-e", "frame.number")
	if err != nil {
		t.Fatal(err)
	}
	check.Equal(t, "frames", strings.Fields(string(out)), strings.Fields("1 2 3 4 5 6 7 8"))
}

// What a capture has not is no fault of a datagram.
func TestShortCaptures(t *testing.T) {
	need(t, "tshark")
	for _, list := range [][]datagram{plainTalk(protocolID), connectionTalk()} {
		for _, most := range []int{28, 40, 70, 96} {
			for i, f := range dissect(t, captureShort(t, list, most), fmt.Sprintf("port:%d", server)) {
				for _, d := range f.datagrams {
					check.Same(t, fmt.Sprintf("frame %d of %d bytes, refused", i+1, most), d.text("refused"), "")
				}
			}
		}
	}
}

// Whatever the bytes are, the dissector has no error: dissect fails if it has one.
func TestMutatedCaptures(t *testing.T) {
	need(t, "tshark")
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	originals := append(plainTalk(protocolID), connectionTalk()...)
	for _, op := range []string{"decode_packet", "repair_decode", "packet_decode", "session_decode"} {
		for i, v := range vectorsOf(t, op) {
			if i%8 == 0 {
				originals = append(originals, datagram{client, server, v.bytes})
			}
		}
	}
	var list []datagram
	for range 2000 {
		d := originals[r.IntN(len(originals))]
		list = append(list, datagram{d.from, d.to, mutated(r, d.data, originals)})
	}
	name := capture(t, list)
	for _, preferences := range [][]string{
		nil, {"protocol:plain chunks"}, {"protocol:connections"}, {"protocol:packets"}, {"variant:repair slices", "find_ids:false"},
	} {
		t.Run(fmt.Sprint(preferences), func(t *testing.T) {
			t.Parallel()
			dissect(t, name, append(preferences, fmt.Sprintf("port:%d", server))...)
		})
	}
}

// mutated returns bytes with some changes: bits, cuts, bytes of another datagram behind.
func mutated(r *rand.Rand, b []byte, others []datagram) []byte {
	b = slices.Clone(b)
	for range r.IntN(4) {
		switch n := len(b); {
		case n > 0 && r.IntN(2) == 0:
			b[r.IntN(min(n, 80))] ^= 1 << r.IntN(8)
		case n > 0 && r.IntN(2) == 0:
			b = b[:r.IntN(n)]
		case n < 4000:
			b = append(b, others[r.IntN(len(others))].data...)
		}
	}
	return b
}
