package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// closeRecord, sliceRecord and ackRecord are the records of a connection; a slice is cut short.
func closeRecord(code int64, text string) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.Close, Code: code, Text: text}
}

func sliceRecord(lane int64, p oracle.Packet) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.Slice, Lane: lane, Packet: p}
}

func ackRecord(lane int64, p oracle.Packet) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.ChunkAck, Lane: lane, Packet: p}
}

func ecnRecord(arrived, congested int64) connectionoracle.Record {
	return connectionoracle.Record{Type: connectionoracle.ECN, Arrived: arrived, Congested: congested}
}

// ofChannel is a record of a channel in a payload of a connection.
func ofChannel(r channeloracle.Record) connectionoracle.Record {
	return connectionoracle.Record{Channel: r}
}

// connectionRecords is the records of a connection, encoded and decoded.
func connectionRecords(g *group) {
	why := func(comment, flags, sentences string) about { return about{comment, flags, sentences} }
	for _, code := range []int64{0, 1, 2, 255, 256, 4096, 65535} {
		g.connectionBothWays(fmt.Sprintf("close-%d", code), why("Catches a port that has the code in one byte, big-endian, or refuses one that it does not know.", "close byte-order", "CXR-1 CXR-4"), 0, closeRecord(code, ""))
	}
	for _, t := range []struct{ name, text string }{
		{"bye", "bye"}, {"two-bytes", "tsch\u00fc\u00df"}, {"four-bytes", "\U0001f44b"}, {"zero", "a\x00b"}, {"quote", "a \"b\" \\ c"},
		{"longest", strings.Repeat("x", 128)}, {"longest-of-two-bytes", strings.Repeat("\u00e9", 64)}, {"one", "x"},
	} {
		g.connectionBothWays("close-text-"+t.name, why("Catches a port that counts characters where bytes count, or ends a text at a zero.", "close data-length", "CXR-1"), 1, closeRecord(256, t.text))
	}
	for _, lane := range []int64{0, 1, 7, 15} {
		g.connectionBothWays(fmt.Sprintf("slice-lane-%d", lane), why(fmt.Sprintf("Catches a port that has no lane %d, or reads it elsewhere.", lane), "lane", "CXR-2 CXM-10"), lane+1, sliceRecord(lane, slice(5, 2, 3, []byte("hi"))))
		g.connectionBothWays(fmt.Sprintf("ack-lane-%d", lane), why(fmt.Sprintf("Catches a port that has no lane %d, or reads it elsewhere.", lane), "lane", "CXR-3 CXM-10"), lane+1, ackRecord(lane, ack(5, acked(3, even))))
	}
	for _, size := range []int{1, 1023, 1024} {
		g.connectionBothWays(fmt.Sprintf("slice-last-%d-bytes", size), why("Catches a port that gives a slice in a payload a length, a frame or an end check.", "data-length", "CXR-2"), 1, sliceRecord(0, slice(65535, 255, 256, repeated(9, size))))
	}
	g.connectionBothWays("slice-not-last", why("Catches a port that packs a slice that is not the last of its chunk in another way.", "last-slice", "CXR-2"), 1, sliceRecord(0, slice(1, 0, 2, repeated(3, 1024))))
	for _, n := range []int{1, 7, 8, 9, 16, 255, 256} {
		g.connectionBothWays(fmt.Sprintf("ack-%d-slices", n), why("Catches a port that has another length of an ack, or leaves its padding out.", "data-length alignment", "CXR-3"), 1, ackRecord(0, ack(0x1234, acked(n, uneven))))
	}
	g.rowsOfConnection()
}

// rowsOfConnection is payloads with several records, of channels, too.
func (g *group) rowsOfConnection() {
	why := about{"Catches a port that begins a record elsewhere than behind the one before.", "record-row", "CXR-5 CXM-1"}
	a := ackRecord(0, ack(5, acked(3, all)))
	b := ackRecord(1, ack(6, acked(20, even)))
	s := sliceRecord(1, slice(7, 0, 1, []byte("end")))
	r := ofChannel(report(1, 5, 500))
	m := ofChannel(message(2, 9, []byte("hello")))
	g.connectionBothWays("two-acks", why, 2, a, b)
	g.connectionBothWays("acks-and-a-slice", why, 2, a, b, s)
	g.connectionBothWays("ack-report-message-slice", why, 2, a, r, m, s)
	g.connectionBothWays("message-then-ack", why, 2, m, a)
	g.connectionBothWays("slice-behind-a-message", why, 2, m, s)
	g.connectionBothWays("records-of-channels-alone", why, 0, r, m)
	g.connectionBothWays("pad", about{"Catches a port that does not know a payload without records.", "record-type", "CXR-5 CXR-6"}, 0, ofChannel(pad))
	g.connectionBothWays("full", about{"Catches a port that refuses a payload with the largest slice and 128 bytes before it.", "size-limit", "CXM-1 CXR-2"}, 1,
		ofChannel(message(2, 9, repeated(1, 122))), sliceRecord(0, slice(1, 255, 256, repeated(3, 1024))))
}

