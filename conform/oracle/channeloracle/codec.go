package channeloracle

import "github.com/chunkwire/chunkwire/conform/oracle/stream"

// The types of records by the contract's names. Their numbers on the wire are their
// places in this list; PAD is the one byte 0.
const (
	Pad        = "pad"
	Unreliable = "unreliable"
	Message    = "message"
	Fragment   = "fragment"
	Skip       = "skip"
	Report     = "report"
	Status     = "status"
)

var types = []string{Pad, Unreliable, Message, Fragment, Skip, Report, Status}

// The constants of the wire.
const (
	Channels   = 64
	MostGroups = 32
	MostSkip   = 256
	space      = 65536 // sequences on the wire
)

// Group is what a report says is missing: Start, and start-1-i for each bit i of Bits.
type Group struct{ Start, Bits int64 }

// Record is a record. Sequence is the first sequence of a SKIP, the base of a REPORT, and
// next of a STATUS, as it is on the wire; Count is of a FRAGMENT or a SKIP.
type Record struct {
	Type         string
	Channel      int64
	Sequence     int64
	Index, Count int64
	Room         int64
	Groups       []Group
	Data         []byte
}

// Format is what a decoder must know of the channels (section 2).
type Format struct{ Window, Data, Group int64 }

// Usual is the format of the operations that only encode and decode.
var Usual = Format{Window: 16384, Data: 1024, Group: 64}

// mostFragments is how many a message may have.
func (f Format) mostFragments() int64 { return min(f.Group, f.Window) }

// modulo is v mod 65536, which is never negative.
func modulo(v int64) int64 { return ((v % space) + space) % space }

// check is the checks of a field (CHR-2, CHR-13), which are those of both directions. A
// decoder meets no number that no field holds.
func (f Format) check(r *Record, name string, at int) error {
	refuse := func(code, check string, is bool) error {
		if !is {
			return nil
		}
		return &Error{code, check, at}
	}
	switch name {
	case "sequence":
		return refuse(InvalidField, "CHR-13", r.Sequence < 0 || r.Sequence >= space)
	case "skip count":
		return refuse(InvalidField, "CHR-13", r.Count < 1 || r.Count > MostSkip)
	case "channel":
		return refuse(UnknownChannel, "CHR-23", r.Channel < 0 || r.Channel >= Channels)
	case "fragment count":
		return refuse(FragmentCount, "CHR-27", r.Count < 2 || r.Count > f.mostFragments())
	case "fragment index":
		return refuse(FragmentIndex, "CHR-28", r.Index < 0 || r.Index >= r.Count)
	case "room":
		return refuse(Room, "CHR-30", r.Room < 0 || r.Room > f.Window)
	case "groups":
		return refuse(GroupCount, "CHR-31", len(r.Groups) > MostGroups)
	case "length":
		return refuse(Length, lengthCheck[r.Type], !f.isLength(r, int64(len(r.Data))))
	}
	return nil
}

// lengthCheck is the check on the length of data.
var lengthCheck = map[string]string{Unreliable: "CHR-25", Message: "CHR-26", Fragment: "CHR-29"}

// isLength reports whether a record may have so many bytes of data.
func (f Format) isLength(r *Record, size int64) bool {
	switch {
	case r.Type == Unreliable:
		return size >= 1 && size < space
	case r.Type == Fragment && r.Index < r.Count-1:
		return size == f.Data
	}
	return size >= 1 && size <= f.Data
}

// checkGroup checks the group n of a report, before or after its bits are known.
func checkGroup(r *Record, n int, bitsKnown bool, at int) error {
	start, bits := r.Groups[n].Start, r.Groups[n].Bits
	d := modulo(start - r.Sequence)
	switch {
	case !bitsKnown && (start < 0 || start >= space):
		return &Error{InvalidField, "CHR-13", at}
	case bitsKnown && (bits < 0 || bits >= 1<<32):
		return &Error{InvalidField, "CHR-13", at + 2}
	case !bitsKnown && d >= r.Room:
		return &Error{GroupStart, "CHR-32", at}
	case !bitsKnown && n > 0 && d < modulo(r.Groups[n-1].Start-r.Sequence)+33:
		return &Error{GroupOrder, "CHR-33", at}
	case !bitsKnown:
		return nil
	}
	lowest := d
	for i := range int64(32) {
		if bits>>i&1 == 1 {
			lowest = d - 1 - i
		}
	}
	switch {
	case lowest < 0:
		return &Error{GroupBits, "CHR-34", at + 2}
	case n == 0 && lowest != 0:
		return &Error{GroupBase, "CHR-35", at}
	}
	return nil
}

