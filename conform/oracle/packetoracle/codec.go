package packetoracle

import "github.com/chunkwire/chunkwire/conform/layout"

// Header is what every packet carries once (PKT-1).
type Header struct {
	Sequence uint16
	Ack      uint16
	AckBits  uint32
}

// Packet is a regular packet, or a fragment.
type Packet struct {
	IsFragment bool
	Header     Header // of a fragment other than the first it has Sequence only
	Data       []byte // the payload, or the fragment's part of it

	ID, Count int // of a fragment
}

// names are the fields of a packet by the names of the layouts.
var names = layout.Names{
	"sequence": "Header.Sequence", "ack": "Header.Ack", "ack_bits": "Header.AckBits",
	"fragment_id": "ID", "num_fragments": "Count", "payload": "Data",
}

// Values are the values of a packet by the names of the layouts.
func (p *Packet) Values() layout.Values {
	v := names.Get(*p)
	v["kind"] = map[bool]string{false: "regular", true: "fragment"}[p.IsFragment]
	return v
}

// EncodeRegular returns a regular packet, valid or not.
func EncodeRegular(h Header, payload []byte) []byte {
	return layout.Raw("packet", (&Packet{Header: h, Data: payload}).Values(), nil)
}

// EncodeFragment returns the fragment id of count, valid or not. data is its part of the payload.
func EncodeFragment(h Header, id, count int, data []byte) []byte {
	return layout.Raw("packet", (&Packet{IsFragment: true, Header: h, ID: id, Count: count, Data: data}).Values(), nil)
}

// Limits are those of section 2 that both ends share.
type Limits struct{ FragmentSize, MaxFragments int }

// MaxPacket is the most bytes of a payload.
func (l Limits) MaxPacket() int { return l.FragmentSize * l.MaxFragments }

// Decode decodes a datagram: PKD-1 to PKD-11, in this order. Its error is an *Error.
func Decode(l Limits, datagram []byte) (p Packet, err error) {
	limits := layout.Parameters{"FRAGMENT_SIZE": int64(l.FragmentSize), "MAX_FRAGMENTS": int64(l.MaxFragments)}
	v, refused := layout.Decode("packet", datagram, limits, nil)
	if refused != nil {
		return p, refused
	}
	names.Put(v, &p)
	p.IsFragment = v["kind"] == "fragment"
	return p, nil
}