// connectionRefuse is payloads and records that are refused.
func connectionRefuse(g *group) {
	g.decodeConnection("empty", about{"Catches a decoder that takes a payload without a byte.", "truncation", "CXR-5"}, "truncated@0", 1, nil)
	for _, v := range []byte{10, 11, 16, 127, 128, 255} {
		g.decodeConnection(fmt.Sprintf("type-%d", v), about{fmt.Sprintf("Catches a decoder that takes the type %d.", v), "record-type", "CXR-5"}, "unknown_record@0", 1, []byte{v, 0, 0, 0, 0})
	}
	g.refuseClose()
	g.refuseLanes()
	g.refuseBodies()
	g.refuseRows()
	g.refuseToEncodeConnection()
}

func (g *group) refuseClose() {
	whole := connectionPayload(0, closeRecord(256, "bye"))
	for _, cut := range []struct{ n, at int }{{1, 1}, {2, 1}, {3, 3}, {4, 4}, {5, 4}, {6, 4}} {
		g.decodeConnection(fmt.Sprintf("close-cut-to-%d", cut.n), about{"Catches a decoder that reads past the bytes that are there, or reports another byte than the first of the field that is not whole.", "truncation close", "CXR-5 CXR-1"}, fmt.Sprintf("truncated@%d", cut.at), 0, whole[:cut.n])
	}
	for _, length := range []byte{129, 200, 255} {
		g.decodeConnection(fmt.Sprintf("close-length-%d", length), about{"Catches a decoder that takes a text of more than 128 bytes.", "size-limit close", "CXR-5"}, "length@3", 0, joined([]byte{7, 0, 1, length}, repeated('x', int(length))))
	}
	g.decodeConnection("close-length-before-truncated", about{"Catches a decoder that makes its checks in another order.", "check-order close", "CXR-5"}, "length@3", 0, []byte{7, 0, 1, 129})
	for _, t := range []struct {
		name string
		b    []byte
	}{
		{"lone-continuation", []byte{0x80}}, {"cut-sequence", []byte{'a', 0xc3}}, {"overlong", []byte{0xc0, 0x80}}, {"overlong-slash", []byte{0xe0, 0x80, 0xaf}},
		{"surrogate", []byte{0xed, 0xa0, 0x80}}, {"too-large", []byte{0xf4, 0x90, 0x80, 0x80}}, {"ff", []byte{'a', 'b', 0xff}}, {"latin-1", []byte{'t', 0xfc, 's'}},
	} {
		g.decodeConnection("close-text-"+t.name, about{"Catches a decoder that gives an application what is no UTF-8.", "close canonical", "CXR-5"}, "text@4", 0, joined([]byte{7, 0, 1, byte(len(t.b))}, t.b))
	}
	g.decodeConnection("close-and-a-byte", about{"Catches a decoder that takes something behind a CLOSE.", "close trailing-data", "CXR-5"}, "not_alone@7", 0, joined(whole, []byte{0}))
	g.decodeConnection("close-and-a-record", about{"Catches a decoder that takes a record behind a CLOSE.", "close record-row", "CXR-5"}, "not_alone@7", 0, joined(whole, payload(status(1, 1))))
	g.decodeConnection("two-closes", about{"Catches a decoder that takes a second CLOSE.", "close record-row", "CXR-5"}, "not_alone@7", 0, joined(whole, whole))
	g.decodeConnection("record-and-a-close", about{"Catches a decoder that takes a CLOSE behind a record.", "close record-row", "CXR-5"}, "not_alone@4", 0, joined(payload(status(1, 1)), whole))
	g.decodeConnection("record-and-a-close-cut", about{"Catches a decoder that reads a CLOSE which is not the first record.", "close check-order", "CXR-5"}, "not_alone@4", 0, joined(payload(status(1, 1)), []byte{7}))
	g.decodeConnection("text-before-not-alone", about{"Catches a decoder that makes its checks in another order.", "check-order close", "CXR-5"}, "text@4", 0, []byte{7, 0, 1, 1, 0xff, 0})
}