// Encode returns the payload of a row of records.
func Encode(f Format, records []Record) ([]byte, error) {
	if len(records) == 0 {
		return nil, &Error{Truncated, "CHR-20", 0}
	}
	if len(records) == 1 && records[0].Type == Pad {
		return []byte{0}, nil
	}
	var s stream.Stream
	for i := range records {
		if err := f.encode(&s, &records[i]); err != nil {
			return nil, err
		}
	}
	return s.Pack(), nil
}

// layout is the fields behind type and channel up to the data or the groups, and their
// bytes.
var layout = map[string][]struct {
	name  string
	bytes int
}{
	Unreliable: {{"length", 2}},
	Message:    {{"sequence", 2}, {"length", 2}},
	Fragment:   {{"sequence", 2}, {"index", 1}, {"fragment count", 1}, {"length", 2}},
	Skip:       {{"sequence", 2}, {"skip count", 1}},
	Report:     {{"sequence", 2}, {"room", 2}, {"groups", 1}},
	Status:     {{"sequence", 2}},
}

// Write writes one record behind others, and Read reads one, for a layer that adds records of
// its own.
func (f Format) Write(s *stream.Stream, r *Record) error { return f.encode(s, r) }

// Read reads one record.
func (f Format) Read(in *stream.Reader) (Record, error) { return f.decode(reader{in}) }

func (f Format) encode(s *stream.Stream, r *Record) error {
	at := func() int { return len(*s) / 8 }
	number, known := numberOf(r.Type)
	if !known || r.Type == Pad {
		return &Error{UnknownRecord, "CHR-21", at()}
	}
	s.Bits(number, 8)
	if err := f.check(r, "channel", at()); err != nil {
		return err
	}
	s.Bits(uint64(r.Channel), 8)
	for _, field := range layout[r.Type] {
		if err := f.check(r, field.name, at()); err != nil {
			return err
		}
		if field.name == "fragment count" {
			if err := f.check(r, "fragment index", at()-1); err != nil {
				return err
			}
		}
		s.Bits(r.value(field.name)&(1<<(8*field.bytes)-1), 8*field.bytes)
	}
	for n := range r.Groups {
		if r.Type != Report {
			break
		}
		for _, bitsKnown := range []bool{false, true} {
			if err := checkGroup(r, n, bitsKnown, at()); err != nil {
				return err
			}
		}
		s.Bits(uint64(r.Groups[n].Start), 16)
		s.Bits(uint64(r.Groups[n].Bits), 32)
	}
	if hasData(r.Type) {
		s.Bytes(r.Data)
	}
	return nil
}

// value is what a field has on the wire. An index that is out of range is refused with the
// count behind it.
func (r *Record) value(name string) uint64 {
	v := map[string]int64{
		"sequence": r.Sequence, "length": int64(len(r.Data)), "index": r.Index, "fragment count": r.Count - 1, "skip count": r.Count - 1,
		"room": r.Room, "groups": int64(len(r.Groups)),
	}[name]
	return uint64(v)
}

func hasData(name string) bool { return name == Unreliable || name == Message || name == Fragment }

func numberOf(name string) (uint64, bool) {
	for n, other := range types {
		if other == name {
			return uint64(n), true
		}
	}
	return 0, false
}

