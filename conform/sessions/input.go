package sessions

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// This file makes the datagrams that arrive out of what the ends sent: nothing else is ever proven.

// How a datagram is made.
const (
	theOthers  = iota // the other end sent it
	itsOwn            // the end sent it itself
	aRefusal          // forged, with the nonce of the latest message of the end
	aChallenge        // the same
	anyBytes
	waysToArrive  = 16
	mostAddresses = 8
	mostArriving  = 1227 // two more than the largest datagram
)

// arriving makes a datagram.
func arriving(in conform.Source, look conform.Look) conform.Bytes {
	switch how := in.Number(0, waysToArrive-1); how {
	case itsOwn:
		look.Came = look.Went
	case aRefusal:
		return forged(look, sessionoracle.Message{Type: sessionoracle.TypeRefused, Version: sessionoracle.Version, Reason: in.Number(1, 9), Proof: make([]byte, 16)})
	case aChallenge:
		return forged(look, sessionoracle.Message{Type: sessionoracle.TypeChallenge, Stamp: in.Number(0, 1<<62-1), Cookie: make([]byte, 16)})
	case anyBytes:
		return conform.Bytes(in.Bytes(mostArriving))
	}
	return conform.UnpackSent(in, look)
}

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

// appendArriving is the inverse of arriving.
func appendArriving(out []byte, b conform.Bytes, look conform.Look) []byte {
	if referred, ok := conform.PackSent(conform.AppendNumber(out, 0, waysToArrive-1, theOthers), b, look); ok {
		return referred
	}
	return conform.AppendBytes(conform.AppendNumber(out, 0, waysToArrive-1, anyBytes), mostArriving, []byte(b))
}

// Unpack makes a datagram for a client.
func (Receive) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	return Receive{arriving(in, look)}
}

// Pack is the inverse of Unpack.
func (e Receive) Pack(out []byte, _ any, look conform.Look) []byte {
	return appendArriving(out, e.Hex, look)
}

// Addresses are those from which datagrams come that are made: some share a prefix.
var Addresses = [...]string{"192.0.2.1:40000", "192.0.2.1:40001", "198.51.100.7:1", "[2001:db8::1]:1", "[2001:db8::2]:1"}

// Unpack makes a datagram for a server, most of them from the first address.
func (ReceiveFrom) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	n := in.Number(0, mostAddresses-1)
	return ReceiveFrom{Addresses[n%int64(len(Addresses))], arriving(in, look)}
}

// Pack is the inverse of Unpack, for the addresses that there are.
func (e ReceiveFrom) Pack(out []byte, _ any, look conform.Look) []byte {
	n := int64(0)
	for i, a := range Addresses {
		if a == e.From {
			n = int64(i)
		}
	}
	return appendArriving(conform.AppendNumber(out, 0, mostAddresses-1, n), e.Hex, look)
}

// linkNear makes the link of an entry that there is, and appendLink is its inverse.
func linkNear(in conform.Source, look conform.Look) int64 {
	return look.Near[in.Number(0, int64(len(look.Near))-1)]
}

func appendLink(out []byte, link int64, look conform.Look) []byte {
	n := int64(0)
	for i, near := range look.Near {
		if near == link {
			n = int64(i)
		}
	}
	return conform.AppendNumber(out, 0, int64(len(look.Near))-1, n)
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
