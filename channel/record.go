package channel

import "encoding/binary"

// The sizes of sections 2 and 3, in bytes where not said.
const (
	MaxChannels    = 64   // of a connection
	LargestPayload = 1160 // of records, except for an unreliable message that goes alone
	MostGroups     = 32   // of a REPORT

	mostSkipped    = 256 // sequences in a SKIP
	mostUnreliable = 1<<16 - 1
	groupSpan      = 33 // sequences that a group can name
	pad            = 0x00
	headSize       = 2 // type and channel
	unreliableTop  = 4 // bytes before the data
	messageTop     = 6
	fragmentTop    = 8
	skipSize       = 5
	reportSize     = 7 // without groups
	groupSize      = 6
	statusSize     = 4
)

// Type is the first byte of a record.
type Type uint8

// The types of records (CHR-8).
const (
	TypePad Type = iota
	TypeUnreliable
	TypeMessage
	TypeFragment
	TypeSkip
	TypeReport
	TypeStatus

	types = iota
)

func (t Type) String() string {
	if t >= types {
		return "unknown"
	}
	return [types]string{"pad", "unreliable", "message", "fragment", "skip", "report", "status"}[t]
}

// Record is a record of any type. It has the fields of its type, the others are 0 (CHR-8 to
// CHR-11).
type Record struct {
	Type    Type
	Channel uint8
	// Sequence is the sequence of a message or fragment, the first of a skip, the base of a report,
	// the next of a status: its low 16 bits (CHR-5).
	Sequence uint16
	Index    int     // of a fragment: 0 to Count - 1
	Count    int     // of a fragment: how many its message has; of a skip: how many sequences, 1 to 256
	Room     int     // of a report: how many sequences from base on are taken
	Groups   []Group // of a report: the missing sequences, ascending
	Data     []byte  // of an unreliable message, a message or a fragment
}

// Group names missing sequences: Start, and Start - 1 - i for each bit i (CHR-3).
type Group struct {
	Start uint16
	Bits  uint32
}

// Size returns how many bytes the record has.
func (r *Record) Size() int {
	switch r.Type {
	case TypeUnreliable:
		return unreliableTop + len(r.Data)
	case TypeMessage:
		return messageTop + len(r.Data)
	case TypeFragment:
		return fragmentTop + len(r.Data)
	case TypeSkip:
		return skipSize
	case TypeReport:
		return reportSize + groupSize*len(r.Groups)
	case TypeStatus:
		return statusSize
	}
	return 1
}

// quiet reports whether the record asks for no ack (CHR-4).
func (r *Record) quiet() bool { return r.Type == TypeReport || r.Type == TypePad }

// Decode decodes the record that begins at a place of a payload. It returns where the next
// one begins: the payload ends there, or Decode is called again. The checks and their order
// are in CHR-2. The data of the record point into the payload, and the memory
// of its groups is used again. Decode takes exactly what Append makes (CHR-6), and reads
// nothing beyond the payload (CHR-12).
func (f Format) Decode(payload []byte, at int, r *Record) (next int, err error) {
	f = f.WithDefaults()
	next, e := r.decodeHead(payload, at)
	if e == nil && r.Type != TypePad {
		next, e = f.decodeFields(payload, next, r)
	}
	if e != nil {
		return at, e
	}
	return next, nil
}

// decodeHead decodes type and channel. It leaves a record without other fields.
func (r *Record) decodeHead(b []byte, at int) (next int, err *Error) {
	*r = Record{Groups: r.Groups[:0]}
	switch {
	case at >= len(b):
		return 0, payloadEmpty.At(at)
	case b[at] == pad && at == 0 && len(b) == 1:
		return 1, nil
	case b[at] == pad:
		return 0, padNotAlone.At(at)
	case Type(b[at]) >= types:
		return 0, typeUnknown.At(at)
	case len(b) < at+headSize:
		return 0, fieldMissing.At(at + 1)
	case b[at+1] >= MaxChannels:
		return 0, channelUnknown.At(at + 1)
	}
	r.Type, r.Channel = Type(b[at]), b[at+1]
	return at + headSize, nil
}

