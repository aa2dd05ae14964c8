package port

import (
	"encoding/hex"
	"errors"

	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// packetOperations are the packet layer's (PKO-1).
var packetOperations = map[string]operation{
	contract.OpPacketHeader: packetHeader, contract.OpPacketDecode: packetDecode,
	contract.OpPacketEndpoint: machine(packets.Endpoint), contract.OpPacketCongestion: machine(packets.Congestion),
}

// placed is a refusal whose answer has a place (PKO-2).
type placed struct {
	code string
	at   int
}

func (p placed) Error() string { return p.code }

// invalidField is a value that a field cannot hold (PKF-4).
const invalidField = "invalid_field"

// packetHeader encodes a header (PKT-1, PKT-2).
func packetHeader(q *object) (any, error) {
	sequence, ack, bits := q.number("sequence"), q.number("ack"), q.number("ack_bits")
	switch {
	case *q.err != nil:
		return nil, *q.err
	case sequence != int64(uint16(sequence)), ack != int64(uint16(ack)), bits != int64(uint32(bits)):
		return nil, placed{invalidField, core.NoPlace}
	}
	h := packet.Header{Sequence: uint16(sequence), Ack: uint16(ack), AckBits: uint32(bits)}
	return encoded(h.Append(nil), nil)
}

// packetDecode decodes a datagram (PKO-3). A decoder alone also takes one fragment at most
// (PKP-1).
func packetDecode(q *object) (any, error) {
	f := packet.Format{FragmentSize: q.small("fragment_size", 1, 1160), MaxFragments: q.small("max_fragments", 1, 256)}
	datagram := q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	p, err := f.Decode(datagram)
	var refused *packet.Error
	if errors.As(err, &refused) {
		return nil, placed{string(refused.Code()), refused.Place()}
	}
	return contract.PacketDecodeResponse{Answer: contract.Answer{OK: true}, Packet: datagramOf(&p)}, err
}

func datagramOf(p *packet.Packet) contract.Datagram {
	d := contract.Datagram{Kind: contract.KindRegular, Sequence: p.Sequence}
	data := pointerTo(hex.EncodeToString(p.Data))
	if p.NumFragments == 0 {
		d.Payload = data
	} else {
		d.Kind, d.FragmentID, d.NumFragments, d.Data = contract.KindFragment, &p.FragmentID, &p.NumFragments, data
	}
	if p.FragmentID == 0 {
		d.Ack, d.AckBits = &p.Ack, &p.AckBits
	}
	return d
}
