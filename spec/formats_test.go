package spec_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/spec"
)

func TestFormatsMeetTheSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("formats.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("formats.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := jsonschema.UnmarshalJSON(f)
	if err == nil {
		err = schema.Validate(data)
	}
	if err != nil {
		t.Error(err)
	}
}

// The tables of checks are those of the documents, row for row.
func TestChecksOfFormatsAreTheDocuments(t *testing.T) {
	var want, got []string
	for _, file := range []string{"PROTOCOL.md", "REPAIR.md", "PACKETS.md", "CHANNELS.md", "CONNECTION.md"} {
		for _, m := range regexp.MustCompile(`(?m)^\| \*\*([A-Z]+-\d+)\*\* \| (.*) \|$`).FindAllStringSubmatch(documentText(t, file), -1) {
			cells := strings.Split(m[2], " | ")
			if len(cells) == 4 { // REPAIR.md says of which packet
				cells = append([]string{cells[0] + ": " + cells[1]}, cells[2:]...)
			}
			if attack := strings.HasPrefix(m[1], "CXA-"); len(cells) == 3 && !attack {
				codes := regexp.MustCompile("`[a-z_]+`").FindAllString(cells[1], -1)
				want = append(want, fmt.Sprintf("spec/%s %s: %s: %s at %s", file, m[1], cells[0], strings.ReplaceAll(strings.Join(codes, " "), "`", ""), cells[2]))
			}
		}
	}
	for _, table := range layout.Formats().Checks {
		for _, row := range table.Rows {
			got = append(got, fmt.Sprintf("%s %s: %s: %s at %s", table.Document, row.ID, row.Text, strings.Join(row.Codes, " "), row.Place))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-document +formats.json):\n%s", diff)
	}
}

// everyItem calls a function for the items of all layouts.
func everyItem(do func(*layout.Item)) {
	var all func([]layout.Item)
	all = func(list []layout.Item) {
		for i := range list {
			do(&list[i])
			all(list[i].Items)
		}
	}
	for _, f := range layout.Formats().Layouts {
		all(f.Items)
	}
}

// Each check of a document is in a layout, with a code that the document has for it, and each check
// of a layout is one of a document or meets a sentence.
func TestLayoutsHaveTheChecks(t *testing.T) {
	codes, open := map[string][]string{}, map[string]bool{}
	for _, table := range layout.Formats().Checks {
		for _, row := range table.Rows {
			codes[row.ID] = row.Codes
			open[row.ID] = table.Machine == ""
		}
	}
	delete(open, "PKD-10") // the steps of PKD-14, a sentence
	used := func(id, code string) {
		if id == "" {
			return
		}
		delete(open, id)
		list, isRow := codes[id]
		if _, isSentence := spec.Find(id); !isRow && !isSentence {
			t.Errorf("%s is no sentence", id)
		}
		if code != "" && len(list) > 0 && !slices.Contains(list, code) {
			t.Errorf("%s refuses with %s", id, code)
		}
		if code == "" && !isRow {
			t.Errorf("%s has no code", id)
		}
	}
	everyItem(func(it *layout.Item) {
		used(it.Whole, "truncated")
		used(it.Holds, "invalid_field")
		used(it.Refused, "invalid_field")
		used(it.Zero, "")
		used(it.As, "")
		for _, c := range it.Checks {
			used(c.ID, c.Code)
		}
		if it.Check != nil {
			used(it.Check.ID, it.Check.Code)
		}
	})
	for _, f := range layout.Formats().Layouts {
		used(f.Whole, "truncated")
	}
	for id, missing := range open {
		if missing {
			t.Errorf("%s is in no layout", id)
		}
	}
}

// Parameters that are constants of a document have its value.
func TestParametersAreTheConstants(t *testing.T) {
	var found []string
	for _, d := range spec.Documents() {
		for _, c := range d.Constants {
			if v, ok := layout.Formats().Parameters[c.Name]; ok {
				found = append(found, c.Name)
				if v != c.Value && c.Name != "WINDOW" { // CHO-3: those that only encode and decode have the largest
					t.Errorf("%s is %d, in %s %d", c.Name, v, d.File, c.Value)
				}
			}
		}
	}
	slices.Sort(found)
	// The others are of a connection, of a channel or of both ends; the tests of their layouts give them.
	if want := []string{"DATA", "END_CHECK", "FRAGMENT_SIZE", "GROUP", "LARGEST_DATAGRAM", "MAX_FRAGMENTS", "MAX_IDS", "MAX_SLICES", "MOST_GROUPS", "SLICE_SIZE", "WINDOW"}; !slices.Equal(slices.Compact(found), want) {
		t.Errorf("%v, want %v", found, want)
	}
}

