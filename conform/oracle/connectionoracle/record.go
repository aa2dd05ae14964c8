package connectionoracle

import (
	"maps"

	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// The types of the records that a connection adds, by the contract's names.
const (
	Close    = "close"
	Slice    = "slice"
	ChunkAck = "chunk_ack"
	ECN      = "ecn"
	Clock    = "clock"
)

// MostText is the longest text of a CLOSE.
const MostText = 128

// Record is a record: that of a channel if Type is empty.
type Record struct {
	Type    string
	Code    int64
	Text    string
	Lane    int64
	Packet  oracle.Packet // of a slice or a chunk ack
	Channel channeloracle.Record

	Arrived, Congested int64 // of an ECN
	Sent, Echo, Wait   int64 // of a CLOCK
}

// Format is what a decoder must know: the lanes of the connection, and its channels.
type Format struct {
	Lanes  int64
	Repair bool // the variant of slices and chunk acks
	ECN    bool // there are marks of congestion
	Clock  bool // there are clocks
	// Find returns a channel; nil: all 64 exist and each record fits each of them.
	Find func(id int64) (format channeloracle.Format, unreliable, exists bool)
}

// Parameters are those of the layouts. What a channel is depends on its id.
func (f Format) Parameters() layout.Parameters {
	bit := map[bool]int64{true: 1}
	p := layout.Parameters{"LANES": f.Lanes, "REPAIR": bit[f.Repair], "MARKS": bit[f.ECN], "CLOCKS": bit[f.Clock]}
	if f.Find == nil {
		return p
	}
	of := func(choose func(format channeloracle.Format, unreliable, exists bool) int64) layout.Choose {
		return func(value func(string) any) int64 {
			id, _ := value("channel").(int64)
			return choose(f.Find(id))
		}
	}
	p["CONFIGURED"] = of(func(_ channeloracle.Format, _, exists bool) int64 { return bit[exists] })
	p["KIND"] = of(func(_ channeloracle.Format, unreliable, _ bool) int64 { return 1 + bit[unreliable] })
	p["WINDOW"] = of(func(f channeloracle.Format, _, _ bool) int64 { return f.Window })
	p["DATA"] = of(func(f channeloracle.Format, _, _ bool) int64 { return f.Data })
	p["GROUP"] = of(func(f channeloracle.Format, _, _ bool) int64 { return f.Group })
	return p
}

// Values are the values of a record by the names of the layouts.
func (f Format) Values(r *Record) layout.Values {
	v := layout.Names{}.Get(*r)
	switch r.Type {
	case "":
		return channeloracle.Names.Get(r.Channel)
	case Slice, ChunkAck:
		inner := layout.Names{}.Get(r.Packet)
		delete(inner, "type")
		maps.Copy(v, inner)
	}
	return v
}

// Record is the record of values.
func (f Format) Record(v layout.Values) (r Record) {
	switch v["type"] {
	case Close, ECN, Clock:
		layout.Names{}.Put(v, &r)
	case Slice, ChunkAck:
		layout.Names{}.Put(v, &r)
		layout.Names{}.Put(v, &r.Packet)
	default:
		channeloracle.Names.Put(v, &r.Channel)
	}
	return r
}

// Encode returns the payload of a row of records. Its error is a *layout.Fault. A connection encodes only
// what fits its channels.
func Encode(f Format, records []Record) ([]byte, error) {
	list := []layout.Values{}
	for i := range records {
		list = append(list, f.Values(&records[i]))
	}
	f.Find = nil
	b, refused := layout.Encode("connection-payload", layout.Values{"records": list}, f.Parameters())
	if refused != nil {
		return nil, refused
	}
	return b, nil
}

// Decode returns the records of a payload. It refuses the whole payload for the first fault in
// it. Its error is a *layout.Fault.
func Decode(f Format, payload []byte) (records []Record, err error) {
	v, refused := layout.Decode("connection-payload", payload, f.Parameters(), nil)
	if refused != nil {
		return nil, refused
	}
	for _, values := range v["records"].([]layout.Values) {
		records = append(records, f.Record(values))
	}
	return records, nil
}

// isQuiet reports whether a payload asks for no ack (CXR-6).
func isQuiet(records []Record) bool {
	for _, r := range records {
		isReport := r.Type == "" && (r.Channel.Type == channeloracle.Report || r.Channel.Type == channeloracle.Pad)
		if !isReport && r.Type != ChunkAck && r.Type != Close && r.Type != ECN && r.Type != Clock {
			return false
		}
	}
	return true
}