func (g *group) refuseLanes() {
	s, a := sliceRecord(0, slice(5, 2, 3, []byte("hi"))), ackRecord(0, ack(5, acked(3, even)))
	for _, v := range []struct {
		lanes int64
		lane  byte
	}{{0, 0}, {2, 2}, {1, 255}, {8, 8}, {16, 16}, {16, 128}} {
		why := about{fmt.Sprintf("Catches a decoder that takes lane %d of %d.", v.lane, v.lanes), "lane", "CXR-5"}
		g.decodeConnection(fmt.Sprintf("slice-lane-%d-of-%d", v.lane, v.lanes), why, "lane@1", v.lanes, with(connectionPayload(1, s), 1, v.lane))
		g.decodeConnection(fmt.Sprintf("ack-lane-%d-of-%d", v.lane, v.lanes), why, "lane@1", v.lanes, with(connectionPayload(1, a), 1, v.lane))
	}
	g.decodeConnection("slice-lane-before-body", about{"Catches a decoder that makes its checks in another order.", "check-order lane", "CXR-5"}, "lane@1", 1, []byte{8, 1})
	g.decodeConnection("ack-lane-before-length", about{"Catches a decoder that makes its checks in another order.", "check-order lane", "CXR-5"}, "lane@1", 1, []byte{9, 1})
	g.decodeConnection("slice-without-lane", about{"Catches a decoder that reads past the end.", "truncation lane", "CXR-5"}, "truncated@1", 1, []byte{8})
	g.decodeConnection("ack-without-lane", about{"Catches a decoder that reads past the end.", "truncation lane", "CXR-5"}, "truncated@1", 1, []byte{9})
	g.decodeConnection("ack-without-length", about{"Catches a decoder that reads past the end.", "truncation", "CXR-5"}, "truncated@2", 1, []byte{9, 0})
}

// refuseBodies is bodies that the chunk protocol refuses, and their places.
func (g *group) refuseBodies() {
	s := connectionPayload(1, sliceRecord(0, slice(5, 2, 3, []byte("hi"))))
	for _, cut := range []struct{ n, at int }{{2, 2}, {3, 2}, {4, 4}, {5, 5}, {6, 6}, {7, 6}, {8, 8}, {9, 8}} {
		g.decodeConnection(fmt.Sprintf("slice-cut-to-%d", cut.n), about{"Catches a decoder that reads past the bytes of a slice, or reports another place.", "truncation", "CXR-5 DEC-17"}, fmt.Sprintf("truncated@%d", cut.at), 1, s[:cut.n])
	}
	g.decodeConnection("slice-and-a-byte", about{"Catches a decoder that passes over what is behind a slice.", "trailing-data", "CXR-5 DEC-17"}, "trailing_data@10", 1, joined(s, []byte{0}))
	g.decodeConnection("slice-padding", about{"Catches a decoder that does not look at the padding of a slice.", "padding canonical", "CXR-5 DEC-17"}, "nonzero_padding@7", 1, with(s, 7, s[7]|0x80))
	g.decodeConnection("slice-id-beyond", about{"Catches a decoder that takes a slice beyond its chunk.", "slice-id", "CXR-5 DEC-17"}, "slice_id_out_of_range@4", 1, with(s, 4, 3))
	a := connectionPayload(1, ackRecord(0, ack(5, acked(3, even))))
	for _, n := range []int{3, 4, 5, 6} {
		g.decodeConnection(fmt.Sprintf("ack-cut-to-%d", n), about{"Catches a decoder that compares the length of an ack with the whole payload.", "truncation", "CXR-5"}, "truncated@3", 1, a[:n])
	}
	for _, length := range []struct {
		n    byte
		want string
	}{{0, "truncated@3"}, {1, "truncated@3"}, {2, "truncated@5"}, {3, "truncated@6"}} {
		g.decodeConnection(fmt.Sprintf("ack-length-%d", length.n), about{"Catches a decoder that reads an ack beyond its length.", "data-length", "CXR-5 DEC-17"}, length.want, 1, with(a, 2, length.n))
	}
	g.decodeConnection("ack-length-5", about{"Catches a decoder that passes over what is behind an ack.", "data-length trailing-data", "CXR-5 DEC-17"}, "trailing_data@7", 1, joined(with(a, 2, 5), []byte{0}))
	g.decodeConnection("ack-padding", about{"Catches a decoder that does not look at the padding of an ack.", "padding canonical", "CXR-5 DEC-17"}, "nonzero_padding@6", 1, with(a, 6, a[6]|0x10))
}