// decodeFields decodes the fields behind type and channel, from a place on.
func (f *Format) decodeFields(b []byte, at int, r *Record) (next int, err *Error) {
	if r.Type == TypeUnreliable {
		return f.decodeData(b, at, r)
	}
	if len(b) < at+2 {
		return 0, fieldMissing.At(at)
	}
	r.Sequence = binary.LittleEndian.Uint16(b[at:])
	at += 2
	switch r.Type {
	case TypeMessage:
		return f.decodeData(b, at, r)
	case TypeFragment:
		return f.decodeFragment(b, at, r)
	case TypeSkip:
		return decodeSkip(b, at, r)
	case TypeReport:
		return f.decodeReport(b, at, r)
	}
	return at, nil
}

// decodeData decodes a length and as many bytes.
func (f *Format) decodeData(b []byte, at int, r *Record) (next int, err *Error) {
	if len(b) < at+2 {
		return 0, fieldMissing.At(at)
	}
	n := int(binary.LittleEndian.Uint16(b[at:]))
	if err = f.checkLength(r, n, at); err != nil {
		return 0, err
	}
	at += 2
	if len(b)-at < n {
		return 0, fieldMissing.At(at)
	}
	r.Data = b[at : at+n : at+n]
	return at + n, nil
}

func (f *Format) decodeFragment(b []byte, at int, r *Record) (next int, err *Error) {
	switch {
	case len(b) <= at:
		return 0, fieldMissing.At(at)
	case len(b) <= at+1:
		return 0, fieldMissing.At(at + 1)
	}
	r.Index, r.Count = int(b[at]), int(b[at+1])+1
	if err = f.checkFragment(r, at); err != nil {
		return 0, err
	}
	return f.decodeData(b, at+2, r)
}

func decodeSkip(b []byte, at int, r *Record) (next int, err *Error) {
	if len(b) <= at {
		return 0, fieldMissing.At(at)
	}
	r.Count = int(b[at]) + 1
	return at + 1, nil
}

func (f *Format) decodeReport(b []byte, at int, r *Record) (next int, err *Error) {
	if len(b) < at+2 {
		return 0, fieldMissing.At(at)
	}
	r.Room = int(binary.LittleEndian.Uint16(b[at:]))
	if r.Room > f.Window {
		return 0, roomTooLarge.At(at)
	}
	at += 2
	if len(b) <= at {
		return 0, fieldMissing.At(at)
	}
	groups := int(b[at])
	if groups > MostGroups {
		return 0, groupsTooMany.At(at)
	}
	at++
	for range groups {
		if err = decodeGroup(b, at, r); err != nil {
			return 0, err
		}
		at += groupSize
	}
	return at, nil
}

// decodeGroup decodes the next group of a report.
func decodeGroup(b []byte, at int, r *Record) *Error {
	if len(b) < at+2 {
		return fieldMissing.At(at)
	}
	g := Group{Start: binary.LittleEndian.Uint16(b[at:])}
	if err := r.checkStart(g, len(r.Groups), at); err != nil {
		return err
	}
	if len(b) < at+groupSize {
		return fieldMissing.At(at + 2)
	}
	g.Bits = binary.LittleEndian.Uint32(b[at+2:])
	if err := r.checkBits(g, len(r.Groups), at); err != nil {
		return err
	}
	r.Groups = append(r.Groups, g)
	return nil
}

// checkLength checks how much data a record has; the length is at a place (CHR-25, CHR-26,
// CHR-29).
func (f *Format) checkLength(r *Record, n, at int) *Error {
	switch {
	case r.Type == TypeUnreliable && (n < 1 || n > mostUnreliable):
		return unreliableSize.At(at)
	case r.Type == TypeMessage && (n < 1 || n > f.Data):
		return messageSize.At(at)
	case r.Type == TypeFragment && (n < 1 || n > f.Data || n < f.Data && r.Index != r.Count-1):
		return fragmentSize.At(at)
	}
	return nil
}

// checkFragment checks the count and the index of a fragment; the index is at a place
// (CHR-27, CHR-28).
func (f *Format) checkFragment(r *Record, at int) *Error {
	switch {
	case r.Count < 2 || r.Count > f.mostFragments():
		return countWrong.At(at + 1)
	case r.Index < 0 || r.Index >= r.Count:
		return indexBeyond.At(at)
	}
	return nil
}

