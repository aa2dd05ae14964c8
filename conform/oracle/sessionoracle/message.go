package sessionoracle

import (
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// The types of messages by the contract's names. Data is what no encoder of messages makes.
const (
	TypeLink      = "link"
	TypeChallenge = "challenge"
	TypeProof     = "proof"
	TypeLinked    = "linked"
	TypeRefused   = "refused"
	TypeData      = "data"
)

// The modes by their names.
const (
	CRC  = "crc"
	MAC  = "mac"
	AEAD = "aead"
)

// LargestDatagram is the largest datagram with data.
const LargestDatagram = 1225

// Version is the only version there is.
const Version = 1

// kinds are the first bytes.
var kinds = map[string]int64{TypeLink: 0x48, TypeChallenge: 0x49, TypeProof: 0x4A, TypeLinked: 0x4B, TypeRefused: 0x4C}

// modes are the kinds of data, which are the values of a mode, too.
var modes = map[string]int64{CRC: 0x40, MAC: 0x41, AEAD: 0x42}

// tagSize is how many bytes a tag has.
var tagSize = map[string]int{CRC: 4, MAC: 8, AEAD: 16}

// Message is a message of the handshake, or a datagram with data whose envelope is not
// opened. Each type has only some of the fields. Bytes are as on the wire.
type Message struct {
	Type string

	Version                              int64 // of a REFUSED; that of a LINK or PROOF is Version
	Nonce                                []byte
	Protocol                             int64
	Mode                                 string
	Lanes, Variants, Extensions, Timeout int64
	Format, Identity                     []byte
	Resume                               int64
	Stamp                                int64
	Cookie, Proof                        []byte
	Link                                 int64
	ServerNonce                          []byte
	Variant                              int64
	Reason                               int64
	Counter                              int64 // of data: 32 bits
	Body, Tag                            []byte
}

// field is a field of a message: a number, or bytes.
type field struct {
	name   string
	size   int
	number *int64
	bytes  *[]byte
}

// offer is the fields of an offer but for its version.
func (m *Message) offer() []field {
	return []field{
		{"nonce", 16, nil, &m.Nonce}, {"protocol", 4, &m.Protocol, nil}, {"mode", 1, nil, nil}, {"lanes", 1, &m.Lanes, nil},
		{"variants", 1, &m.Variants, nil}, {"extensions", 2, &m.Extensions, nil}, {"timeout", 2, &m.Timeout, nil},
		{"format", 8, nil, &m.Format}, {"identity", 8, nil, &m.Identity}, {"resume", 4, &m.Resume, nil},
	}
}

// fields is what follows the kind.
func (m *Message) fields() []field {
	version := int64(Version)
	switch m.Type {
	case TypeLink:
		zeros := make([]byte, 15)
		return slices.Concat([]field{{"version", 1, &version, nil}}, m.offer(), []field{{"zeros", 15, nil, &zeros}})
	case TypeChallenge:
		return []field{{"nonce", 16, nil, &m.Nonce}, {"stamp", 8, &m.Stamp, nil}, {"cookie", 16, nil, &m.Cookie}}
	case TypeProof:
		return slices.Concat([]field{{"version", 1, &version, nil}}, m.offer(), []field{
			{"stamp", 8, &m.Stamp, nil}, {"cookie", 16, nil, &m.Cookie}, {"proof", 16, nil, &m.Proof},
		})
	case TypeLinked:
		return []field{
			{"nonce", 16, nil, &m.Nonce}, {"link", 4, &m.Link, nil}, {"server nonce", 16, nil, &m.ServerNonce}, {"lanes", 1, &m.Lanes, nil},
			{"variant", 1, &m.Variant, nil}, {"extensions", 2, &m.Extensions, nil}, {"timeout", 2, &m.Timeout, nil}, {"proof", 16, nil, &m.Proof},
		}
	default:
		return []field{{"nonce", 16, nil, &m.Nonce}, {"version", 1, &m.Version, nil}, {"reason", 1, &m.Reason, nil}, {"proof", 16, nil, &m.Proof}}
	}
}

// Size is how many bytes a message of the handshake has.
func (m *Message) Size() int {
	size := 1
	for _, f := range m.fields() {
		size += f.size
	}
	return size
}

// check is what a field may not be, in both directions; the mode aside.
func (m *Message) check(f field, at int) error {
	refused := func(fault string, is bool) error {
		if !is {
			return nil
		}
		return refuse(fault, at)
	}
	lanes, timeout := badLanes, badTimeout
	if m.Type == TypeLinked {
		lanes, timeout = agreedLanes, agreedTimeout
	}
	switch f.name {
	case "lanes":
		return refused(lanes, m.Lanes > 16)
	case "timeout":
		return refused(timeout, m.Timeout < 10 || m.Timeout > 36000)
	case "stamp":
		return refused(badStamp, m.Stamp < 0 || m.Stamp >= 1<<62)
	case "link":
		return refused(badLink, m.Link == 0)
	case "variant":
		isBit := slices.Contains([]int64{1, 2, 4, 8, 16, 32, 64, 128}, m.Variant)
		return refused(badVariant, m.Lanes > 0 && !isBit || m.Lanes == 0 && m.Variant != 0)
	case "reason":
		return refused(badReason, m.Reason < 1 || m.Reason > 9)
	}
	return nil
}

// Encode returns the bytes of a message of the handshake.
func Encode(m Message) ([]byte, error) {
	kind, ok := kinds[m.Type]
	if !ok {
		return nil, refuse(unknownKind, 0)
	}
	var s stream.Stream
	put(&s, kind, 1)
	for _, f := range m.fields() {
		at := len(s) / 8
		switch {
		case f.name == "mode":
			mode, ok := modes[m.Mode]
			if !ok {
				return nil, refuse(badMode, at)
			}
			put(&s, mode, 1)
			continue
		case f.bytes != nil:
			s.Bytes(*f.bytes)
			continue
		}
		if err := m.check(f, at); err != nil {
			return nil, err
		}
		put(&s, *f.number, f.size)
	}
	return s.Pack(), nil
}

// put writes a number, least byte first.
func put(s *stream.Stream, v int64, size int) {
	for i := range size {
		s.Bits(uint64(v)>>(8*i)&255, 8)
	}
}

// take reads one.
func take(r *stream.Reader, size int) (v int64) {
	for i := range size {
		v |= int64(r.Bits(8) << (8 * i))
	}
	return v
}

// number is the bytes of one.
func number(v int64, size int) []byte {
	var s stream.Stream
	put(&s, v, size)
	return s.Pack()
}

// named returns what has a value in a table.
func named(table map[string]int64, value int64) string {
	for name, v := range table {
		if v == value {
			return name
		}
	}
	return ""
}

// Decode returns the message that a datagram is. Of several faults the first counts. Its
// error is an *Error.
func Decode(datagram []byte) (Message, error) {
	if len(datagram) == 0 {
		return Message{}, refuse(noByte, 0)
	}
	kind := int64(datagram[0])
	if mode := named(modes, kind); mode != "" {
		return decodeData(mode, datagram)
	}
	m := Message{Type: named(kinds, kind)}
	switch size := m.Size(); {
	case m.Type == "":
		return Message{}, refuse(unknownKind, 0)
	case (m.Type == TypeLink || m.Type == TypeProof) && len(datagram) > 1 && datagram[1] != Version:
		return Message{}, refuse(badVersion, 1)
	case len(datagram) < size:
		return Message{}, refuse(truncated, len(datagram))
	case len(datagram) > size:
		return Message{}, refuse(trailingData, size)
	}
	r := stream.NewReader(datagram[1:])
	for _, f := range m.fields() {
		at := 1 + r.At()/8
		switch {
		case f.name == "mode":
			if m.Mode = named(modes, take(r, 1)); m.Mode == "" {
				return Message{}, refuse(badMode, at)
			}
			continue
		case f.name == "zeros":
			for i, b := range r.Bytes(f.size) {
				if b != 0 {
					return Message{}, refuse(padding, at+i)
				}
			}
			continue
		case f.bytes != nil:
			*f.bytes = r.Bytes(f.size)
			continue
		}
		*f.number = take(r, f.size)
		if err := m.check(f, at); err != nil {
			return Message{}, err
		}
	}
	return m, nil
}

// decodeData reads a datagram of a mode, and does not open its envelope.
func decodeData(mode string, datagram []byte) (Message, error) {
	switch {
	case len(datagram) < 9+1+tagSize[mode]:
		return Message{}, refuse(truncated, len(datagram))
	case len(datagram) > LargestDatagram:
		return Message{}, refuse(tooLarge, LargestDatagram)
	}
	r := stream.NewReader(datagram[1:])
	m := Message{Type: TypeData, Mode: mode, Link: take(r, 4), Counter: take(r, 4)}
	m.Body = r.Bytes(len(datagram) - 9 - tagSize[mode])
	m.Tag = r.Bytes(tagSize[mode])
	return m, nil
}