// refuseRows is a fault behind other records.
func (g *group) refuseRows() {
	a, m := ackRecord(0, ack(5, acked(3, even))), ofChannel(message(2, 9, []byte("hello")))
	before := connectionPayload(1, a, m)
	n := len(before)
	why := about{"Catches a decoder that reports a place from the record's begin, or takes the records before a fault.", "record-row", "CXR-5"}
	g.decodeConnection("slice-behind-is-cut", why, fmt.Sprintf("truncated@%d", n+2), 1, joined(before, []byte{8, 0, 1}))
	g.decodeConnection("ack-behind-is-cut", why, fmt.Sprintf("truncated@%d", n+3), 1, joined(before, []byte{9, 0, 4, 5}))
	g.decodeConnection("message-behind-is-cut", why, fmt.Sprintf("truncated@%d", n+6), 1, joined(before, payload(message(2, 10, []byte("abc")))[:8]))
	g.decodeConnection("unknown-behind", why, fmt.Sprintf("unknown_record@%d", n), 1, joined(before, []byte{10}))
	g.decodeConnection("pad-behind", why, fmt.Sprintf("unknown_record@%d", n), 1, joined(before, []byte{0}))
	g.decodeConnection("pad-before", why, "unknown_record@0", 1, joined([]byte{0}, before))
	g.decodeConnection("channel-64", why, "unknown_channel@8", 1, with(before, 8, 64))
	s := connectionPayload(1, sliceRecord(0, slice(5, 0, 1, []byte("hi"))))
	g.decodeConnection("slice-then-ack", about{"Catches a decoder that ends a slice at the next record: its body goes to the end.", "record-row trailing-data", "CXR-2 CXR-5"}, fmt.Sprintf("trailing_data@%d", len(s)), 1, joined(s, connectionPayload(1, a)))
}

func (g *group) refuseToEncodeConnection() {
	s, a, m := sliceRecord(0, slice(5, 0, 1, []byte("hi"))), ackRecord(0, ack(5, acked(3, even))), ofChannel(message(2, 9, []byte("hello")))
	for _, one := range []struct {
		name, want string
		lanes      int64
		list       []connectionoracle.Record
	}{
		{"encode-nothing", "truncated@0", 1, nil},
		{"encode-close-behind", "not_alone@11", 1, []connectionoracle.Record{m, closeRecord(0, "")}},
		{"encode-behind-a-close", "not_alone@5", 1, []connectionoracle.Record{closeRecord(0, "x"), m}},
		{"encode-text-too-long", "length@3", 1, []connectionoracle.Record{closeRecord(0, strings.Repeat("x", 129))}},
		{"encode-text-too-long-in-bytes", "length@3", 1, []connectionoracle.Record{closeRecord(0, strings.Repeat("\u00e9", 65))}},
		{"encode-lane-of-none", "lane@1", 0, []connectionoracle.Record{s}},
		{"encode-lane-2-of-2", "lane@1", 2, []connectionoracle.Record{{Type: connectionoracle.Slice, Lane: 2, Packet: s.Packet}}},
		{"encode-ack-lane-16", "lane@1", 16, []connectionoracle.Record{{Type: connectionoracle.ChunkAck, Lane: 16, Packet: a.Packet}}},
		{"encode-ack-lane-negative", "lane@12", 16, []connectionoracle.Record{m, {Type: connectionoracle.ChunkAck, Lane: -1, Packet: a.Packet}}},
		{"encode-behind-a-slice", "trailing_data@10", 1, []connectionoracle.Record{s, m}},
		{"encode-slice-is-invalid", "invalid_field@2", 1, []connectionoracle.Record{sliceRecord(0, slice(5, 3, 3, []byte("hi")))}},
		{"encode-slice-chunk-65536", "invalid_field@13", 1, []connectionoracle.Record{m, sliceRecord(0, slice(65536, 0, 1, []byte("hi")))}},
		{"encode-slice-empty", "invalid_field@2", 1, []connectionoracle.Record{sliceRecord(0, slice(5, 0, 1, nil))}},
		{"encode-ack-chunk-65536", "invalid_field@3", 1, []connectionoracle.Record{ackRecord(0, ack(65536, acked(3, even)))}},
		{"encode-pad-and-ack", "unknown_record@0", 1, []connectionoracle.Record{ofChannel(pad), a}},
		{"encode-message-of-channel-64", "unknown_channel@1", 1, []connectionoracle.Record{ofChannel(message(64, 9, []byte("hello")))}},
	} {
		g.encodeConnection(one.name, about{"Catches an encoder that writes what its own decoder would refuse.", "encoder", "CXR-8"}, one.want, one.lanes, one.list...)
	}
}

