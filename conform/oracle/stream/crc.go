package stream

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
