package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// channelRecords is section 3: records, encoded and decoded.
func channelRecords(g *group) {
	g.statusRecords()
	g.skipRecords()
	g.unreliableRecords()
	g.messageRecords()
	g.fragmentRecords()
	g.reportRecords()
	g.rowsOfRecords()
	g.foreignRecords()
}

// The records of each type.

func status(id, next int64) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Status, Channel: id, Sequence: next}
}

func skip(id, first, count int64) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Skip, Channel: id, Sequence: first, Count: count}
}

func unreliable(id int64, data []byte) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Unreliable, Channel: id, Data: data}
}

func message(id, sequence int64, data []byte) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Message, Channel: id, Sequence: sequence, Data: data}
}

func piece(id, sequence, index, count int64, data []byte) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Fragment, Channel: id, Sequence: sequence, Index: index, Count: count, Data: data}
}

func report(id, base, room int64, groups ...channeloracle.Group) channeloracle.Record {
	return channeloracle.Record{Type: channeloracle.Report, Channel: id, Sequence: base, Room: room, Groups: groups}
}

var pad = channeloracle.Record{Type: channeloracle.Pad}

func (g *group) statusRecords() {
	g.bothWays("pad", about{"Catches a port that takes the one byte 00 for a record without a channel, or writes a channel behind it.", "record-type", "CHR-1 CHR-8 CHR-7"}, pad)
	for k := range 16 {
		g.bothWays(fmt.Sprintf("status-bit-%d", k), about{
			fmt.Sprintf("Catches a port whose bit %d of next is not bit %d of byte %d.", k, k%8, 2+k/8), "byte-order field-width", "CHR-8 CHR-11 CHR-5",
		}, status(5, 1<<k))
	}
	for _, next := range []int64{0, 65535} {
		g.bothWays(fmt.Sprintf("status-%d", next), about{fmt.Sprintf("Catches a port that takes next %d for none, or compares it with a sign.", next), "field-width integer-wrap", "CHR-8 CHR-11 CHR-5"}, status(5, next))
	}
	for _, id := range []int64{0, 1, 31, 32, 62, 63} {
		g.bothWays(fmt.Sprintf("channel-%d", id), about{fmt.Sprintf("Catches a port that has no channel %d, or reads it elsewhere than in byte 1.", id), "channel-id", "CHR-8 CHO-3"}, status(id, 1))
	}
}

func (g *group) skipRecords() {
	for _, count := range []int64{1, 2, 128, 129, 255, 256} {
		g.bothWays(fmt.Sprintf("skip-%d", count), about{fmt.Sprintf("Catches a port that stores the %d sequences of a SKIP as they are, not minus one, or with a sign.", count), "minus-one field-width", "CHR-8 CHR-10"}, skip(1, 0x1234, count))
	}
	for _, first := range []int64{0, 1, 255, 256, 32767, 32768, 65534, 65535} {
		g.bothWays(fmt.Sprintf("skip-from-%d", first), about{fmt.Sprintf("Catches a port that refuses a SKIP from %d on because it wraps, or swaps the bytes of first.", first), "wrap byte-order", "CHR-8 CHR-10 CHR-5"}, skip(1, first, 3))
	}
}

func (g *group) unreliableRecords() {
	for _, size := range []int{1, 2, 3, 255, 256, 257} {
		g.bothWays(fmt.Sprintf("unreliable-%d-bytes", size), about{fmt.Sprintf("Catches a port that has the length of %d bytes of an UNRELIABLE in one byte, or big-endian.", size), "byte-order data-length", "CHR-8"}, unreliable(9, sample(size)))
	}
	g.bothWays("unreliable-1025-bytes", about{"Catches a port that limits an UNRELIABLE to DATA, which is for reliable channels.", "size-limit data-length", "CHR-8"}, unreliable(9, repeated(7, 1025)))
	g.bothWays("unreliable-1156-bytes", about{"Catches a port that refuses the largest UNRELIABLE of a packet that is not cut.", "size-limit data-length", "CHR-8"}, unreliable(9, repeated(7, 1156)))
	g.bothWays("unreliable-1157-bytes", about{"Catches a port that refuses an UNRELIABLE which goes in a packet of several fragments.", "size-limit data-length", "CHR-8"}, unreliable(9, repeated(7, 1157)))
}

