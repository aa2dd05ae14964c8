package main

import (
	"encoding/hex"
	"errors"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// answer is a response, with the sentence on which a refusal rests.
type answer struct {
	contract.Response
	sentence string
}

// encodeRequest asks for a packet's bytes: of its body, or of its datagram if
// there is a protocol id.
func encodeRequest(protocolID *uint32, p oracle.Packet) (contract.Request, answer) {
	q := contract.Request{Op: contract.OpEncodeBody, ProtocolID: protocolID, Packet: newPacket(p)}
	var b []byte
	var err error
	if protocolID == nil {
		b, err = oracle.EncodeBody(p)
	} else {
		q.Op = contract.OpEncodePacket
		b, err = oracle.EncodeDatagram(*protocolID, p)
	}
	if err != nil {
		return q, refusal(err)
	}
	return q, accept(contract.Response{Hex: pointerTo(hex.EncodeToString(b))})
}

// bodyRequest asks for the packet that a bare body is.
func bodyRequest(kind string, b []byte) (contract.Request, answer) {
	q := contract.Request{Op: contract.OpDecodeBody, Type: kind, Hex: pointerTo(hex.EncodeToString(b))}
	p, err := oracle.DecodeBody(kind, b)
	if err != nil {
		return q, refusal(err)
	}
	return q, accept(contract.Response{Packet: newPacket(p)})
}

// datagramRequest asks for the packet that a datagram is.
func datagramRequest(protocolID uint32, b []byte) (contract.Request, answer) {
	q := contract.Request{Op: contract.OpDecodePacket, ProtocolID: &protocolID, Hex: pointerTo(hex.EncodeToString(b))}
	p, err := oracle.DecodeDatagram(protocolID, b)
	if err != nil {
		return q, refusal(err)
	}
	return q, accept(contract.Response{Packet: newPacket(p)})
}

func accept(r contract.Response) answer {
	r.OK = true
	return answer{Response: r}
}

func refusal(err error) answer {
	var refused *oracle.Error
	if !errors.As(err, &refused) {
		panic(err) // the oracle returns no other
	}
	return answer{contract.Response{Answer: contract.Answer{Error: refused.Code}}, refused.Check}
}

func pointerTo[T any](v T) *T { return &v }