// Decode returns the records of a payload. It refuses the whole payload for the first
// fault in it (CHR-1). Its error is an *Error.
func Decode(f Format, payload []byte) (records []Record, err error) {
	if len(payload) == 0 {
		return nil, &Error{Truncated, "CHR-20", 0}
	}
	if len(payload) == 1 && payload[0] == 0 {
		return []Record{{Type: Pad}}, nil
	}
	in := reader{stream.NewReader(payload)}
	for in.left() > 0 {
		r, err := f.decode(in)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// reader reads whole bytes.
type reader struct{ *stream.Reader }

func (r reader) left() int { return r.Left() / 8 }
func (r reader) at() int   { return r.At() / 8 }

// field reads a number.
func (r reader) field(bytes int) (v int64, at int, err error) {
	if at = r.at(); r.left() < bytes {
		return 0, at, &Error{Truncated, "CHR-22", at}
	}
	return int64(r.Bits(8 * bytes)), at, nil
}

func (f Format) decode(in reader) (r Record, err error) {
	number, at, err := in.field(1)
	if err != nil {
		return r, err
	}
	if number < 1 || number >= int64(len(types)) {
		return r, &Error{UnknownRecord, "CHR-21", at}
	}
	r.Type = types[number]
	if r.Channel, at, err = in.field(1); err != nil {
		return r, err
	}
	if err := f.check(&r, "channel", at); err != nil {
		return r, err
	}
	length, groups := int64(0), int64(0)
	for _, field := range layout[r.Type] {
		v, at, err := in.field(field.bytes)
		if err != nil {
			return r, err
		}
		switch field.name {
		case "sequence":
			r.Sequence = v
		case "index":
			r.Index = v
		case "fragment count", "skip count":
			r.Count = v + 1
		case "room":
			r.Room = v
		case "length":
			length = v
			if !f.isLength(&r, length) {
				return r, &Error{Length, lengthCheck[r.Type], at}
			}
			continue
		case "groups":
			if groups = v; groups > MostGroups {
				return r, &Error{GroupCount, "CHR-31", at}
			}
		}
		if err := f.check(&r, field.name, at); err != nil {
			return r, err
		}
		if field.name == "fragment count" {
			if err := f.check(&r, "fragment index", at-1); err != nil {
				return r, err
			}
		}
	}
	for n := range int(groups) {
		if err := in.group(&r, n); err != nil {
			return r, err
		}
	}
	if hasData(r.Type) {
		if int64(in.left()) < length {
			return r, &Error{Truncated, "CHR-22", in.at()}
		}
		r.Data = in.Bytes(int(length))
	}
	return r, nil
}

func (r reader) group(record *Record, n int) error {
	start, at, err := r.field(2)
	if err != nil {
		return err
	}
	record.Groups = append(record.Groups, Group{Start: start})
	if err := checkGroup(record, n, false, at); err != nil {
		return err
	}
	if record.Groups[n].Bits, _, err = r.field(4); err != nil {
		return err
	}
	return checkGroup(record, n, true, at)
}

// Groups returns the groups that name what is missing, which ascends (CHV-6): from the
// newest missing one, the 32 below it, then the newest missing one below those, and so on.
// At most most groups are kept, the lowest ones, in ascending order.
func Groups(missing []int64, most int) []Group {
	left := map[int64]bool{}
	for _, n := range missing {
		left[n] = true
	}
	var groups []Group // the newest first
	for len(left) > 0 {
		newest := int64(-1)
		for n := range left {
			newest = max(newest, n)
		}
		g := Group{Start: modulo(newest)}
		delete(left, newest)
		for i := range int64(32) {
			if left[newest-1-i] {
				g.Bits |= 1 << i
				delete(left, newest-1-i)
			}
		}
		groups = append(groups, g)
	}
	var kept []Group
	for i := len(groups) - 1; i >= 0 && len(kept) < most; i-- {
		kept = append(kept, groups[i])
	}
	return kept
}

// Named returns what the groups of a report name, ascending, with 0 for its base.
func Named(r *Record) (list []int64) {
	for _, g := range r.Groups {
		d := modulo(g.Start - r.Sequence)
		for i := int64(31); i >= 0; i-- {
			if g.Bits>>i&1 == 1 {
				list = append(list, d-1-i)
			}
		}
		list = append(list, d)
	}
	return list
}
