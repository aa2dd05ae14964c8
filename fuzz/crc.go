package fuzz

import (
	"encoding/binary"
	"hash/crc32"
)

// crcOf is the crc of a datagram (FRM-2).
func crcOf(protocolID uint32, datagram []byte) uint32 {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], protocolID)
	return crc32.Update(crc32.ChecksumIEEE(head[:]), crc32.IEEETable, datagram[4:])
}

// repair makes the crc of a datagram right, if it has room for one: otherwise no
// fuzzer would get past it.
func repair(protocolID uint32, datagram []byte) {
	if len(datagram) >= 4 {
		binary.LittleEndian.PutUint32(datagram, crcOf(protocolID, datagram))
	}
}

func crcIsRight(in datagramInput) bool {
	d := in.datagram
	return len(d) >= 4 && binary.LittleEndian.Uint32(d) == crcOf(in.framer.ProtocolID(), d)
}