func (g *group) messageRecords() {
	for k := range 16 {
		g.bothWays(fmt.Sprintf("message-bit-%d", k), about{
			fmt.Sprintf("Catches a port whose bit %d of a MESSAGE's sequence is not bit %d of byte %d.", k, k%8, 2+k/8), "byte-order field-width", "CHR-8 CHR-5",
		}, message(3, 1<<k, []byte{0xAB}))
	}
	for _, size := range []int{2, 255, 256, 257, 1023, 1024} {
		g.bothWays(fmt.Sprintf("message-%d-bytes", size), about{fmt.Sprintf("Catches a port that refuses %d bytes in a MESSAGE, or has their length elsewhere than behind the sequence.", size), "data-length size-limit", "CHR-8"}, message(3, 0x0102, repeated(0x5A, size)))
	}
	g.bothWays("message-of-records", about{"Catches a decoder that looks for records in data.", "content record-row", "CHR-1 CHR-8"}, message(3, 1, payload(status(5, 9), status(6, 9))))
	g.bothWays("message-of-zeros", about{"Catches a decoder that takes a zero for the end, or for PAD.", "content", "CHR-8"}, message(3, 0, []byte{0, 0, 0}), status(0, 0))
}

func (g *group) fragmentRecords() {
	for _, f := range []struct{ index, count int64 }{{1, 2}, {2, 3}, {31, 32}, {32, 33}, {62, 63}, {63, 64}} {
		g.bothWays(fmt.Sprintf("last-fragment-%d-of-%d", f.index, f.count), about{
			fmt.Sprintf("Catches a port that stores the count %d as it is, not minus one, or index and count the other way round.", f.count), "minus-one fragment-head", "CHR-8 CHR-9",
		}, piece(30, 0x0304, f.index, f.count, []byte{0xB5}))
	}
	for _, f := range []struct{ index, count int64 }{{0, 2}, {62, 64}} {
		g.bothWays(fmt.Sprintf("whole-fragment-%d-of-%d", f.index, f.count), about{
			"Catches a port that refuses a whole fragment, of DATA bytes.", "fragment-size", "CHR-8 CHR-9",
		}, piece(30, 65535, f.index, f.count, repeated(0xC3, 1024)))
	}
	for _, size := range []int{2, 256, 1024} {
		g.bothWays(fmt.Sprintf("last-fragment-of-%d-bytes", size), about{
			fmt.Sprintf("Catches a port that refuses %d bytes in the last fragment, which has 1 to DATA.", size), "fragment-size last-slice", "CHR-8 CHR-9",
		}, piece(30, 77, 4, 5, repeated(0x3C, size)))
	}
	g.bothWays("fragment-sequence-below-index", about{"Catches a codec that refuses a fragment whose group begins across the wrap: what a sequence means is for the machine.", "wrap", "CHR-8 CHR-9 CHR-5"}, piece(30, 1, 3, 4, []byte{1}))
}

