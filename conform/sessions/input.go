package sessions

import (
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// This file makes the datagrams that arrive out of what the ends sent: nothing else is ever proven.

// arriving makes a datagram; some are forged, with the nonce of the latest message of the end.
func arriving(in conform.Source, look conform.Look) conform.Bytes {
	return conform.Arriving(in, look, func() conform.Bytes {
		return forged(look, sessionoracle.Message{Type: sessionoracle.TypeRefused, Version: sessionoracle.Version, Reason: in.Number(1, 9), Proof: make([]byte, 16)})
	}, func() conform.Bytes {
		return forged(look, sessionoracle.ChallengeOf(make([]byte, 16), in.Number(0, 1<<62-1), make([]byte, 16)))
	})
}

// forgeries are those that arriving makes.
const forgeries = 2

// forged is a message that needs no key, with the nonce of the latest message of an end.
func forged(look conform.Look, m sessionoracle.Message) conform.Bytes {
	if len(look.Went) == 0 {
		return ""
	}
	if own, err := sessionoracle.Decode([]byte(look.Went[len(look.Went)-1])); err == nil {
		m.Nonce = own.Nonce
	}
	b, err := sessionoracle.Encode(m)
	if err != nil {
		panic(err) // its fields are in their ranges
	}
	return conform.Bytes(b)
}

// Unpack makes a datagram for a client.
func (Receive) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	return Receive{arriving(in, look)}
}

// Pack is the inverse of Unpack.
func (e Receive) Pack(out []byte, _ any, look conform.Look) []byte {
	return conform.AppendArriving(out, e.Hex, look, forgeries)
}

// mostAddresses is more than there are, so that the first ones come more often.
const mostAddresses = 8

// Addresses are those from which datagrams come that are made: some share a prefix.
var Addresses = [...]string{"192.0.2.1:40000", "192.0.2.1:40001", "198.51.100.7:1", "[2001:db8::1]:1", "[2001:db8::2]:1"}

// Unpack makes a datagram for a server, most of them from the first address.
func (ReceiveFrom) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	n := in.Number(0, mostAddresses-1)
	return ReceiveFrom{Addresses[n%int64(len(Addresses))], arriving(in, look)}
}

// Pack is the inverse of Unpack, for the addresses that there are.
func (e ReceiveFrom) Pack(out []byte, _ any, look conform.Look) []byte {
	n := max(0, slices.Index(Addresses[:], e.From))
	return conform.AppendArriving(conform.AppendNumber(out, 0, mostAddresses-1, int64(n)), e.Hex, look, forgeries)
}

// linkNear makes the link of an entry that there is, and appendLink is its inverse.
func linkNear(in conform.Source, look conform.Look) int64 {
	return look.Near[in.Number(0, int64(len(look.Near))-1)]
}

func appendLink(out []byte, link int64, look conform.Look) []byte {
	return conform.AppendNumber(out, 0, int64(len(look.Near))-1, int64(max(0, slices.Index(look.Near[:], link))))
}

// Unpack makes data of a link that there is.
func (DataOf) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	return DataOf{linkNear(in, look)}
}

// Pack is the inverse of Unpack.
func (e DataOf) Pack(out []byte, _ any, look conform.Look) []byte {
	return appendLink(out, e.Link, look)
}

// Unpack makes the end of a connection that there is.
func (End) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	return End{linkNear(in, look), in.Number(1, 9)}
}

// Pack is the inverse of Unpack.
func (e End) Pack(out []byte, _ any, look conform.Look) []byte {
	return conform.AppendNumber(appendLink(out, e.Link, look), 1, 9, e.Reason)
}
