package main

import (
	"encoding/hex"
	"errors"

	"github.com/chunkwire/chunkwire/testvectors/oracle"
)

// request is a request of the port contract, without its id.
type request struct {
	Op         string  `json:"op"`
	ProtocolID *uint32 `json:"protocol_id,omitempty"`
	Type       string  `json:"type,omitempty"`
	Hex        *string `json:"hex,omitempty"`
	Packet     *packet `json:"packet,omitempty"`
}

// response is the response to it, without its id.
type response struct {
	OK     bool    `json:"ok"`
	Error  string  `json:"error,omitempty"`
	Hex    *string `json:"hex,omitempty"`
	Packet *packet `json:"packet,omitempty"`

	sentence string // that a refusal rests on
}

// packet is a packet in the contract's JSON.
type packet struct {
	Type      string  `json:"type"`
	ChunkID   int64   `json:"chunk_id"`
	SliceID   *int64  `json:"slice_id,omitempty"`
	NumSlices *int64  `json:"num_slices,omitempty"`
	Data      *string `json:"data,omitempty"`
	Acked     *string `json:"acked,omitempty"`
}

func newPacket(p oracle.Packet) *packet {
	switch p.Type {
	case oracle.TypeAck:
		return &packet{Type: p.Type, ChunkID: p.ChunkID, Acked: pointerTo(ackedText(p.Acked))}
	case oracle.TypeSlice:
		return &packet{
			Type: p.Type, ChunkID: p.ChunkID, SliceID: &p.SliceID, NumSlices: &p.NumSlices,
			Data: pointerTo(hex.EncodeToString(p.Data)),
		}
	}
	return &packet{Type: p.Type, ChunkID: p.ChunkID}
}

// encodeRequest asks for a packet's bytes: of its body, or of its datagram if
// there is a protocol id.
func encodeRequest(protocolID *uint32, p oracle.Packet) (request, response) {
	q := request{Op: "encode_body", ProtocolID: protocolID, Packet: newPacket(p)}
	var b []byte
	var err error
	if protocolID == nil {
		b, err = oracle.EncodeBody(p)
	} else {
		q.Op = "encode_packet"
		b, err = oracle.EncodeDatagram(*protocolID, p)
	}
	if err != nil {
		return q, refusal(err)
	}
	return q, response{OK: true, Hex: pointerTo(hex.EncodeToString(b))}
}

// bodyRequest asks for the packet that a bare body is.
func bodyRequest(kind string, b []byte) (request, response) {
	q := request{Op: "decode_body", Type: kind, Hex: pointerTo(hex.EncodeToString(b))}
	p, err := oracle.DecodeBody(kind, b)
	if err != nil {
		return q, refusal(err)
	}
	return q, response{OK: true, Packet: newPacket(p)}
}

// datagramRequest asks for the packet that a datagram is.
func datagramRequest(protocolID uint32, b []byte) (request, response) {
	q := request{Op: "decode_packet", ProtocolID: &protocolID, Hex: pointerTo(hex.EncodeToString(b))}
	p, err := oracle.DecodeDatagram(protocolID, b)
	if err != nil {
		return q, refusal(err)
	}
	return q, response{OK: true, Packet: newPacket(p)}
}

func refusal(err error) response {
	var refused *oracle.Error
	if !errors.As(err, &refused) {
		panic(err) // the oracle returns no other
	}
	return response{Error: refused.Code, sentence: refused.Sentence}
}

// ackedText writes bits as the contract does.
func ackedText(bits []bool) string {
	b := make([]byte, len(bits))
	for i, bit := range bits {
		b[i] = '0'
		if bit {
			b[i] = '1'
		}
	}
	return string(b)
}

func pointerTo[T any](v T) *T { return &v }
