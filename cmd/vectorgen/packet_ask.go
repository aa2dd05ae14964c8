package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file puts the requests of the packet layer to its oracle.

// ok is the beginning of an answer that refuses nothing.
var ok = contract.Answer{OK: true}

func headerResponse(q contract.PacketHeaderRequest) contract.Response {
	b := packetoracle.EncodeHeader(packetoracle.Header{Sequence: q.Sequence, Ack: q.Ack, AckBits: q.AckBits})
	return contract.Response{Answer: ok, Hex: pointerTo(hex.EncodeToString(b))}
}

// decodeResponse also returns the refusal, if it is one.
func decodeResponse(q contract.PacketDecodeRequest) (any, *packetoracle.Error) {
	b, err := hex.DecodeString(q.Hex)
	if err != nil {
		panic(err) // made by this program
	}
	p, err := packetoracle.Decode(packetoracle.Limits{FragmentSize: q.FragmentSize, MaxFragments: q.MaxFragments}, b)
	var refused *packetoracle.Error
	if errors.As(err, &refused) {
		return contract.Placed{Answer: contract.Answer{Error: refused.Code}, At: refused.At}, refused
	}
	return contract.PacketDecodeResponse{Answer: ok, Packet: datagramOf(p)}, nil
}

func bytesIn(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err) // made by this program
	}
	return b
}

// answers are an oracle's responses to requests that a port can read, by their operations.
type answers map[string]func(request json.RawMessage) (json.RawMessage, error)

// answer returns the response to a request.
func (a answers) answer(request json.RawMessage) (json.RawMessage, error) {
	var h contract.Header
	if err := json.Unmarshal(request, &h); err != nil {
		return nil, err
	}
	respond, ok := a[h.Op]
	if !ok {
		return nil, fmt.Errorf("no oracle of %q", h.Op)
	}
	return respond(request)
}

// by reads a request for what answers it.
func by[Q any](answer func(Q) any) func(json.RawMessage) (json.RawMessage, error) {
	return func(request json.RawMessage) (json.RawMessage, error) {
		var q Q
		if err := json.Unmarshal(request, &q); err != nil {
			return nil, err
		}
		return asJSON(answer(q)), nil
	}
}

// packetAnswers are the oracle's responses to requests about the packet layer.
var packetAnswers = answers{
	contract.OpPacketHeader: by(func(q contract.PacketHeaderRequest) any { return headerResponse(q) }),
	contract.OpPacketDecode: by(func(q contract.PacketDecodeRequest) any {
		a, _ := decodeResponse(q)
		return a
	}),
	contract.OpPacketEndpoint: asked(packets.Endpoint), contract.OpPacketCongestion: asked(packets.Congestion),
}

// header adds the encoding of a header.
func (g *group) header(name string, why about, sequence, ack uint16, bits uint32) {
	q := contract.PacketHeaderRequest{Op: contract.OpPacketHeader, Sequence: sequence, Ack: ack, AckBits: bits}
	g.addPair(name, why, q, headerResponse(q))
}

// usualLimits are the defaults of section 2.
var usualLimits = packetoracle.Limits{FragmentSize: 1024, MaxFragments: 16}

// datagram adds the decoding of a datagram. want is accepted, or CODE@PLACE.
func (g *group) datagram(name string, why about, want string, l packetoracle.Limits, b []byte) {
	q := contract.PacketDecodeRequest{
		Op: contract.OpPacketDecode, FragmentSize: l.FragmentSize, MaxFragments: l.MaxFragments, Hex: hex.EncodeToString(b),
	}
	a, refused := decodeResponse(q)
	got := accepted
	if refused != nil {
		got = fmt.Sprintf("%s@%d", refused.Code, refused.At)
		if !slices.Contains(strings.Fields(why.sentences), refused.Check) {
			panic(fmt.Sprintf("%s/%s: refused by %s, the group names %s", g.file.Group, name, refused.Check, why.sentences))
		}
	}
	if got != want {
		panic(fmt.Sprintf("%s/%s: the oracle answers %s, the group expects %s", g.file.Group, name, got, want))
	}
	g.addPair(name, why, q, a)
}

// addPair adds a request with its response.
func (g *group) addPair(name string, why about, q, a any) {
	g.addVector(testvectors.Vector{
		Name: name, Comment: why.comment, Flags: strings.Fields(why.flags), Sentences: strings.Fields(why.sentences),
		Request: asJSON(q), Response: asJSON(a),
	})
}
