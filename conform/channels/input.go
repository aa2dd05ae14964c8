package channels

import (
	"encoding/binary"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// Look is what makers of events aim at.
func (o *OracleReceiver) Look() conform.Look {
	base, tail, limit, top := o.Window()
	return conform.Look{Deadline: conform.If(o.Deadline()), Near: [6]int64{base, tail, limit, top}}
}

// The numbers of a sender's Look that are of packets.
const (
	heard     = 3
	composing = 4
)

// mostNumber is the largest number of a packet.
const mostNumber = 1 << 32

// Look is what makers of events aim at.
func (o *OracleSender) Look() conform.Look {
	sent, heard, composing := o.Near()
	return conform.Look{Deadline: conform.If(o.Deadline()), Near: [6]int64{o.Base(), sent, o.Limit(), heard, composing}}
}

// around has what one byte says of a sequence: so many values from below of one of Near.
var around = []struct{ from, count, near, below int64 }{{0, 0xa0, 0, 8}, {0xa0, 0x20, 1, 4}, {0xc0, 0x20, 2, 24}}

// asItIs is a byte behind which a sequence is told as it is.
const asItIs = 0xff

func packSequence(out []byte, wire uint16, look conform.Look) []byte {
	for _, a := range around {
		if d := int64(wire - uint16(look.Near[a.near]-a.below)); d < a.count {
			return append(out, byte(a.from+d))
		}
	}
	return append(out, asItIs, byte(wire), byte(wire>>8))
}

func unpackSequence(in conform.Source, look conform.Look) uint16 {
	v := in.Number(0, 255)
	for _, a := range around {
		if v < a.from+a.count {
			return uint16(look.Near[a.near] - a.below + v - a.from)
		}
	}
	return uint16(in.Number(0, 0xffff))
}

// The types of records on the wire.
const (
	typeMessage, typeFragment, typeSkip, typeStatus = 2, 3, 4, 6
)

// kinds are those that an input has: 0 are bytes as they are.
var kinds = [...]byte{0, typeMessage, typeMessage, typeFragment, typeSkip, typeFragment, typeStatus, typeMessage}

// Pack writes the fields of a record.
func (r Record) Pack(out []byte, config any, look conform.Look) []byte {
	if fields := r.fields(look); (Record{}).Unpack(&conform.Input{Left: fields}, config, look) == r {
		return append(out, fields...)
	}
	return conform.AppendBytes(append(out, 0), 0xffff, []byte(r.Hex))
}

func (r Record) fields(look conform.Look) []byte {
	b := []byte(r.Hex)
	if len(b) < 4 {
		return nil
	}
	var kind byte
	for i, k := range kinds {
		if k == b[0] {
			kind = byte(i)
		}
	}
	out := packSequence([]byte{kind}, binary.LittleEndian.Uint16(b[2:]), look)
	switch rest := b[4:]; {
	case b[0] == typeMessage && len(rest) >= 2:
		out = conform.AppendData(out, rest[2:])
	case b[0] == typeFragment && len(rest) >= 4:
		out = conform.AppendData(append(out, rest[0], rest[1]-1), rest[4:])
	case b[0] == typeSkip && len(rest) == 1:
		out = append(out, rest[0])
	}
	return out
}

// Unpack is the inverse, and makes a valid record of what is none.
func (Record) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	c := config.(ReceiverConfig)
	kind := kinds[in.Number(0, int64(len(kinds)-1))]
	if kind == 0 {
		return Record{conform.Bytes(in.Bytes(0xffff))}
	}
	b := binary.LittleEndian.AppendUint16([]byte{kind, 0}, unpackSequence(in, look))
	within := func(n int) int { return 1 + (n+int(c.Data)-1)%int(c.Data) }
	switch kind {
	case typeMessage:
		b = appendData(b, conform.ReadData(in, within))
	case typeFragment:
		index, count := in.Number(0, 255), 2+in.Number(0, 255)%(min(c.Group, c.Window)-1)
		index %= count
		data := conform.ReadData(in, func(n int) int {
			if index < count-1 {
				return int(c.Data)
			}
			return within(n)
		})
		b = appendData(append(b, byte(index), byte(count-1)), data)
	case typeSkip:
		b = append(b, byte(in.Number(0, 255)))
	}
	return Record{conform.Bytes(b)}
}

func appendData(b, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(data))), data...)
}

