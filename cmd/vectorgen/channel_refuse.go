package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// channelRefuse is section 3: payloads and records with one fault each, the nearest that
// are taken, and some with two faults.
func channelRefuse(g *group) {
	g.cutRecords()
	g.refuseTypes()
	g.refuseChannels()
	g.refuseLengths()
	g.refuseFragments()
	g.refuseReports()
	g.refuseGroups()
	g.refuseLater()
	g.refusalOrderOfRecords()
	g.refuseToEncode()
}

// cutRecords cuts a record of each type off after each byte.
func (g *group) cutRecords() {
	g.decodeRecords("empty-payload", about{"Catches a decoder that takes a payload without a byte for one without records.", "truncation", "CHR-1 CHR-2"}, "truncated@0", nil)
	for _, r := range []channeloracle.Record{
		unreliable(1, []byte{1, 2, 3}), message(1, 5, []byte{1, 2, 3}), piece(1, 5, 2, 3, []byte{1, 2, 3}), skip(1, 5, 2),
		report(1, 5, 99, channeloracle.Group{Start: 6, Bits: 1}, channeloracle.Group{Start: 50}), status(1, 5),
	} {
		whole := payload(r)
		fields := layout.Cuts("channel-payload", whole, nil, nil) // the first byte of each, and the end
		for n := 1; n < len(whole); n++ {
			i, isStart := slices.BinarySearch(fields, n)
			if !isStart {
				i--
			}
			g.decodeRecords(fmt.Sprintf("%s-cut-to-%d", r.Type, n), about{
				fmt.Sprintf("Catches a decoder that reads past the %d bytes that are there, of a record of %d, or reports another byte than the first of the field that is not whole.", n, len(whole)), "truncation", "CHR-1 CHR-2",
			}, fmt.Sprintf("truncated@%d", fields[i]), whole[:n])
		}
		g.decodeRecords(r.Type+"-not-cut", about{"The twin of the cut ones: catches a decoder that refuses too much.", "truncation", "CHR-1 CHR-2"}, accepted, whole)
		if n := len(whole); len(r.Data) > 0 {
			behind := joined(payload(status(1, 1)), whole[:n-1])
			g.decodeRecords(r.Type+"-cut-behind-another", about{"Catches a decoder that compares a length with the whole payload, not with what is left of it.", "truncation record-row", "CHR-1 CHR-2"},
				fmt.Sprintf("truncated@%d", 4+fields[len(fields)-2]), behind)
		}
	}
}

func (g *group) refuseTypes() {
	for _, v := range []byte{7, 8, 9, 10, 15, 16, 127, 128, 255} {
		g.decodeRecords(fmt.Sprintf("type-%d", v), about{fmt.Sprintf("Catches a decoder that takes the type %d, or passes over it.", v), "record-type", "CHR-2"}, "unknown_record@0", []byte{v, 1, 2, 3, 4, 5, 6, 7})
	}
	g.decodeRecords("pad-before-a-record", about{"Catches a decoder that passes over a PAD before a record.", "record-type canonical", "CHR-2 CHR-6"}, "unknown_record@0", joined([]byte{0}, payload(status(1, 1))))
	g.decodeRecords("pad-behind-a-record", about{"Catches a decoder that takes a PAD behind a record.", "record-type canonical", "CHR-2 CHR-6"}, "unknown_record@4", joined(payload(status(1, 1)), []byte{0}))
	g.decodeRecords("three-pads", about{"Catches a decoder that takes zeros for a PAD.", "record-type canonical", "CHR-2 CHR-6"}, "unknown_record@0", []byte{0, 0, 0})
	g.decodeRecords("unknown-type-behind-a-record", about{"Catches a decoder that takes the records before one that it does not know.", "record-row", "CHR-1 CHR-2"}, "unknown_record@5", joined(payload(skip(1, 1, 1)), []byte{7}))
}

func (g *group) refuseChannels() {
	for _, r := range []channeloracle.Record{unreliable(0, []byte{1}), message(0, 1, []byte{1}), piece(0, 1, 1, 2, []byte{1}), skip(0, 1, 1), report(0, 1, 1), status(0, 1)} {
		for _, id := range []byte{64, 255} {
			g.decodeRecords(fmt.Sprintf("%s-of-channel-%d", r.Type, id), about{fmt.Sprintf("Catches a decoder that takes channel %d, or only the low 6 bits of it.", id), "channel-id", "CHR-2"}, "unknown_channel@1", with(payload(r), 1, id))
		}
	}
	g.decodeRecords("status-of-channel-128", about{"Catches a decoder that compares the channel with a sign.", "channel-id integer-wrap", "CHR-2"}, "unknown_channel@1", with(payload(status(0, 1)), 1, 128))
}