// checkStart checks where group i of a report starts; it is at a place (CHR-32,
// CHR-33).
func (r *Record) checkStart(g Group, i, at int) *Error {
	d := int(g.Start - r.Sequence)
	switch {
	case d >= r.Room:
		return groupBeyond.At(at)
	case i > 0 && d < int(r.Groups[i-1].Start-r.Sequence)+groupSpan:
		return groupTooNear.At(at)
	}
	return nil
}

// checkBits checks which sequences group i of a report names; it is at a place (CHR-34,
// CHR-35).
func (r *Record) checkBits(g Group, i, at int) *Error {
	d := uint(g.Start - r.Sequence)
	switch {
	case g.Bits>>d != 0:
		return groupBelow.At(at + 2)
	case i == 0 && d > 0 && g.Bits>>(d-1) == 0:
		return groupNotBase.At(at)
	}
	return nil
}

// Append appends the record to a payload. It fails with what a decoder would say of it, at
// the place where the field at fault would be (CHR-7), or with ErrInvalidField where its field
// cannot hold the count of a skip (CHR-13); it then returns the payload as it was. Only the largest unreliable
// messages need more room than LargestPayload.
func (f Format) Append(payload []byte, r *Record) ([]byte, error) {
	f = f.WithDefaults()
	if err := f.check(r, payload); err != nil {
		return payload, err
	}
	return appendRecord(payload, r), nil
}

// check returns why a record cannot come behind a payload.
func (f *Format) check(r *Record, payload []byte) *Error {
	at := len(payload)
	switch {
	case at == 1 && payload[0] == pad:
		return padNotAlone.At(0)
	case r.Type == TypePad && at > 0:
		return padNotAlone.At(at)
	case r.Type == TypePad:
		return nil
	case r.Type >= types:
		return typeUnknown.At(at)
	case r.Channel >= MaxChannels:
		return channelUnknown.At(at + 1)
	}
	return f.checkFields(r, at)
}

// checkFields checks the fields of a record that begins at a place.
func (f *Format) checkFields(r *Record, at int) *Error {
	switch r.Type {
	case TypeUnreliable:
		return f.checkLength(r, len(r.Data), at+2)
	case TypeMessage:
		return f.checkLength(r, len(r.Data), at+4)
	case TypeFragment:
		if err := f.checkFragment(r, at+4); err != nil {
			return err
		}
		return f.checkLength(r, len(r.Data), at+6)
	case TypeSkip:
		if r.Count < 1 || r.Count > mostSkipped {
			return skipCount.At(at + 4)
		}
	case TypeReport:
		return f.checkReport(r, at)
	}
	return nil
}

func (f *Format) checkReport(r *Record, at int) *Error {
	switch {
	case r.Room < 0 || r.Room > f.Window:
		return roomTooLarge.At(at + 4)
	case len(r.Groups) > MostGroups:
		return groupsTooMany.At(at + 6)
	}
	for i, g := range r.Groups {
		place := at + reportSize + groupSize*i
		if err := r.checkStart(g, i, place); err != nil {
			return err
		}
		if err := r.checkBits(g, i, place); err != nil {
			return err
		}
	}
	return nil
}

// appendRecord appends a record that is sound.
func appendRecord(dst []byte, r *Record) []byte {
	if r.Type == TypePad {
		return append(dst, pad)
	}
	dst = append(dst, byte(r.Type), r.Channel)
	if r.Type != TypeUnreliable {
		dst = append16(dst, int(r.Sequence))
	}
	switch r.Type {
	case TypeFragment:
		dst = append(dst, byte(r.Index), byte(r.Count-1))
	case TypeSkip:
		return append(dst, byte(r.Count-1))
	case TypeReport:
		return appendGroups(dst, r)
	case TypeStatus:
		return dst
	}
	return append(append16(dst, len(r.Data)), r.Data...)
}

func appendGroups(dst []byte, r *Record) []byte {
	dst = append(append16(dst, r.Room), byte(len(r.Groups)))
	for _, g := range r.Groups {
		dst = binary.LittleEndian.AppendUint32(append16(dst, int(g.Start)), g.Bits)
	}
	return dst
}

func append16(dst []byte, v int) []byte { return append(dst, byte(v), byte(v>>8)) }