// Pack tells data by its size.
func (s Send) Pack(out []byte, config any, look conform.Look) []byte {
	lifetime := conform.AppendNumber(nil, 0, 1, 0)
	if s.Lifetime.Is {
		lifetime = conform.AppendNumber(conform.AppendNumber(nil, 0, 1, 1), 1, mostLifetime, s.Lifetime.V)
	}
	return append(append(out, lifetime...), conform.AppendData(nil, []byte(s.Data))...)
}

const mostLifetime = 1 << 40

// Unpack is the inverse.
func (Send) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	var s Send
	if in.Number(0, 1) == 1 {
		s.Lifetime = conform.Some(in.Number(1, mostLifetime))
	}
	s.Data = conform.Bytes(conform.ReadData(in, func(n int) int { return n }))
	return s
}

// Pack tells the packet from the one before.
func (p SenderPoll) Pack(out []byte, config any, look conform.Look) []byte {
	return conform.AppendNumber(conform.AppendNear(out, look.Near[composing], 0, mostNumber, p.Number), 0, 0xffff, p.Space)
}

// Unpack is the inverse.
func (SenderPoll) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	return SenderPoll{Number: conform.Near(in, look.Near[composing], 0, mostNumber), Space: in.Number(0, 0xffff)}
}

// Pack writes the fields of a report.
func (r Report) Pack(out []byte, config any, look conform.Look) []byte {
	out = conform.AppendNear(out, look.Near[heard], 0, mostNumber, r.Number)
	out = conform.AppendNear(out, look.Near[composing], -1, mostNumber, r.Ack)
	c := config.(SenderConfig)
	if fields := reportFields(r.Hex, c, look); fields != nil && unpackReport(&conform.Input{Left: fields}, c, look) == r.Hex {
		return append(append(out, 1), fields...)
	}
	return conform.AppendBytes(append(out, 0), 0xffff, []byte(r.Hex))
}

// Unpack is the inverse.
func (Report) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	r := Report{Number: conform.Near(in, look.Near[heard], 0, mostNumber), Ack: conform.Near(in, look.Near[composing], -1, mostNumber)}
	if in.Number(0, 1) == 0 {
		r.Hex = conform.Bytes(in.Bytes(0xffff))
	} else {
		r.Hex = unpackReport(in, config.(SenderConfig), look)
	}
	return r
}

func reportFields(b conform.Bytes, c SenderConfig, look conform.Look) []byte {
	list, err := channeloracle.Decode(c.oracle(), []byte(b))
	if err != nil || len(list) != 1 || list[0].Type != channeloracle.Report {
		return nil
	}
	r := list[0]
	out := conform.AppendNumber(packSequence(nil, uint16(r.Sequence), look), 0, c.Window, r.Room)
	out = conform.AppendNumber(out, 0, channeloracle.MostGroups, int64(len(r.Groups)))
	next := r.Sequence
	for _, g := range r.Groups {
		out = conform.AppendNumber(conform.AppendNumber(out, 0, 0xffff, int64(uint16(g.Start-next))), 0, 1<<32-1, g.Bits)
		next = g.Start + groupSpan
	}
	return out
}

// groupSpan is how many sequences a group names at most.
const groupSpan = 33

// unpackReport makes a valid report: of its groups it has those up to the first that is not.
func unpackReport(in conform.Source, c SenderConfig, look conform.Look) conform.Bytes {
	r := channeloracle.Record{Type: channeloracle.Report, Sequence: int64(unpackSequence(in, look)), Room: in.Number(0, c.Window)}
	next := r.Sequence
	b := encoded(c.oracle(), &r)
	for range in.Number(0, channeloracle.MostGroups) {
		g := channeloracle.Group{Start: int64(uint16(next + in.Number(0, 0xffff))), Bits: in.Number(0, 1<<32-1)}
		r.Groups, next = append(r.Groups, g), g.Start+groupSpan
		longer := encoded(c.oracle(), &r)
		if longer == "" {
			break
		}
		b = longer
	}
	return b
}

// Skip is the event that a SKIP comes.
func Skip(first uint16, count int) Record {
	return Record{conform.Bytes([]byte{typeSkip, 0, byte(first), byte(first >> 8), byte(count - 1)})}
}

// AllCame is the event that a report comes by which nothing is missing below a base.
func AllCame(base uint16, room int, number, ack int64) Report {
	r := channeloracle.Record{Type: channeloracle.Report, Sequence: int64(base), Room: int64(room)}
	return Report{Hex: encoded(channeloracle.Format{Window: int64(room)}, &r), Number: number, Ack: ack}
}
