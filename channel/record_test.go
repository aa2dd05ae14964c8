package channel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// port is the format of a port's codec (CHO-3).
var port = Format{Window: 16384}

// recordCases are records with their bytes (CHR-3, CHR-8 to CHR-11).
var recordCases = []struct {
	Record
	hex string
}{
	{Record{}, "00"},
	{Record{Type: TypeUnreliable, Channel: 3, Data: []byte("hi")}, "01 03 0200 6869"},
	{Record{Type: TypeMessage, Channel: 63, Sequence: 65535, Data: []byte{0x19, 0x9a}}, "02 3f ffff 0200 199a"},
	{Record{Type: TypeFragment, Channel: 30, Index: 63, Count: 64, Data: []byte{0xb5}}, "03 1e 0000 3f 3f 0100 b5"},
	{Record{Type: TypeSkip, Channel: 31, Sequence: 65535, Count: 2}, "04 1f ffff 01"},
	{Record{Type: TypeSkip, Count: 256}, "04 00 0000 ff"},
	{Record{Type: TypeReport, Channel: 10, Sequence: 1, Room: 512}, "05 0a 0100 0002 00"},
	{Record{Type: TypeReport, Channel: 21, Sequence: 0, Room: 33, Groups: []Group{{23, 0x00400804}}}, "05 15 0000 2100 01 1700 04084000"},
	{Record{Type: TypeReport, Channel: 53, Room: 16384, Groups: []Group{{0, 0}, {130, 0}}}, "05 35 0000 0040 02 0000 00000000 8200 00000000"},
	{Record{Type: TypeReport, Channel: 1, Sequence: 65530, Room: 512, Groups: []Group{{3, 256}}}, "05 01 faff 0002 01 0300 00010000"},
	{Record{Type: TypeReport, Channel: 1, Sequence: 100, Room: 512, Groups: []Group{{132, 0x80000000}}}, "05 01 6400 0002 01 8400 00000080"},
	{Record{Type: TypeStatus, Channel: 20, Sequence: 1}, "06 14 0100"},
}

// equal compares records; no groups and none of them are the same.
func equal(a, b Record) bool {
	groups, data := slices.Equal(a.Groups, b.Groups), bytes.Equal(a.Data, b.Data)
	a.Groups, a.Data, b.Groups, b.Data = nil, nil, nil, nil
	return groups && data && fmt.Sprint(a) == fmt.Sprint(b)
}

func TestRecordsAndTheirBytes(t *testing.T) {
	for _, c := range recordCases {
		want := unhex(c.hex)
		got, err := port.Append(nil, &c.Record)
		check.Same(t, "error", err, nil)
		check.Equal(t, c.hex, got, want)
		check.Equal(t, "size", c.Size(), len(want))
		var r Record
		next, err := port.Decode(want, 0, &r)
		check.Same(t, "error", err, nil)
		check.Equal(t, "next", next, len(want))
		check.That(t, equal(r, c.Record), fmt.Sprint(r, " is ", c.Record))
	}
	check.Equal(t, "names", []string{TypePad.String(), TypeUnreliable.String(), TypeMessage.String(), TypeFragment.String(), TypeSkip.String(), TypeReport.String(), TypeStatus.String(), Type(7).String()},
		[]string{"pad", "unreliable", "message", "fragment", "skip", "report", "status", "unknown"})
}

// A row of records is decoded one after another; what was in the record before does not stay.
func TestARowOfRecords(t *testing.T) {
	var payload []byte
	for _, c := range recordCases[1:] {
		payload = check.Must(port.Append(payload, &c.Record))
	}
	at := 0
	r := Record{Index: 7, Count: 7, Room: 7, Groups: []Group{{7, 7}}, Data: []byte("7")}
	var err error
	for _, c := range recordCases[1:] {
		at, err = port.Decode(payload, at, &r)
		check.Same(t, "error", err, nil)
		check.That(t, equal(r, c.Record), fmt.Sprint(r, " is ", c.Record))
	}
	check.Equal(t, "end", at, len(payload))
}

// A row that is cut anywhere is refused where the field at fault begins, unless a record ends
// there (CHR-22).
func TestRowsThatAreCut(t *testing.T) {
	fields := map[Type][]int{ // where the fields begin, with the data or the first group
		TypeUnreliable: {0, 1, 2, 4}, TypeMessage: {0, 1, 2, 4, 6}, TypeFragment: {0, 1, 2, 4, 5, 6, 8}, TypeSkip: {0, 1, 2, 4},
		TypeReport: {0, 1, 2, 4, 6, 7, 9, 13, 15}, TypeStatus: {0, 1, 2},
	}
	for _, c := range recordCases[1:] {
		whole := unhex("06 14 0100" + c.hex)
		for n := 5; n < len(whole); n++ {
			var r Record
			_, err := port.Decode(whole[:n], 4, &r)
			var e *Error
			check.That(t, errors.As(err, &e) && errors.Is(err, ErrTruncated), "truncated")
			want := 0
			for _, f := range fields[c.Type] {
				if 4+f <= n {
					want = 4 + f
				}
			}
			check.Equal(t, fmt.Sprint(c.Type, " cut at ", n), e.Place(), want)
			check.Equal(t, "rule", e.Rule(), "CHR-22")
		}
	}
}