// fields are the items of a layout that have bits, with the name and the size of each in bits, or
// bytes whose number another field says, as size.
func fields(name string) (list []field) {
	for _, f := range layout.Formats().Layouts {
		if f.Name == name {
			return fieldsOf(f.Items)
		}
	}
	panic("no layout " + name)
}

type field struct {
	name string
	bits int
	size string
	plus int64
}

func fieldsOf(items []layout.Item) (list []field) {
	for _, it := range items {
		switch bytes, err := strconv.Atoi(it.Bytes); {
		case it.Bits > 0:
			list = append(list, field{it.Name, it.Bits, "", it.Plus})
		case it.Bytes != "" && err == nil:
			list = append(list, field{it.Name, 8 * bytes, "", 0})
		case it.Bytes+it.Flags != "":
			list = append(list, field{it.Name, 0, it.Bytes + it.Flags, 0})
		case it.Use != "":
			list = append(list, fields(it.Use)...)
		case it.Each != "":
			list = append(list, field{it.Name, 0, it.Each, 0})
			list = append(list, fieldsOf(it.Items)...)
		}
	}
	return list
}

// The bodies of chunks are written as calls: bits(name, n), int(name, low, high), bool(name[k]), bytes(name).
func TestBodiesOfChunksAreTheDocuments(t *testing.T) {
	value := func(text string) int {
		text = strings.NewReplacer("MAX_SLICES - 1", "255", "MAX_SLICES", "256", "SLICE_SIZE", "1024").Replace(text)
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for id, name := range map[string]string{"SLC-1": "slice-body", "ACK-1": "ack-body", "RPS-1": "repair-slice-body", "RPA-1": "repair-ack-body"} {
		s, _ := spec.Find(id)
		var want, got []string
		for _, m := range regexp.MustCompile("`(bits|int|bytes|bool)\\(([^)]*)\\)`").FindAllStringSubmatch(s.Text, -1) {
			args := strings.Split(m[2], ", ")
			n := strings.TrimSuffix(args[0], "[k]")
			if n == "id" {
				n = "slice_id"
			}
			bits, plus := 0, 0
			switch m[1] {
			case "bits":
				bits = value(args[1])
			case "int":
				for plus = value(args[1]); 1<<bits <= value(args[2])-plus; bits++ {
				}
			}
			want = append(want, fmt.Sprintf("%s: %d bits, plus %d", n, bits, plus))
		}
		for _, f := range fields(name) {
			got = append(got, fmt.Sprintf("%s: %d bits, plus %d", f.name, f.bits, f.plus))
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 3 {
			t.Errorf("%s and %s (-document +formats.json):\n%s", id, name, diff)
		}
	}
}

// The frame is a row of fields in a figure: crc32 : 32 | type : 1 | body | padding | end check : 32.
func TestFrameIsTheDocuments(t *testing.T) {
	for _, c := range []struct{ frame, slice, ack string }{{"chunk-datagram", "slice-body", "ack-body"}, {"repair-datagram", "repair-slice-body", "repair-ack-body"}} {
		inner := append(fields(c.slice), fields(c.ack)...)
		want := append([]field{{"crc", 32, "", 0}, {"type", 1, "", 0}}, append(inner, field{"end_check", 32, "", 0})...)
		if got := fields(c.frame); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if !strings.Contains(documentText(t, "PROTOCOL.md"), "\n  crc32 : 32 | type : 1 | body | padding | end check : 32\n") {
		t.Error("PROTOCOL.md has another figure of the frame")
	}
}

// The records are tables: a type, a name, and the fields with their sizes.
func TestRecordsOfFormatsAreTheDocuments(t *testing.T) {
	channels := rows(t, "CHANNELS.md", "| Type | Record | Fields after byte 1, with their sizes | Bytes |")
	connections := rows(t, "CONNECTION.md", "| Type | Record | Fields after the type, with their sizes | Bytes |")
	if len(channels) != 6 || len(connections) != 5 {
		t.Fatalf("%d and %d records", len(channels), len(connections))
	}
	numbers := map[string]int64{}
	everyItem(func(it *layout.Item) {
		if it.Name == "type" {
			maps.Copy(numbers, it.Names)
		}
	})
	words := strings.NewReplacer("num_groups", "number of groups")
	for _, row := range append(channels, connections...) {
		record := strings.ToLower(row[1])
		if n := strconv.FormatInt(numbers[record], 10); n != row[0] && record != "slice" { // 0 is a slice in the frame, too
			t.Errorf("%s is %s, want %s", record, n, row[0])
		}
		got, join := "", ""
		for _, f := range fields("record-" + strings.ReplaceAll(record, "_", "-")) {
			switch {
			case f.name == "length" && strings.HasSuffix(got, "length 1"): // of the other variant
				continue
			case f.name == "chunk_id" && !strings.Contains(got, "body"):
				got += join + "body"
				if record == "slice" {
					got += " to the end of the payload"
				}
			case strings.Contains(got, "body"):
			case f.plus != 0:
				got += join + fmt.Sprintf("%s - %d: %d", words.Replace(f.name), f.plus, f.bits/8)
			case f.name == "groups":
				got, join = got+", then for each group: ", ""
				continue
			case f.size != "":
				got += join + f.name
			default:
				got += join + fmt.Sprintf("%s %d", words.Replace(f.name), f.bits/8)
			}
			join = ", "
		}
		if got != row[2] {
			t.Errorf("%s: %s, want %s", record, got, row[2])
		}
	}
}

// The messages of the handshake are rows of a figure, each field with its size; the offer and the
// sizes of messages are in tables, too.
func TestMessagesOfFormatsAreTheDocuments(t *testing.T) {
	figure := regexp.MustCompile(`(?m)^ (LINK|CHALLENGE|PROOF|LINKED|REFUSED) +\|(.*)\|$`).FindAllStringSubmatch(documentText(t, "CONNECTION.md"), -1)
	sizes := map[string]string{}
	for _, row := range rows(t, "CONNECTION.md", "| Kind | Message | Bytes | Answered with at most |") {
		sizes[row[1]] = row[2]
	}
	if len(figure) != 5 || len(sizes) != 5 {
		t.Fatalf("%d rows, %d sizes", len(figure), len(sizes))
	}
	show := func(list []field) (shown []string, size int) {
		for _, f := range list {
			if f.name == "zero" {
				f.bits *= 15
				f.name = "zeros"
			}
			if size += f.bits / 8; f.bits > 0 {
				shown = append(shown, fmt.Sprintf("%s %d", strings.ReplaceAll(f.name, "_", " "), f.bits/8))
			}
		}
		return shown, size
	}
	offer, _ := show(append([]field{{"version", 8, "", 0}}, fields("session-offer")...))
	for _, row := range figure {
		var want []string
		for _, cell := range strings.Split(row[2], "|") {
			switch cell = strings.TrimSpace(cell); cell {
			case "kind":
			case "offer 96":
				want = append(want, offer...)
			case "protocol id 4":
				want = append(want, "protocol 4")
			default:
				want = append(want, cell)
			}
		}
		got, size := show(fields("message-" + strings.ToLower(row[1])))
		if strconv.Itoa(1+size) != sizes[row[1]] {
			t.Errorf("%s has %d bytes, want %s", row[1], 1+size, sizes[row[1]])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-document +formats.json):\n%s", row[1], diff)
		}
	}
	at := 1
	for i, row := range rows(t, "CONNECTION.md", "| Byte | Field | Size | Value |") {
		if want := strings.Replace(row[1], "protocol id", "protocol", 1) + " " + row[2]; offer[i] != want || row[0] != strconv.Itoa(at) {
			t.Errorf("byte %s is %s, want %d and %s", row[0], want, at, offer[i])
		}
		at += int(integer(t, row[2]))
	}
}

// The headers of packets are figures, and a table of the bits of the prefix.
func TestPacketsOfFormatsAreTheDocuments(t *testing.T) {
	show := func(name string) (all string) {
		for _, f := range fields(name) {
			all += fmt.Sprintf("%s %d%s, ", f.name, f.bits, f.size)
		}
		return all
	}
	const prefix = "has_ack_bits_0 1, has_ack_bits_1 1, has_ack_bits_2 1, has_ack_bits_3 1, near 1, reserved 2, "
	const acks = "distance 8, ack_number 16, ack_bits_0 8, ack_bits_1 8, ack_bits_2 8, ack_bits_3 8, "
	for name, want := range map[string]string{
		"packet-header":   "zero 1, " + prefix + "sequence 16, " + acks,
		"packet-regular":  prefix + "sequence 16, " + acks + "payload 0left, ",
		"packet-fragment": "reserved 7, sequence 16, fragment_id 8, num_fragments 8, zero 1, " + prefix + "header_sequence 16, " + acks + "data 0left, ",
	} {
		if got := show(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	bits := rows(t, "PACKETS.md", "| Bit of the prefix | Meaning |")
	if len(bits) != 4 || bits[0][0] != "0" || bits[1][0] != "1, 2, 3, 4" || bits[2][0] != "5" || bits[3][0] != "6, 7" {
		t.Errorf("the prefix has %v", bits)
	}
}
