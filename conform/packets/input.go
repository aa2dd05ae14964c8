package packets

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// This file makes payloads of the sizes at which they are cut otherwise, and datagrams out of what
// the other end sent, or near the numbers of the end to which they come.

// mostSizes is how many numbers say how large a payload is.
const mostSizes = 16

// readPayload makes a payload that fits, or the first that does not.
func readPayload(in conform.Source, config any) conform.Bytes {
	c, _ := whole(config)
	most := c.MaxPacket()
	sizes := [...]int{1, c.FragmentSize, c.FragmentAbove, c.FragmentAbove + 1, 2 * c.FragmentSize, most, most + 1}
	which := int(in.Number(0, mostSizes-1))
	return conform.Bytes(conform.ReadData(in, func(n int) int {
		if which < len(sizes) {
			return min(sizes[which], most+1)
		}
		return n % (most + 2)
	}))
}

// appendPayload is the inverse of readPayload.
func appendPayload(out []byte, payload conform.Bytes) []byte {
	return conform.AppendData(conform.AppendNumber(out, 0, mostSizes-1, mostSizes-1), []byte(payload))
}

// Unpack makes a payload.
func (Send) Unpack(in conform.Source, config any, _ conform.Look) conform.Event {
	return Send{readPayload(in, config)}
}

// Pack is the inverse of Unpack.
func (e Send) Pack(out []byte, _ any, _ conform.Look) []byte { return appendPayload(out, e.Payload) }

// Unpack makes a payload.
func (Quiet) Unpack(in conform.Source, config any, _ conform.Look) conform.Event {
	return Quiet{readPayload(in, config)}
}

// Pack is the inverse of Unpack.
func (e Quiet) Pack(out []byte, _ any, _ conform.Look) []byte { return appendPayload(out, e.Payload) }

// How a datagram is made. Below regular the other end sent it, if it sent any.
const (
	theOthers = 0
	regular   = 9
	fragments = 11
	anyBytes  = 15
	ways      = 16

	mostDatagram = 0xffff
)

// Unpack makes a datagram.
func (Receive) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	how := in.Number(0, ways-1)
	if w, is := config.(WholeConfig); is && w.Honest {
		return Receive{look.Back(in)}
	}
	if how < regular && len(look.Came) > 0 {
		return Receive{conform.UnpackSent(in, look)}
	}
	if how < regular {
		how = regular + how%(anyBytes-regular)
	}
	if how == anyBytes {
		return Receive{conform.Bytes(in.Bytes(mostDatagram))}
	}
	c, _ := whole(config)
	h := packetoracle.Header{Sequence: near(in, look.Near[toReceive]), Ack: near(in, look.Near[toSend]), AckBits: uint32(in.Number(0, 1<<32-1))}
	within := func(most int) func(int) int { return func(n int) int { return 1 + (n+most-1)%most } }
	if how < fragments {
		return Receive{conform.Bytes(packetoracle.EncodeRegular(h, conform.ReadData(in, within(c.MaxPacket()))))}
	}
	count := 2 + int(in.Number(0, 254))%(c.MaxFragments-1)
	id := int(in.Number(0, 255)) % count
	fit := within(c.FragmentSize)
	if id < count-1 {
		fit = func(int) int { return c.FragmentSize }
	}
	return Receive{conform.Bytes(packetoracle.EncodeFragment(h, id, count, conform.ReadData(in, fit)))}
}

// Pack is the inverse of Unpack.
func (e Receive) Pack(out []byte, config any, look conform.Look) []byte {
	if referred, ok := conform.PackSent(conform.AppendNumber(out, 0, ways-1, theOthers), e.Datagram, look); ok {
		return referred
	}
	if b := e.fields(config, look); (Receive{}).Unpack(&conform.Input{Left: b}, config, look) == e {
		return append(out, b...)
	}
	return conform.AppendBytes(conform.AppendNumber(out, 0, ways-1, anyBytes), mostDatagram, []byte(e.Datagram))
}

// fields are the fields of a datagram that decodes.
func (e Receive) fields(config any, look conform.Look) []byte {
	c, _ := whole(config)
	p, err := packetoracle.Decode(c.Limits, []byte(e.Datagram))
	if err != nil {
		return nil
	}
	how := int64(regular)
	if p.IsFragment {
		how = fragments
	}
	out := appendNear(appendNear(conform.AppendNumber(nil, 0, ways-1, how), look.Near[toReceive], p.Header.Sequence), look.Near[toSend], p.Header.Ack)
	out = conform.AppendNumber(out, 0, 1<<32-1, int64(p.Header.AckBits))
	if p.IsFragment {
		out = conform.AppendNumber(conform.AppendNumber(out, 0, 254, int64(p.Count-2)), 0, 255, int64(p.ID))
	}
	return conform.AppendData(out, p.Data)
}

// near and appendNear are of a number on the wire that is mostly near another.
func near(in conform.Source, to int64) uint16 {
	return uint16(conform.Near(in, to, to-1<<15, to+1<<15-1))
}

func appendNear(out []byte, to int64, wire uint16) []byte {
	return conform.AppendNear(out, to, to-1<<15, to+1<<15-1, to+int64(int16(wire-uint16(to))))
}