func reportHex(groups string) string {
	return fmt.Sprintf("05 01 6400 0002 %02x ", len(strings.Fields(groups))/2) + groups
}

// refusals are payloads with the rule that refuses them, the code and the place (CHR-2).
var refusals = []struct {
	name, hex, rule string
	code            core.Code
	place           int
}{
	{"nothing", "", "CHR-20", "truncated", 0},
	{"a pad before a record", "00 06140100", "CHR-21", "unknown_record", 0},
	{"two pads", "0000", "CHR-21", "unknown_record", 0},
	{"a pad behind a record", "06140100 00", "CHR-21", "unknown_record", 4},
	{"type 7", "07 00 0000", "CHR-21", "unknown_record", 0},
	{"type 255, alone", "ff", "CHR-21", "unknown_record", 0},
	{"type 8 behind a record", "06140100 08", "CHR-21", "unknown_record", 4},
	{"no channel", "02", "CHR-22", "truncated", 1},
	{"channel 64", "02 40", "CHR-23", "unknown_channel", 1},
	{"channel 255 behind a record", "06140100 06ff", "CHR-23", "unknown_channel", 5},
	{"unreliable of no byte", "01 00 0000", "CHR-25", "length", 2},
	{"message of no byte", "02 00 0000 0000", "CHR-26", "length", 4},
	{"message of 1,025, before its data are missed", "02 00 0000 0104", "CHR-26", "length", 4},
	{"fragment of 1", "03 00 0000 00 00 0104", "CHR-27", "fragment_count", 5},
	{"fragment of 65", "03 00 0000 00 40", "CHR-27", "fragment_count", 5},
	{"the count before the index", "03 00 0000 ff ff", "CHR-27", "fragment_count", 5},
	{"index 2 of 2", "03 00 0000 02 01", "CHR-28", "fragment_index", 4},
	{"first fragment of 1,023", "03 00 0000 00 01 ff03", "CHR-29", "length", 6},
	{"first fragment of 1,025", "03 00 0000 00 01 0104", "CHR-29", "length", 6},
	{"last fragment of no byte", "03 00 0000 01 01 0000", "CHR-29", "length", 6},
	{"last fragment of 1,025", "03 00 0000 01 01 0104", "CHR-29", "length", 6},
	{"room 16,385", "05 00 0000 0140", "CHR-30", "room", 4},
	{"33 groups", "05 00 0000 0040 21", "CHR-31", "group_count", 6},
	{"start at room", reportHex("6402 00000000"), "CHR-32", "group_start", 7},
	{"start below base", reportHex("6300 00000000"), "CHR-32", "group_start", 7},
	{"no room", "05 01 6400 0000 01 6400 00000000", "CHR-32", "group_start", 7},
	{"start before its bits are missed", "05 01 6400 0002 01 6402", "CHR-32", "group_start", 7},
	{"32 above the one before", reportHex("6400 00000000 8400 00000000"), "CHR-33", "group_order", 13},
	{"below the one before", reportHex("8400 00000080 6400 00000000"), "CHR-33", "group_order", 13},
	{"the same twice", reportHex("6400 00000000 6400 00000000"), "CHR-33", "group_order", 13},
	{"bit 0 of base", reportHex("6400 01000000"), "CHR-34", "group_bits", 9},
	{"the highest bit of base and 31", reportHex("8300 00000080"), "CHR-34", "group_bits", 9},
	{"the bits before the base", reportHex("6600 04000000"), "CHR-34", "group_bits", 9},
	{"base is not named", reportHex("6500 00000000"), "CHR-35", "group_base", 7},
	{"the lowest is one above base", reportHex("6600 01000000"), "CHR-35", "group_base", 7},
	{"base is out of reach", reportHex("8500 ffffffff"), "CHR-35", "group_base", 7},
}