func (g *group) refuseLengths() {
	g.decodeRecords("unreliable-of-no-byte", about{"Catches a decoder that takes an UNRELIABLE without data.", "data-length", "CHR-2"}, "length@2", []byte{1, 1, 0, 0})
	g.decodeRecords("unreliable-of-no-byte-twin", about{"The twin: catches a decoder that refuses too much.", "data-length", "CHR-2"}, accepted, []byte{1, 1, 1, 0, 0})
	g.decodeRecords("message-of-no-byte", about{"Catches a decoder that takes a MESSAGE without data.", "data-length", "CHR-2"}, "length@4", []byte{2, 1, 5, 0, 0, 0})
	for _, size := range []int{1025, 65535, 256 * 5} {
		g.decodeRecords(fmt.Sprintf("message-of-%d-bytes", size), about{
			fmt.Sprintf("Catches a decoder that takes %d bytes in a MESSAGE, or looks for its data first.", size), "data-length size-limit", "CHR-2",
		}, "length@4", []byte{2, 1, 5, 0, byte(size), byte(size >> 8), 1})
	}
	g.decodeRecords("message-of-1025-whole-bytes", about{"Catches a decoder that takes 1,025 bytes in a MESSAGE where they are there.", "data-length size-limit", "CHR-2"}, "length@4", joined([]byte{2, 1, 5, 0, 1, 4}, repeated(0x11, 1025)))
}

func (g *group) refuseFragments() {
	for _, count := range []int{1, 65, 66, 128, 255, 256} {
		g.decodeRecords(fmt.Sprintf("group-of-%d", count), about{
			fmt.Sprintf("Catches a decoder that takes a group of %d fragments, which has 2 to 64, or stores the count as it is.", count), "fragment-head size-limit minus-one", "CHR-2",
		}, "fragment_count@5", []byte{3, 1, 5, 0, 0, byte(count - 1), 1, 0, 0x78})
	}
	for _, f := range []struct{ index, count int }{{2, 2}, {3, 2}, {255, 2}, {64, 64}, {128, 64}, {255, 64}, {33, 33}} {
		g.decodeRecords(fmt.Sprintf("fragment-%d-of-%d", f.index, f.count), about{
			fmt.Sprintf("Catches a decoder that takes index %d of %d fragments.", f.index, f.count), "fragment-head", "CHR-2",
		}, "fragment_index@4", []byte{3, 1, 5, 0, byte(f.index), byte(f.count - 1), 1, 0, 0x78})
	}
	sizes := func(name string, index byte, list ...int) {
		for _, size := range list {
			g.decodeRecords(fmt.Sprintf("%s-fragment-of-%d-bytes", name, size), about{
				fmt.Sprintf("Catches a decoder that takes %d bytes in the %s fragment of three.", size, name), "fragment-size data-length", "CHR-2",
			}, "length@6", []byte{3, 1, 5, 0, index, 2, byte(size), byte(size >> 8), 0x78})
		}
	}
	sizes("first", 0, 0, 1, 1023, 1025)
	sizes("middle", 1, 0, 1023, 1025, 65535)
	sizes("last", 2, 0, 1025, 65535)
}

func (g *group) refuseReports() {
	for _, room := range []int{16385, 16384 + 256, 32768, 65535} {
		g.decodeRecords(fmt.Sprintf("room-of-%d", room), about{
			fmt.Sprintf("Catches a decoder that takes room %d, above the window of 16,384.", room), "room size-limit", "CHR-2",
		}, "room@4", []byte{5, 1, 5, 0, byte(room), byte(room >> 8), 0})
	}
	for _, n := range []byte{33, 34, 128, 255} {
		g.decodeRecords(fmt.Sprintf("report-of-%d-groups", n), about{
			fmt.Sprintf("Catches a decoder that takes %d groups, more than 32, or looks for them first.", n), "size-limit missing-set", "CHR-2",
		}, "group_count@6", []byte{5, 1, 5, 0, 0, 0x40, n})
	}
}

