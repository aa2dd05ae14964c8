package oracle

// CRC32 is the CRC-32 of IEEE 802.3, bit by bit (FRM-2): the reflected
// polynomial, initial value and final xor 0xFFFFFFFF.
func CRC32(b []byte) uint32 {
	crc := uint32(0xFFFFFFFF)
	for _, v := range b {
		for k := range 8 {
			carry := crc&1 != uint32(v>>k&1)
			crc >>= 1
			if carry {
				crc ^= 0xEDB88320
			}
		}
	}
	return crc ^ 0xFFFFFFFF
}

// DatagramCRC is the crc of a datagram whose bytes after the crc are rest.
func DatagramCRC(protocolID uint32, rest []byte) uint32 {
	var s Stream
	s.Bits(uint64(protocolID), 32)
	s.Bits(0, 32)
	return CRC32(append(s.Pack(), rest...))
}

// Seal returns the datagram whose bytes after the crc are rest, whatever they
// are: with the right crc in front.
func Seal(protocolID uint32, rest []byte) []byte {
	var s Stream
	s.Bits(uint64(DatagramCRC(protocolID, rest)), 32)
	return append(s.Pack(), rest...)
}
