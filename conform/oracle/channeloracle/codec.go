package channeloracle

import "github.com/chunkwire/chunkwire/conform/layout"

// The types of records by the contract's names.
const (
	Pad        = "pad"
	Unreliable = "unreliable"
	Message    = "message"
	Fragment   = "fragment"
	Skip       = "skip"
	Report     = "report"
	Status     = "status"
)

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

// Parameters are those of the layouts.
func (f Format) Parameters() layout.Parameters {
	return layout.Parameters{"WINDOW": f.Window, "DATA": f.Data, "GROUP": f.Group}
}

// modulo is v mod 65536, which is never negative.
func modulo(v int64) int64 { return ((v % space) + space) % space }

// Names are the fields of a record by the names of the layouts.
var Names = layout.Names{"first": "Sequence", "base": "Sequence", "next": "Sequence"}

// Encode returns the payload of a row of records. Its error is a *layout.Fault.
func Encode(f Format, records []Record) ([]byte, error) {
	list := []layout.Values{}
	for i := range records {
		list = append(list, Names.Get(records[i]))
	}
	b, refused := layout.Encode("channel-payload", layout.Values{"records": list}, f.Parameters())
	if refused != nil {
		return nil, refused
	}
	return b, nil
}

// Decode returns the records of a payload. It refuses the whole payload for the first
// fault in it (CHR-1). Its error is a *layout.Fault.
func Decode(f Format, payload []byte) (records []Record, err error) {
	v, refused := layout.Decode("channel-payload", payload, f.Parameters(), nil)
	if refused != nil {
		return nil, refused
	}
	for _, values := range v["records"].([]layout.Values) {
		var r Record
		Names.Put(values, &r)
		records = append(records, r)
	}
	return records, nil
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