// reportBytes are those of a report that may be faulty.
func reportBytes(base, room int, groups ...channeloracle.Group) []byte {
	b := []byte{5, 1, byte(base), byte(base >> 8), byte(room), byte(room >> 8), byte(len(groups))}
	for _, group := range groups {
		b = append(b, byte(group.Start), byte(group.Start>>8), byte(group.Bits), byte(group.Bits>>8), byte(group.Bits>>16), byte(group.Bits>>24))
	}
	return b
}

func (g *group) refuseGroups() {
	type at = channeloracle.Group
	add := func(name, comment, want string, b []byte) {
		g.decodeRecords(name, about{comment, "missing-set canonical", "CHR-2 CHR-3 CHR-6"}, want, b)
	}
	for _, c := range []struct{ base, room, d int }{{100, 10, 10}, {100, 10, 11}, {100, 0, 0}, {0, 16384, 16384}, {65530, 10, 10}, {100, 10, 65535}, {100, 10, 32768}} {
		add(fmt.Sprintf("start-%d-of-room-%d-from-%d", c.d, c.room, c.base), "Catches a decoder that takes a group which begins at or above the limit, or below base.", "group_start@7",
			reportBytes(c.base, c.room, at{Start: int64((c.base + c.d) % 65536)}))
	}
	for _, far := range []int64{0, 1, 31, 32} {
		add(fmt.Sprintf("groups-%d-apart", far), fmt.Sprintf("Catches a decoder that takes a second group %d above the first: one set would have two encodings.", far), "group_order@13",
			reportBytes(100, 512, at{Start: 100}, at{Start: 100 + far}))
	}
	add("groups-descending", "Catches a decoder that takes a newer group before an older one.", "group_order@19", reportBytes(100, 512, at{Start: 100}, at{Start: 200, Bits: 1}, at{Start: 150}))
	add("groups-across-the-wrap-32-apart", "Catches a decoder that compares starts without the wrap.", "group_order@13", reportBytes(65530, 512, at{Start: 65530}, at{Start: 26}))
	add("third-group-too-near", "Catches a decoder that compares each group with the first one only.", "group_order@19", reportBytes(0, 512, at{Start: 0}, at{Start: 100}, at{Start: 132}))
	for _, d := range []int64{0, 1, 2, 16, 30, 31} {
		add(fmt.Sprintf("bit-%d-below-base", d), fmt.Sprintf("Catches a decoder that takes bit %d of a group %d above base, which names base - 1.", d, d), "group_bits@9",
			reportBytes(1000, 512, at{Start: 1000 + d, Bits: 1 << d}))
		if d == 31 {
			break
		}
		add(fmt.Sprintf("bit-31-below-base-at-%d", d), "Catches a decoder that does not look at the highest bit.", "group_bits@9",
			reportBytes(1000, 512, at{Start: 1000 + d, Bits: 1 << 31}))
	}
	add("bits-below-base-and-base", "Catches a decoder that asks only whether base is named.", "group_bits@9", reportBytes(1000, 512, at{Start: 1002, Bits: 6}))
	for _, d := range []int64{1, 2, 32, 33, 511} {
		add(fmt.Sprintf("base-not-named-from-%d", d), fmt.Sprintf("Catches a decoder that takes a first group %d above base which does not name base.", d), "group_base@7",
			reportBytes(1000, 512, at{Start: 1000 + d}))
	}
	add("base-not-named-by-bits", "Catches a decoder that takes the lowest bit for base.", "group_base@7", reportBytes(1000, 512, at{Start: 1003, Bits: 3}))
	add("base-named-by-the-second", "Catches a decoder that takes base from any group.", "group_base@7", reportBytes(1000, 512, at{Start: 1003, Bits: 3}, at{Start: 1040}))
}