// connectionMarks is the record of marks of congestion, and what is refused of it.
func connectionMarks(g *group) {
	encode := func(name string, why about, want string, list ...connectionoracle.Record) {
		q := contract.ConnectionEncodeRequest{Op: contract.OpConnectionEncode, Lanes: 2, Extensions: contract.ExtensionECN, Records: []contract.ConnectionRecord{}}
		for _, r := range list {
			q.Records = append(q.Records, connectionRecordOf(r))
		}
		g.addSession(name, why, want, q, connectionEncoded(q))
	}
	decode := func(name string, why about, want string, payload []byte) {
		q := contract.ConnectionDecodeRequest{Op: contract.OpConnectionDecode, Lanes: 2, Extensions: contract.ExtensionECN, Hex: hex.EncodeToString(payload)}
		g.addSession(name, why, want, q, connectionDecoded(q))
	}
	both := func(name string, why about, list ...connectionoracle.Record) {
		b, err := connectionoracle.Encode(connectionoracle.Format{Lanes: 2, ECN: true}, list)
		if err != nil {
			panic(err) // these are valid
		}
		encode(name+"-encode", why, accepted, list...)
		decode(name+"-decode", why, accepted, b)
	}
	why := about{"Catches a port that has the counters in another order or size, or big-endian.", "byte-order", "CXR-9"}
	for _, m := range []struct{ arrived, congested int64 }{{0, 0}, {1, 0}, {1, 1}, {0x1234, 0x0102}, {65535, 255}, {3, 65535}} {
		both(fmt.Sprintf("ecn-%d-%d", m.arrived, m.congested), why, ecnRecord(m.arrived, m.congested))
	}
	a, s, e := ackRecord(0, ack(5, acked(3, all))), sliceRecord(1, slice(7, 0, 1, []byte("end"))), ecnRecord(300, 2)
	why = about{"Catches a port that begins a record elsewhere than behind the one before.", "record-row", "CXR-9 CXR-5 CXM-1 CXM-14"}
	both("ack-ecn-slice", why, a, e, s)
	both("two-ecns", why, e, ecnRecord(301, 3))
	whole := []byte{10, 0x2c, 1, 2, 0}
	why = about{"Catches a decoder that reads past the bytes that are there, or reports another byte than the first of the field that is not whole.", "truncation", "CXR-9 CXR-5"}
	for _, cut := range []struct{ n, at int }{{1, 1}, {2, 1}, {3, 3}, {4, 3}} {
		decode(fmt.Sprintf("ecn-cut-to-%d", cut.n), why, fmt.Sprintf("truncated@%d", cut.at), whole[:cut.n])
	}
	decode("type-11", about{"Catches a decoder that takes the type 11.", "record-type", "CXR-5"}, "unknown_record@0", []byte{11, 0, 0, 0, 0})
	decode("ecn-and-type-0", about{"Catches a decoder that takes a PAD behind a record.", "record-type", "CXR-5"}, "unknown_record@5", joined(whole, []byte{0}))
	encode("encode-behind-a-slice", about{"Catches an encoder that writes what its own decoder would refuse.", "encoder", "CXR-8"}, "trailing_data@11", s, e)
	g.encodeConnection("encode-not-agreed", about{"Catches an encoder that writes what its peer does not know.", "encoder", "CXR-8 CXR-9 CXP-3"}, "unknown_record@7", 1, a, e)
	g.decodeConnection("decode-not-agreed", about{"Catches a decoder that takes what was not agreed on.", "record-type", "CXR-5 CXR-9 CXP-3"}, "unknown_record@0", 1, whole)
}