// decodeAll decodes a payload to its end.
func decodeAll(f Format, payload []byte) (list []Record, err error) {
	for at := 0; at < len(payload) || at == 0; {
		var r Record
		if at, err = f.Decode(payload, at, &r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// Each refusal costs no memory (CHR-12).
func TestWhatADecoderRefuses(t *testing.T) {
	for _, c := range refusals {
		_, err := decodeAll(port, unhex(c.hex))
		var e *Error
		check.That(t, errors.As(err, &e), c.name)
		check.Equal(t, c.name, []any{e.Rule(), e.Code(), e.Place()}, []any{c.rule, c.code, c.place})
		check.That(t, errors.Is(err, format.Sentinel(c.code)), "it is its sentinel")
		_, again := decodeAll(port, unhex(c.hex))
		check.Same(t, "it was made in advance", again, err)
	}
}

// A small format has its own bounds.
func TestRefusalsOfASmallFormat(t *testing.T) {
	small := Format{Window: 32, Data: 4, Group: 3}
	for text, want := range map[string]*Error{
		"02 00 0000 0500 6161616161":     messageSize.At(4),
		"03 00 0000 00 03 0400 61616161": countWrong.At(5),
		"03 00 0000 00 01 0300 616161":   fragmentSize.At(6),
		"05 00 0000 2100 00":             roomTooLarge.At(4),
	} {
		_, err := decodeAll(small, unhex(text))
		check.Same(t, text, err, error(want))
	}
	for _, text := range []string{"02 00 0000 0400 61616161", "03 00 0000 02 02 0100 61", "05 00 0000 2000 00"} {
		_, err := decodeAll(small, unhex(text))
		check.Same(t, text, err, nil)
	}
	_, err := decodeAll(Format{Window: 32, Group: 64}, unhex("03 00 0000 20 20"))
	check.Same(t, "no group is larger than the window", err, error(countWrong.At(5)))
}

// An encoder refuses the same, at the place where the field would be (CHR-7, CHR-13).
func TestWhatAnEncoderRefuses(t *testing.T) {
	of := func(typ Type, change func(r *Record)) Record {
		r := Record{Type: typ, Sequence: 100, Room: 512, Count: 2, Data: make([]byte, 1024)}
		change(&r)
		return r
	}
	data := func(n int) func(*Record) { return func(r *Record) { r.Data = make([]byte, n) } }
	groups := func(g ...Group) func(*Record) { return func(r *Record) { r.Groups = g } }
	for _, c := range []struct {
		name string
		Record
		want *Error
	}{
		{"a pad behind a record", Record{}, padNotAlone.At(4)},
		{"type 7", of(7, func(*Record) {}), typeUnknown.At(4)},
		{"channel 64", of(TypeStatus, func(r *Record) { r.Channel = 64 }), channelUnknown.At(5)},
		{"unreliable of no byte", of(TypeUnreliable, data(0)), unreliableSize.At(6)},
		{"unreliable of 65,536", of(TypeUnreliable, data(65536)), unreliableSize.At(6)},
		{"message of no byte", of(TypeMessage, data(0)), messageSize.At(8)},
		{"message of 1,025", of(TypeMessage, data(1025)), messageSize.At(8)},
		{"fragment of 1", of(TypeFragment, func(r *Record) { r.Count = 1 }), countWrong.At(9)},
		{"fragment of 65", of(TypeFragment, func(r *Record) { r.Count = 65 }), countWrong.At(9)},
		{"fragment of 258", of(TypeFragment, func(r *Record) { r.Count = 258 }), countWrong.At(9)},
		{"index 2 of 2", of(TypeFragment, func(r *Record) { r.Index = 2 }), indexBeyond.At(8)},
		{"index -1", of(TypeFragment, func(r *Record) { r.Index = -1 }), indexBeyond.At(8)},
		{"first fragment of 1,023", of(TypeFragment, data(1023)), fragmentSize.At(10)},
		{"last fragment of no byte", of(TypeFragment, func(r *Record) { r.Index, r.Data = 1, nil }), fragmentSize.At(10)},
		{"skip of none", of(TypeSkip, func(r *Record) { r.Count = 0 }), skipCount.At(8)},
		{"skip of 257", of(TypeSkip, func(r *Record) { r.Count = 257 }), skipCount.At(8)},
		{"room 16,385", of(TypeReport, func(r *Record) { r.Room = 16385 }), roomTooLarge.At(8)},
		{"room -1", of(TypeReport, func(r *Record) { r.Room = -1 }), roomTooLarge.At(8)},
		{"33 groups", of(TypeReport, groups(make([]Group, 33)...)), groupsTooMany.At(10)},
		{"start at room", of(TypeReport, groups(Group{612, 0})), groupBeyond.At(11)},
		{"order", of(TypeReport, groups(Group{100, 0}, Group{132, 0})), groupTooNear.At(17)},
		{"bits", of(TypeReport, groups(Group{101, 1}, Group{140, 0}, Group{133, 1})), groupTooNear.At(23)},
		{"below base", of(TypeReport, groups(Group{101, 3})), groupBelow.At(13)},
		{"base", of(TypeReport, groups(Group{101, 0})), groupNotBase.At(11)},
	} {
		before := unhex("06140100")
		got, err := port.Append(before, &c.Record)
		check.Same(t, c.name, err, error(c.want))
		check.Equal(t, "the payload", got, before)
	}
	got, err := port.Append([]byte{0}, &Record{Type: TypeStatus})
	check.Same(t, "behind a pad", err, error(padNotAlone.At(0)))
	check.Equal(t, "the payload", got, []byte{0})
	check.That(t, errors.Is(skipCount.At(8), ErrInvalidField), "it has its sentinel")
}

// A record of every size up to the largest.
func TestTheLargestRecords(t *testing.T) {
	for _, c := range []struct {
		Record
		size int
	}{
		{Record{Type: TypeUnreliable, Data: make([]byte, 65535)}, 65539},
		{Record{Type: TypeMessage, Data: make([]byte, 1024)}, 1030},
		{Record{Type: TypeFragment, Count: 64, Data: make([]byte, 1024)}, 1032},
	} {
		b := check.Must(Format{}.Append(nil, &c.Record))
		check.Equal(t, "bytes", []int{len(b), c.Size()}, []int{c.size, c.size})
		list, err := decodeAll(Format{}, b)
		check.Same(t, "error", err, nil)
		check.That(t, len(list) == 1 && equal(list[0], c.Record), "it comes back")
	}
	missing := make([]uint16, 16384/2)
	for i := range missing {
		missing[i] = uint16(2 * i)
	}
	r := NewReport(63, 0, 16384, missing)
	check.Equal(t, "a report", []int{r.Size(), len(r.Groups)}, []int{199, 32})
	check.Equal(t, "names the lowest", []int{int(r.Groups[0].Start), int(r.Groups[31].Start)}, []int{28, 28 + 31*34})
}

// drawRecord draws a sound record.
func drawRecord(t *rapid.T) Record {
	r := Record{
		Type: Type(rapid.IntRange(1, 6).Draw(t, "type")), Channel: rapid.Uint8Range(0, 63).Draw(t, "channel"),
		Sequence: rapid.Uint16().Draw(t, "sequence"),
	}
	switch r.Type {
	case TypeUnreliable, TypeMessage:
		r.Data = rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data")
	case TypeFragment:
		r.Count = rapid.IntRange(2, 64).Draw(t, "count")
		r.Index = rapid.IntRange(0, r.Count-1).Draw(t, "index")
		r.Data = bytes.Repeat([]byte{7}, 1024)
		if r.Index == r.Count-1 {
			r.Data = r.Data[:rapid.IntRange(1, 1024).Draw(t, "length")]
		}
	case TypeSkip:
		r.Count = rapid.IntRange(1, 256).Draw(t, "count")
	case TypeReport:
		r = drawReport(t, r)
	}
	if r.Type == TypeUnreliable {
		r.Sequence = 0
	}
	return r
}

func drawReport(t *rapid.T, r Record) Record {
	r.Room = rapid.IntRange(0, 512).Draw(t, "room")
	var missing []uint16
	for d := range r.Room {
		if d == 0 && rapid.Bool().Draw(t, "some") || len(missing) > 0 && rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
			missing = append(missing, r.Sequence+uint16(d))
		}
	}
	return NewReport(r.Channel, r.Sequence, r.Room, missing)
}

// What is encoded comes back (CHR-6).
func TestRowsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 6).Draw(t, "records")
		var payload []byte
		for _, r := range rows {
			payload = check.Must(port.Append(payload, &r))
		}
		list, err := decodeAll(port, payload)
		check.Same(t, "error", err, nil)
		check.That(t, slices.EqualFunc(list, rows, equal), fmt.Sprint(list, " are ", rows))
	})
}

// What is decoded has these bytes and no others: one encoding (CHR-6). A byte of a sound row
// is changed, so that what is refused and what is not both occur.
func TestOneEncoding(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var payload []byte
		for _, r := range rapid.SliceOfN(rapid.Custom(drawRecord), 1, 3).Draw(t, "records") {
			payload = check.Must(port.Append(payload, &r))
		}
		payload[rapid.IntRange(0, min(len(payload), 40)-1).Draw(t, "place")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		list, err := decodeAll(port, payload)
		if err != nil {
			refused++
			return
		}
		taken++
		var again []byte
		for _, r := range list {
			again = check.Must(port.Append(again, &r))
		}
		check.Bytes(t, "again", again, payload)
	})
	check.That(t, taken > 10 && refused > 10, fmt.Sprint("both occur: ", taken, refused))
}