// refuseLater are faults in the second record, which must be reported at their place there.
func (g *group) refuseLater() {
	before := payload(skip(1, 1, 1)) // 5 bytes
	for _, c := range []struct {
		want string
		b    []byte
	}{
		{"unknown_channel@6", []byte{6, 64, 0, 0}},
		{"truncated@7", []byte{6, 1, 0}},
		{"length@7", []byte{1, 1, 0, 0}},
		{"length@9", []byte{2, 1, 0, 0, 0, 0}},
		{"length@11", []byte{3, 1, 0, 0, 0, 1, 0, 0}},
		{"fragment_count@10", []byte{3, 1, 0, 0, 0, 0}},
		{"fragment_index@9", []byte{3, 1, 0, 0, 2, 1}},
		{"room@9", []byte{5, 1, 0, 0, 1, 0x40}},
		{"group_count@11", []byte{5, 1, 0, 0, 1, 0, 33}},
		{"group_start@12", []byte{5, 1, 0, 0, 1, 0, 1, 1, 0}},
		{"group_order@18", reportBytes(0, 99, channeloracle.Group{}, channeloracle.Group{Start: 5})},
		{"group_bits@14", reportBytes(0, 99, channeloracle.Group{Bits: 1})},
		{"group_base@12", reportBytes(0, 99, channeloracle.Group{Start: 1})},
	} {
		code, _, _ := strings.Cut(c.want, "@")
		name := fmt.Sprintf("second-%s-of-%d", code, c.b[0])
		g.decodeRecords(name, about{"Catches a decoder that takes the first record of a faulty payload, or counts the place from the second one.", "record-row check-order", "CHR-1 CHR-2"}, c.want, joined(before, c.b))
	}
}

// refusalOrderOfRecords are payloads with two faults.
func (g *group) refusalOrderOfRecords() {
	add := func(name, first, then, want string, b []byte) {
		g.decodeRecords("order-"+name, about{"Catches a decoder that reports " + then + " before " + first + ".", "check-order", "CHR-1 CHR-2"}, want, b)
	}
	add("type-then-channel", "the type", "the channel", "unknown_record@0", []byte{7, 64})
	add("channel-then-cut", "the channel", "that what follows is missing", "unknown_channel@1", []byte{5, 64})
	add("channel-then-length", "the channel", "the length", "unknown_channel@1", []byte{1, 200, 0, 0})
	add("length-then-data", "the length", "that the data is missing", "length@4", []byte{2, 1, 0, 0, 1, 4})
	add("count-cut-then-index", "that the count is missing", "index 255", "truncated@5", []byte{3, 1, 0, 0, 255})
	add("count-then-index", "the count", "the index", "fragment_count@5", []byte{3, 1, 0, 0, 200, 100, 0, 0})
	add("single-then-index", "a count of one", "index 1", "fragment_count@5", []byte{3, 1, 0, 0, 1, 0})
	add("index-then-length", "the index", "the length", "fragment_index@4", []byte{3, 1, 0, 0, 2, 1, 0, 0})
	add("index-then-cut", "the index", "that the length is missing", "fragment_index@4", []byte{3, 1, 0, 0, 2, 1})
	add("room-then-groups", "the room", "the number of groups", "room@4", []byte{5, 1, 0, 0, 1, 0x40, 99})
	add("room-then-cut", "the room", "that the number of groups is missing", "room@4", []byte{5, 1, 0, 0, 1, 0x40})
	add("groups-then-start", "the number of groups", "a start", "group_count@6", []byte{5, 1, 0, 0, 1, 0, 33, 1, 0})
	add("start-then-cut", "the start", "that the bits are missing", "group_start@7", []byte{5, 1, 0, 0, 1, 0, 1, 1, 0})
	add("start-then-bits", "the start", "its bits", "group_start@7", reportBytes(0, 1, channeloracle.Group{Start: 1, Bits: 2}))
	add("start-then-order", "a start above the limit", "the order of the groups", "group_start@13", reportBytes(0, 10, channeloracle.Group{}, channeloracle.Group{Start: 10}))
	add("start-below-then-order", "a start below base", "the order of the groups", "group_start@13", reportBytes(50, 60, channeloracle.Group{Start: 50}, channeloracle.Group{Start: 40}))
	add("order-then-cut", "the order of the groups", "that the bits are missing", "group_order@13", reportBytes(0, 99, channeloracle.Group{}, channeloracle.Group{Start: 32})[:15])
	add("bits-then-base", "bits below base", "that base is not named", "group_bits@9", reportBytes(0, 99, channeloracle.Group{Start: 3, Bits: 8}))
	add("first-then-second", "that base is not named", "a fault in the second group", "group_base@7", reportBytes(0, 99, channeloracle.Group{Start: 3}, channeloracle.Group{Start: 2}))
	add("first-record-then-second", "the first record's fault", "that of the second", "length@2", []byte{1, 1, 0, 0, 7})
}

