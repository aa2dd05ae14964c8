package sessionoracle

import (
	"encoding/binary"

	"github.com/chunkwire/chunkwire/conform/layout"
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

// Version is the only version there is.
const Version = 2

// modes are the kinds of data.
var modes = map[string]int64{CRC: 0x40, MAC: 0x41, AEAD: 0x42}

// tagSize is how many bytes a tag has.
var tagSize = map[string]int{CRC: 4, MAC: 8, AEAD: 16}

// Message is a message of the handshake, or a datagram with data whose envelope is not
// opened. Each type has only some of the fields. Bytes are as on the wire.
type Message struct {
	Type string

	Version                              int64 // of a CHALLENGE or REFUSED; that of a LINK or PROOF is Version
	Versions, Reserved                   []byte
	Nonce                                []byte
	Protocol                             int64
	Mode                                 string
	Lanes, Variants, Extensions, Timeout int64
	Format, Identity                     []byte
	Resume                               int64
	Digest, Share                        []byte
	Stamp                                int64
	Cookie, Move, Proof                  []byte
	Link                                 int64
	Variant                              int64
	Reason                               int64
	Counter                              int64 // of data: 32 bits
	Body, Tag                            []byte
}

// Encode returns the bytes of a message of the handshake. Its error is an *Error.
func Encode(m Message) ([]byte, error) {
	b, refused := layout.Encode("session-message", layout.Names{}.Get(m), nil)
	if refused != nil {
		return nil, refused
	}
	return b, nil
}

// Decode returns the message that a datagram is; the envelope of data is not opened. Its error
// is an *Error.
func Decode(datagram []byte) (m Message, err error) {
	v, refused := layout.Decode("session-message", datagram, nil, nil)
	if refused != nil {
		return m, refused
	}
	layout.Names{}.Put(v, &m)
	return m, nil
}

// number is the bytes of a number, least byte first.
func number(v int64, size int) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]
}