func (g *group) reportRecords() {
	for k := range 15 {
		g.bothWays(fmt.Sprintf("report-room-bit-%d", k), about{fmt.Sprintf("Catches a port whose bit %d of room is not bit %d of byte %d.", k, k%8, 4+k/8), "byte-order field-width", "CHR-8 CHO-3"}, report(2, 0x1122, 1<<k))
	}
	for k := range 16 {
		g.bothWays(fmt.Sprintf("report-base-bit-%d", k), about{fmt.Sprintf("Catches a port whose bit %d of base is not bit %d of byte %d.", k, k%8, 2+k/8), "byte-order field-width", "CHR-8 CHR-5"}, report(2, 1<<k, 512))
	}
	g.bothWays("report-without-room", about{"Catches a port that refuses room 0: a closed window.", "room", "CHR-8"}, report(2, 100, 0))
	for k := range 32 {
		base := int64(1000)
		g.decodeRecords(fmt.Sprintf("group-bit-%d", k), about{
			fmt.Sprintf("Catches a decoder whose bit %d of a group's bits is not bit %d of byte %d, or does not name start - %d.", k, k%8, 9+k/8, k+1), "missing-set bit-order", "CHR-8 CHR-3",
		}, accepted, payload(report(2, base, 512, channeloracle.Group{Start: base + int64(k) + 1, Bits: 1 << k})))
	}
	for _, far := range []int64{33, 34, 65, 66, 400} {
		g.bothWays(fmt.Sprintf("two-groups-%d-apart", far), about{
			fmt.Sprintf("Catches a port that refuses a second group %d above the first.", far), "missing-set canonical", "CHR-8 CHR-3",
		}, report(2, 7, 512, channeloracle.Group{Start: 7}, channeloracle.Group{Start: 7 + far}))
	}
	g.bothWays("report-across-the-wrap", about{"Catches a port that compares starts without the wrap.", "wrap missing-set", "CHR-8 CHR-3 CHR-5"},
		report(2, 65530, 512, channeloracle.Group{Start: 3, Bits: 1 << 8}, channeloracle.Group{Start: 40, Bits: 0x80000001}))
	g.bothWays("group-of-all-33", about{"Catches a port that names 32 of the 33 sequences of a full group.", "missing-set", "CHR-8 CHR-3"}, report(2, 200, 512, channeloracle.Group{Start: 232, Bits: 0xFFFFFFFF}))
	g.bothWays("start-is-base", about{"Catches a port that asks for bits in the first group.", "missing-set", "CHR-8 CHR-3"}, report(2, 200, 1, channeloracle.Group{Start: 200}))
	g.bothWays("start-at-the-room", about{"Catches a port that refuses the newest sequence below the limit.", "missing-set room", "CHR-8 CHR-3"}, report(2, 200, 40, channeloracle.Group{Start: 200}, channeloracle.Group{Start: 239, Bits: 5}))
	for _, n := range []int64{2, 31, 32} {
		var groups []channeloracle.Group
		for i := range n {
			groups = append(groups, channeloracle.Group{Start: (65000 + 33*i) % 65536, Bits: i * 0x0111})
		}
		groups[0].Bits = 0
		g.bothWays(fmt.Sprintf("report-of-%d-groups", n), about{fmt.Sprintf("Catches a port that refuses %d groups, or has their number elsewhere than in byte 6.", n), "missing-set size-limit", "CHR-8 CHR-3"}, report(63, 65000, 16384, groups...))
	}
}

func (g *group) rowsOfRecords() {
	each := []channeloracle.Record{
		unreliable(1, []byte{1, 2}), message(2, 3, []byte{4}), piece(5, 6, 1, 2, []byte{7}), skip(8, 9, 10),
		report(11, 12, 13, channeloracle.Group{Start: 12}), status(14, 15),
	}
	why := about{"Catches a port that begins the second record elsewhere than behind the first.", "record-row", "CHR-1 CHR-8 CHR-7"}
	for i, first := range each {
		second := each[(i+1)%len(each)]
		g.bothWays(fmt.Sprintf("%s-before-%s", first.Type, second.Type), why, first, second)
	}
	g.bothWays("one-of-each", about{"Catches a port that sorts records, or has a limit to their number.", "record-row", "CHR-1 CHR-8 CHR-7"}, each...)
	g.bothWays("the-same-twice", about{"Catches a port that takes one of two equal records.", "record-row", "CHR-1 CHR-8"}, each[3], each[3], each[3])
	g.bothWays("two-reports-of-one-channel", about{"Catches a codec that refuses the second report of a channel: that is for the machine (D4).", "record-row", "CHR-1 CHR-8"}, report(4, 7, 20), report(4, 8, 20))
}

// foreignRecords are payloads that another implementation made from an early draft of the
// document: both must read them in the same way.
func (g *group) foreignRecords() {
	for i, text := range []string{
		"041fffff01052c55cc010000", "05150000210001170004084000062870a9", "031e00003f3f0100b5",
		"040bf39300010801006f052effff01000001321e000c979c1a621f3f56ea12bae81695860b033cccaac5712e3a045cdad9d3ee",
		"011802005bac06083ccc0308147c3f3f28004e057b6dac5a48bcce67f5cf4bb80e1a88e729a97507a016c9bd96acdf2e6030b48710e8aab7404a0431000000",
		"050100000002020000000000002f0000000000", "05350000004002000000000000820000000000",
		"0106020020ab04370100ff060f010001091e0019bca8d6d4a8b91702a9b51c189dddb785b7dafe3e0dccde8047f4fb6215",
		"023fffff0200199a0409010001", "06220000013d020025a0", "0205000002007176023d000002001130", "02225f950200242a",
		"05016400000202640000000000850000000000", "05016400000201840000000080", "0501faff000201030000010000",
	} {
		g.decodeRecords(fmt.Sprintf("foreign-%d", i+1), about{"Catches a decoder that reads a payload of another implementation in another way.", "record-row missing-set", "CHR-1 CHR-8 CHR-3"}, accepted, bytesIn(text))
	}
}
