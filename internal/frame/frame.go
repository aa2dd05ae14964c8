// Package frame is what the codecs of slices and acks share: the frame of a datagram
// (section 5 of spec/PROTOCOL.md), the decoder that reads its fields, and the errors.
// Packages codec and repair put their bodies into it.
package frame

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/bitpack"
)

// endCheck closes every datagram (FRM-6).
const endCheck = 0x9908ACE2

// Frame is the frame of one protocol id. It is a small value that can be copied and
// shared.
type Frame struct {
	protocolID uint32
	seed       uint32 // crc of the protocol id and the zero field
}

// New returns the Frame for a protocol id.
func New(protocolID uint32) Frame {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], protocolID)
	return Frame{protocolID, crc32.ChecksumIEEE(head[:])}
}

// ProtocolID returns the id that the Frame was made for.
func (f Frame) ProtocolID() uint32 { return f.protocolID }

// Begin starts a datagram: space for the crc, then the type (FRM-1). The body's
// fields follow at bit 33, and align counts from the datagram's start (FRM-4).
func Begin(dst []byte, packetType uint8) bitpack.Writer {
	w := bitpack.NewWriter(dst)
	w.Bits(0, 32)
	w.Bits(uint32(packetType), 1)
	return w
}

// Finish ends the datagram behind dst and puts its crc in place (FRM-1).
func (f Frame) Finish(dst []byte, w *bitpack.Writer) ([]byte, error) {
	w.Align()
	w.Bits(endCheck, 32)
	out, err := w.Finish()
	if err == nil {
		datagram := out[len(dst):]
		binary.LittleEndian.PutUint32(datagram, f.crc(datagram))
	}
	return out, err
}

// crc returns the checksum over everything behind the crc field (FRM-2).
func (f Frame) crc(datagram []byte) uint32 {
	return crc32.Update(f.seed, crc32.IEEETable, datagram[4:])
}

// Open checks the crc of a datagram and reads its type. The decoder, which has the
// error if there is one, stands at the body (DEC-1 to DEC-3).
func (f Frame) Open(datagram []byte) (d Decoder, packetType uint8) {
	d = NewDecoder(datagram)
	if len(datagram) < 4 {
		d.Err = crcMissing.At(0)
		return d, 0
	}
	d.Check(binary.LittleEndian.Uint32(datagram) == f.crc(datagram), crcWrong, 0)
	_, _ = d.Bits(32)
	return d, uint8(d.Field(1, typeMissing))
}