// signed is a number in the name of a vector.
func signed(v int64) string { return strings.Replace(strconv.FormatInt(v, 10), "-", "minus-", 1) }

// refuseToEncode are records that an encoder refuses, with the place where the field
// would be.
func (g *group) refuseToEncode() {
	add := func(name, comment, flags, want string, list ...channeloracle.Record) {
		g.encodeRecords("encode-"+name, about{comment, "encoder " + flags, "CHR-7"}, want, list...)
	}
	before, data := skip(1, 1, 1), []byte{1}
	add("nothing", "Catches an encoder that writes a payload without a byte.", "truncation", "truncated@0")
	add("pad-first", "Catches an encoder that writes a PAD before a record.", "record-type", "unknown_record@0", pad, before)
	add("pad-last", "Catches an encoder that writes a PAD behind a record.", "record-type", "unknown_record@5", before, pad)
	add("two-pads", "Catches an encoder that writes two PADs.", "record-type", "unknown_record@0", pad, pad)
	for _, id := range []int64{-1, 64, 255, 256, 65536} {
		add(fmt.Sprintf("channel-%s", signed(id)), fmt.Sprintf("Catches an encoder that writes channel %d, or the low bits of it.", id), "channel-id integer-wrap", "unknown_channel@1", status(id, 1))
	}
	for _, r := range []channeloracle.Record{unreliable(64, data), message(64, 1, data), piece(64, 1, 1, 2, data), skip(64, 1, 1), report(64, 1, 1)} {
		add(r.Type+"-of-channel-64", "Catches an encoder that looks at the channel of some types only.", "channel-id", "unknown_channel@1", r)
	}
	add("second-channel-64", "Catches an encoder that counts the place from the second record.", "channel-id record-row", "unknown_channel@6", before, status(64, 1))
	add("unreliable-without-data", "Catches an encoder that writes an UNRELIABLE without data.", "data-length", "length@2", unreliable(1, nil))
	add("message-without-data", "Catches an encoder that writes a MESSAGE without data.", "data-length", "length@4", message(1, 1, nil))
	add("message-of-1025-bytes", "Catches an encoder that writes more than DATA bytes in a MESSAGE.", "data-length size-limit", "length@4", message(1, 1, repeated(1, 1025)))
	add("second-message-of-1025-bytes", "Catches an encoder that counts the place from the second record.", "data-length record-row", "length@9", before, message(1, 1, repeated(2, 1025)))
	for _, count := range []int64{-1, 0, 1, 65, 256, 258} {
		add(fmt.Sprintf("group-of-%s", signed(count)), fmt.Sprintf("Catches an encoder that writes a group of %d fragments, or the low bits of it.", count), "fragment-head integer-wrap", "fragment_count@5", piece(1, 1, 0, count, data))
	}
	for _, index := range []int64{-1, 3, 255, 256, 258} {
		add(fmt.Sprintf("fragment-%s-of-3", signed(index)), fmt.Sprintf("Catches an encoder that writes index %d of 3 fragments, or the low bits of it.", index), "fragment-head integer-wrap", "fragment_index@4", piece(1, 1, index, 3, data))
	}
	add("count-before-index", "Catches an encoder that reports the index before the count.", "check-order", "fragment_count@5", piece(1, 1, 9, 1, nil))
	add("index-before-length", "Catches an encoder that reports the length before the index.", "check-order", "fragment_index@4", piece(1, 1, 2, 2, nil))
	for _, size := range []int{0, 1, 1023, 1025} {
		add(fmt.Sprintf("first-fragment-of-%d-bytes", size), fmt.Sprintf("Catches an encoder that writes %d bytes in a fragment that is not the last.", size), "fragment-size", "length@6", piece(1, 1, 0, 2, repeated(3, size)))
	}
	for _, size := range []int{0, 1025} {
		add(fmt.Sprintf("last-fragment-of-%d-bytes", size), fmt.Sprintf("Catches an encoder that writes %d bytes in the last fragment.", size), "fragment-size", "length@6", piece(1, 1, 1, 2, repeated(3, size)))
	}
	for _, room := range []int64{-1, 16385, 65536, 65537} {
		add(fmt.Sprintf("room-of-%s", signed(room)), fmt.Sprintf("Catches an encoder that writes room %d, or the low bits of it.", room), "room integer-wrap", "room@4", report(1, 5, room))
	}
	many := make([]channeloracle.Group, 33)
	for i := range many {
		many[i].Start = int64(33 * i)
	}
	add("33-groups", "Catches an encoder that writes more than 32 groups, or leaves some out without a word.", "missing-set size-limit", "group_count@6", report(1, 0, 16384, many...))
	type at = channeloracle.Group
	add("start-at-the-limit", "Catches an encoder that writes a start at the limit.", "missing-set", "group_start@7", report(1, 5, 9, at{Start: 14}))
	add("second-start-at-the-limit", "Catches an encoder that checks the first start only.", "missing-set", "group_start@13", report(1, 5, 50, at{Start: 5}, at{Start: 55}))
	add("groups-32-apart", "Catches an encoder that writes groups of which one could name what two do.", "missing-set canonical", "group_order@13", report(1, 5, 99, at{Start: 5}, at{Start: 37}))
	add("groups-descending", "Catches an encoder that writes a newer group before an older one, or sorts them without a word.", "missing-set canonical", "group_order@19", report(1, 5, 99, at{Start: 5}, at{Start: 80}, at{Start: 40}))
	add("bits-below-base", "Catches an encoder that writes a bit which names base - 1.", "missing-set canonical", "group_bits@9", report(1, 5, 99, at{Start: 6, Bits: 3}))
	add("base-not-named", "Catches an encoder that writes groups of which the first does not name base.", "missing-set canonical", "group_base@7", report(1, 5, 99, at{Start: 6}))
	add("bits-before-base", "Catches an encoder that reports that base is not named before the bits below it.", "check-order", "group_bits@9", report(1, 5, 99, at{Start: 6, Bits: 2}))
	for _, v := range []int64{-1, 65536, 1 << 32} {
		add(fmt.Sprintf("next-%s", signed(v)), fmt.Sprintf("Catches an encoder that writes the low bits of next %d.", v), "integer-wrap", "invalid_field@2", status(1, v))
	}
	for _, r := range []channeloracle.Record{message(1, 65536, data), piece(1, 65536, 1, 2, data), skip(1, 65536, 1), report(1, 65536, 9)} {
		add(r.Type+"-of-sequence-65536", "Catches an encoder that writes sequence 65536 as 0.", "integer-wrap", "invalid_field@2", r)
	}
	for _, count := range []int64{-1, 0, 257, 512} {
		add(fmt.Sprintf("skip-of-%s", signed(count)), fmt.Sprintf("Catches an encoder that writes a SKIP of %d sequences, or the low bits of it.", count), "integer-wrap minus-one", "invalid_field@4", skip(1, 1, count))
	}
	add("start-65541", "Catches an encoder that writes the low bits of a start.", "integer-wrap missing-set", "invalid_field@7", report(1, 5, 9, at{Start: 65541}))
	add("second-start-negative", "Catches an encoder that writes the low bits of a start.", "integer-wrap missing-set", "invalid_field@13", report(1, 5, 99, at{Start: 5}, at{Start: -1}))
	add("bits-of-33-bits", "Catches an encoder that writes the low bits of bits.", "integer-wrap missing-set", "invalid_field@9", report(1, 5, 99, at{Start: 5, Bits: 1 << 32}))
	add("bits-negative", "Catches an encoder that writes bits with a sign.", "integer-wrap missing-set", "invalid_field@9", report(1, 5, 99, at{Start: 5, Bits: -1}))
	add("channel-before-sequence", "Catches an encoder that looks at all numbers before the channel.", "check-order", "unknown_channel@1", message(64, 65536, data))
	add("sequence-before-length", "Catches an encoder that reports the length before the sequence.", "check-order", "invalid_field@2", message(1, 65536, nil))
	add("sequence-before-count", "Catches an encoder that reports the count before the sequence.", "check-order", "invalid_field@2", piece(1, -1, 9, 1, nil))
	add("start-before-bits", "Catches an encoder that looks at all numbers before a start.", "check-order", "group_start@7", report(1, 5, 9, at{Start: 14, Bits: 1 << 32}))
	add("first-group-before-second", "Catches an encoder that looks at all numbers before the first group.", "check-order", "group_base@7", report(1, 5, 99, at{Start: 6}, at{Start: 65536}))
	add("later-record-first-fault", "Catches an encoder that reports the last fault.", "check-order record-row", "unknown_channel@1", status(64, 1), pad)
}
