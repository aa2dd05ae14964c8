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
)

// port is the format of a port's codec (CHO-3).
var port = Format{Window: 16384}

// equal compares records; no groups and none of them are the same.
func equal(a, b Record) bool {
	groups, data := slices.Equal(a.Groups, b.Groups), bytes.Equal(a.Data, b.Data)
	a.Groups, a.Data, b.Groups, b.Data = nil, nil, nil, nil
	return groups && data && fmt.Sprint(a) == fmt.Sprint(b)
}

func reportHex(groups string) string {
	return fmt.Sprintf("05 01 6400 0002 %02x ", len(strings.Fields(groups))/2) + groups
}

// refused are payloads that a decoder refuses, each by another rule (CHR-20 to CHR-35).
var refused = []string{
	"", "00 06140100", "06140100 00", "07 00 0000", "02", "02 40", "01 00 0000", "02 00 0000 0000", "03 00 0000 00 40",
	"03 00 0000 02 01", "03 00 0000 00 01 ff03", "05 00 0000 0140", "05 00 0000 0040 21",
	reportHex("6402 00000000"), reportHex("6400 00000000 8400 00000000"), reportHex("6400 01000000"), reportHex("6500 00000000"),
}

// Each refusal is made in advance: it costs no memory (CHR-12).
func TestRefusalsAreMadeInAdvance(t *testing.T) {
	for _, text := range refused {
		_, err := decodeAll(port, unhex(text))
		var e *Error
		check.That(t, errors.As(err, &e) && errors.Is(err, format.Sentinel(e.Code())), text)
		_, again := decodeAll(port, unhex(text))
		check.Same(t, text, again, err)
	}
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
			before := len(payload)
			payload = check.Must(port.Append(payload, &r))
			check.Same(t, "size", r.Size(), len(payload)-before)
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
	least := 10
	if testing.Short() { // draws 20 in all
		least = 0
	}
	check.That(t, taken > least && refused > least, fmt.Sprint("both occur: ", taken, refused))
}
