package oracle

import "github.com/chunkwire/chunkwire/conform/oracle/stream"

// DatagramCRC is the crc of a datagram whose bytes after the crc are rest (FRM-2).
func DatagramCRC(protocolID uint32, rest []byte) uint32 {
	var s stream.Stream
	s.Bits(uint64(protocolID), 32)
	s.Bits(0, 32)
	return stream.CRC32(append(s.Pack(), rest...))
}

// Seal returns the datagram whose bytes after the crc are rest, whatever they
// are: with the right crc in front.
func Seal(protocolID uint32, rest []byte) []byte {
	var s stream.Stream
	s.Bits(uint64(DatagramCRC(protocolID, rest)), 32)
	return append(s.Pack(), rest...)
}
