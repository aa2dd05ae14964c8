package packet

import (
	"encoding/binary"

	"github.com/chunkwire/chunkwire/core"
)

// The sizes of section 2, in bytes where not said.
const (
	// DefaultFragmentSize is the size of all fragments of a packet but the last.
	DefaultFragmentSize = 1024
	// DefaultMaxFragments is how many fragments a packet has at most.
	DefaultMaxFragments = 16
	// MaxDatagram is the largest datagram that an endpoint sends: a first fragment of the
	// largest FragmentSize. With the default one it sends at most 1,169.
	MaxDatagram = fragmentHeader + MaxHeader + largestAbove

	largestAbove   = 1160 // FRAGMENT_ABOVE
	mostFragments  = 256
	fragmentHeader = 5
)

// Format is what both ends must agree on (section 2). A field that is 0 has its default.
type Format struct {
	FragmentSize int // bytes in each fragment but the last: 1 to 1,160
	MaxFragments int // fragments of a packet: 2 to 256
}

// WithDefaults returns the format without fields that are 0.
func (f Format) WithDefaults() Format {
	if f.FragmentSize == 0 {
		f.FragmentSize = DefaultFragmentSize
	}
	if f.MaxFragments == 0 {
		f.MaxFragments = DefaultMaxFragments
	}
	return f
}

func (f Format) validate() error {
	switch {
	case f.FragmentSize < 1 || f.FragmentSize > largestAbove:
		return core.ConfigError("packet: FragmentSize", f.FragmentSize, "1 to 1160")
	case f.MaxFragments < 2 || f.MaxFragments > mostFragments:
		return core.ConfigError("packet: MaxFragments", f.MaxFragments, "2 to 256")
	}
	return nil
}

// MaxPacket returns the largest payload of a packet, in bytes (PKP-2).
func (f Format) MaxPacket() int {
	f = f.WithDefaults()
	return f.FragmentSize * f.MaxFragments
}

// numFragments returns how many fragments a payload of size bytes has, in a format without zeros (PKF-1).
func (f Format) numFragments(size int) int {
	return (size + f.FragmentSize - 1) / f.FragmentSize
}

// Packet is what one datagram holds: a whole packet, or a fragment of one.
type Packet struct {
	// Header is the header of the packet. Fragments but the first have only its Sequence.
	Header
	FragmentID   int    // 0 to NumFragments - 1
	NumFragments int    // 2 to Format.MaxFragments; 0: the packet is whole
	Data         []byte // the payload, or the fragment's part of it
}

// Validate returns why a packet cannot be encoded: ErrPayloadSize, or what a decoder
// would say of the fragment (PKF-1 to PKF-3).
func (f Format) Validate(p *Packet) error {
	f = f.WithDefaults()
	if p.NumFragments == 0 {
		if len(p.Data) < 1 || len(p.Data) > f.MaxPacket() {
			return payloadSize.NotAt()
		}
		if p.FragmentID != 0 {
			return fragmentIDBeyond.At(3)
		}
		return nil
	}
	if p.FragmentID < 0 {
		return fragmentIDBeyond.At(3)
	}
	at := fragmentHeader
	if p.FragmentID == 0 {
		at += p.Header.Size()
	}
	if err := f.checkFragment(p, at); err != nil {
		return err
	}
	return nil
}

// checkFragment makes the checks of a fragment that need no more bytes (PKD-8, PKD-9,
// PKD-11). Its data begin at a place.
func (f *Format) checkFragment(p *Packet, at int) *Error {
	if err := f.checkCounts(p); err != nil {
		return err
	}
	last := p.FragmentID == p.NumFragments-1
	if n := len(p.Data); n > f.FragmentSize || n < 1 || !last && n < f.FragmentSize {
		return dataSize.At(at)
	}
	return nil
}

func (f *Format) checkCounts(p *Packet) *Error {
	switch {
	case p.NumFragments > f.MaxFragments:
		return fragmentsTooMany.At(4)
	case p.NumFragments < 2:
		return fragmentSingle.At(4)
	case p.FragmentID >= p.NumFragments:
		return fragmentIDBeyond.At(3)
	}
	return nil
}

// Append appends the datagram that holds p to dst. It fails as Validate does, and then
// returns dst as it was.
func (f Format) Append(dst []byte, p *Packet) ([]byte, error) {
	if err := f.Validate(p); err != nil {
		return dst, err
	}
	return appendPacket(dst, p), nil
}

// appendPacket appends a packet that is sound.
func appendPacket(dst []byte, p *Packet) []byte {
	if p.NumFragments != 0 {
		dst = append(dst, fragmentBit, byte(p.Sequence), byte(p.Sequence>>8), byte(p.FragmentID), byte(p.NumFragments-1))
	}
	if p.FragmentID == 0 {
		dst = p.Header.Append(dst)
	}
	return core.Extend(dst, p.Data)
}

// Decode decodes a datagram; its data point into it. The checks and their order are those
// of section 3.3 (PKD-12). It takes exactly what Append makes (PKT-4), reads nothing beyond
// the datagram and allocates nothing (PKD-13).
func (f Format) Decode(datagram []byte) (p Packet, err error) {
	f = f.WithDefaults()
	if e := f.decode(datagram, &p); e != nil {
		return Packet{}, e
	}
	return p, nil
}

// decode decodes a datagram to an empty packet.
func (f *Format) decode(b []byte, p *Packet) *Error {
	switch {
	case len(b) == 0:
		return prefixMissing.At(0)
	case b[0] == fragmentBit:
		return f.decodeFragment(b, p)
	case b[0]&(fragmentBit|reserved) != 0:
		return prefixReserved.At(0)
	}
	end, err := p.Header.decode(b, 0)
	if err != nil {
		return err
	}
	p.Data = b[end:]
	switch {
	case len(p.Data) == 0:
		return payloadEmpty.At(end)
	case len(p.Data) > f.FragmentSize*f.MaxFragments:
		return payloadTooLarge.At(end)
	}
	return nil
}

func (f *Format) decodeFragment(b []byte, p *Packet) (err *Error) {
	switch {
	case len(b) < 3:
		return sequenceMissing.At(1)
	case len(b) < fragmentHeader:
		return fragmentMissing.At(len(b))
	}
	p.Sequence = binary.LittleEndian.Uint16(b[1:])
	p.FragmentID, p.NumFragments = int(b[3]), int(b[4])+1
	if err = f.checkCounts(p); err != nil {
		return err
	}
	end := fragmentHeader
	if p.FragmentID == 0 {
		if end, err = p.decodeEmbedded(b); err != nil {
			return err
		}
	}
	p.Data = b[end:]
	return f.checkFragment(p, end)
}

// decodeEmbedded decodes the header of a packet that its first fragment holds (PKD-14).
func (p *Packet) decodeEmbedded(b []byte) (end int, err *Error) {
	switch {
	case len(b) == fragmentHeader:
		return 0, embeddedMissing.At(fragmentHeader)
	case b[fragmentHeader]&(fragmentBit|reserved) != 0:
		return 0, embeddedReserved.At(fragmentHeader)
	}
	own := p.Sequence
	if end, err = p.Header.decode(b, fragmentHeader); err == nil && p.Sequence != own {
		err = sequenceDiffers.At(fragmentHeader + 1)
	}
	return end, err
}
