package connections

import (
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// This file makes the events whose bytes mean something: datagrams out of what the ends sent, and messages
// and chunks of sizes that an end of a talk can carry.

// The most of what is made.
const (
	mostMessage = 5000
	mostChunk   = 9000
	mostText    = 140
	mostAcked   = 64  // a packet that acks what was not sent ends the connection
	mostOf      = 256 // contents of messages
)

var fields = []string{"", "ect0", "ce", "ect1"}

// Unpack makes a datagram: also of an end that has the keys, and sends any payload.
func (Receive) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	e := Receive{ECN: fields[in.Number(0, int64(len(fields))-1)]}
	e.Hex = conform.Arriving(in, look, func() conform.Bytes { return lie(in, config.(Config), look) })
	return e
}

// lie is a packet of an end that has the keys. Its counter is none that the other end has used.
func lie(in conform.Source, c Config, look conform.Look) conform.Bytes {
	h := packetoracle.Header{Sequence: uint16(in.Number(0, 1<<16-1)), Ack: uint16(in.Number(0, mostAcked) - 1), AckBits: uint32(1<<in.Number(0, 32) - 1)}
	body := packetoracle.EncodeRegular(h, in.Bytes(1160))
	from := sessionoracle.Direction{Mode: c.Mode, Key: []byte(c.ReceiveKey), Link: c.Link}
	return conform.Bytes(from.Seal(int64(len(look.Came))+in.Number(1, 200), body))
}

// Pack is the inverse of Unpack, except for what is no datagram of the other end.
func (e Receive) Pack(out []byte, _ any, look conform.Look) []byte {
	field := max(0, slices.Index(fields, e.ECN))
	return conform.AppendArriving(conform.AppendNumber(out, 0, int64(len(fields))-1, int64(field)), e.Hex, look, 1)
}

// mostLifetime is the longest lifetime that is made, in milliseconds.
const mostLifetime = 1000

// Unpack makes a message.
func (Send) Unpack(in conform.Source, _ any, _ conform.Look) conform.Event {
	e := Send{Channel: in.Number(0, 3), Data: conform.Bytes(conform.Content(int(in.Number(0, mostOf-1)), int(in.Number(0, mostMessage))))}
	if ms := in.Number(0, mostLifetime); ms > 0 {
		e.Lifetime = conform.Some(1000 * ms)
	}
	return e
}

// Pack is the inverse of Unpack for such a message.
func (e Send) Pack(out []byte, _ any, _ conform.Look) []byte {
	number := 0
	for number < mostOf-1 && conform.Bytes(conform.Content(number, len(e.Data))) != e.Data {
		number++
	}
	out = conform.AppendNumber(conform.AppendNumber(out, 0, 3, e.Channel), 0, mostOf-1, int64(number))
	return conform.AppendNumber(conform.AppendNumber(out, 0, mostMessage, int64(len(e.Data))), 0, mostLifetime, e.Lifetime.V/1000)
}

// Unpack makes a read, from one of the channels or one that there is not.
func (Read) Unpack(in conform.Source, _ any, _ conform.Look) conform.Event {
	return Read{in.Number(0, 3)}
}

// Pack is the inverse of Unpack.
func (e Read) Pack(out []byte, _ any, _ conform.Look) []byte {
	return conform.AppendNumber(out, 0, 3, e.Channel)
}

// Unpack makes a chunk.
func (SendChunk) Unpack(in conform.Source, _ any, _ conform.Look) conform.Event {
	return SendChunk{in.Number(0, mostChunk)}
}

// Pack is the inverse of Unpack.
func (e SendChunk) Pack(out []byte, _ any, _ conform.Look) []byte {
	return conform.AppendNumber(out, 0, mostChunk, e.Size)
}

// rarely is how seldom an end closes: most often it polls.
const rarely = 16

// Unpack makes a close, or a poll.
func (Close) Unpack(in conform.Source, _ any, _ conform.Look) conform.Event {
	if in.Number(0, rarely-1) != 0 {
		return Poll{}
	}
	return Close{in.Number(0, 1<<16-1), strings.Repeat("x", int(in.Number(0, mostText)))}
}

// Pack is the inverse of Unpack.
func (e Close) Pack(out []byte, _ any, _ conform.Look) []byte {
	return conform.AppendNumber(conform.AppendNumber(conform.AppendNumber(out, 0, rarely-1, 0), 0, 1<<16-1, e.Code), 0, mostText, int64(len(e.Text)))
}
