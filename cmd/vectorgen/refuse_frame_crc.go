package main

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"math/bits"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// crcVariants are datagrams with a crc that another protocol, or a misread
// sentence, would have put there. Their twins with the right one are slice-not-cut
// and ack-not-cut.
func (g *group) crcVariants() {
	for _, c := range spoiled {
		rest := datagram(c.p)[4:]
		for _, v := range wrongCRCs(rest, body(c.p)) {
			g.decode(c.name+"-crc-"+v.name, about{
				fmt.Sprintf("Catches an implementation %s: it would accept its own datagrams, and this one.", v.mistake), v.flag, "DEC-2 FRM-2",
			}, oracle.CRCMismatch, usualID, joined(v.crc, rest))
		}
	}
}

// wrongCRC is a crc that is not the one of FRM-2.
type wrongCRC struct {
	name, mistake, flag string
	crc                 []byte
}

func wrongCRCs(rest, bare []byte) []wrongCRC {
	id, zeros := []byte{0x44, 0x33, 0x22, 0x11}, make([]byte, 4)
	bigEndian := []byte{0x11, 0x22, 0x33, 0x44}
	whole := joined(id, zeros, rest)
	over := func(name, mistake string, parts ...[]byte) wrongCRC {
		return wrongCRC{name, mistake, "crc-input", little(stream.CRC32(joined(parts...)))}
	}
	other := func(name, mistake string, crc uint32) wrongCRC {
		return wrongCRC{name, mistake, "crc-algorithm", little(crc)}
	}
	right := stream.CRC32(whole)
	return []wrongCRC{
		over("without-zeros", "that leaves out the four zero bytes", id, rest),
		over("with-eight-zeros", "that treats the protocol id as 8 bytes", id, zeros, zeros, rest),
		over("id-big-endian", "that writes the protocol id big-endian into the crc", bigEndian, zeros, rest),
		over("without-id", "that leaves out the protocol id", zeros, rest),
		over("of-id-0", "that always uses the protocol id 0", zeros, zeros, rest),
		over("of-rest", "that takes the crc over what follows it, and nothing else", rest),
		over("zeros-first", "that puts the four zero bytes before the protocol id", zeros, id, rest),
		over("id-last", "that puts the protocol id after the datagram", zeros, rest, id),
		over("without-end", "that leaves out the end check", id, zeros, rest[:len(rest)-4]),
		over("of-body", "that takes the crc over the bare body", id, zeros, bare),
		over("without-type-byte", "that begins a byte late", id, zeros, rest[1:]),
		{"big-endian", "that writes the crc big-endian", "crc-algorithm byte-order", binary.BigEndian.AppendUint32(nil, right)},
		other("castagnoli", "with CRC-32C", crc32.Checksum(whole, crc32.MakeTable(crc32.Castagnoli))),
		other("not-reflected", "with the polynomial not reflected (CRC-32/BZIP2)", notReflected(whole)),
		other("bits-turned", "that writes the crc's bits from the most significant on", bits.Reverse32(right)),
		other("initial-0", "with the initial value 0", crc32.Update(^uint32(0), crc32.IEEETable, whole)),
		other("without-final-xor", "without the final xor", ^right),
		other("seeded-with-id", "that seeds the crc with the protocol id", crc32.Update(usualID, crc32.IEEETable, rest)),
		other("adler", "with Adler-32", adler32.Checksum(whole)),
		{"0", "that treats a crc of 0 as none", "crc-unchecked", make([]byte, 4)},
		{"ones", "that treats a crc of ones as none", "crc-unchecked", repeated(0xff, 4)},
	}
}

func little(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

// notReflected is CRC-32/BZIP2.
func notReflected(b []byte) uint32 {
	crc := uint32(0xffffffff)
	for _, v := range b {
		crc ^= uint32(v) << 24
		for range 8 {
			carry := crc>>31 == 1
			crc <<= 1
			if carry {
				crc ^= 0x04c11db7
			}
		}
	}
	return ^crc
}

// damaged are datagrams of which the network changed one bit.
func (g *group) damaged() {
	places := map[string][]place{
		"slice": {
			{0, "crc"}, {7, "crc"}, {8, "crc"}, {15, "crc"}, {16, "crc"}, {23, "crc"}, {24, "crc"}, {31, "crc"}, {32, "type"}, {33, "chunk_id"}, {48, "chunk_id"},
			{49, "slice_id"}, {57, "num_slices"}, {65, "slice_bytes"}, {75, "padding"}, {80, "data"}, {103, "data"}, {104, "end check"}, {135, "end check"},
		},
		"ack": {
			{0, "crc"}, {15, "crc"}, {16, "crc"}, {31, "crc"}, {32, "type"}, {40, "chunk_id"}, {49, "num_slices"}, {57, "acked"}, {65, "acked"}, {66, "padding"}, {71, "padding"}, {72, "end check"}, {103, "end check"},
		},
	}
	for _, c := range spoiled {
		for _, at := range places[c.name] {
			g.decode(fmt.Sprintf("%s-bit-%d-damaged", c.name, at.bit), about{
				fmt.Sprintf("Catches a decoder that does not compare all of the crc, or leaves bit %d (%s) out of it.", at.bit, at.field), "crc-unchecked", "DEC-2 FRM-2",
			}, oracle.CRCMismatch, usualID, flipped(datagram(c.p), at.bit))
		}
	}
}

// place is a bit and the field that it is in.
type place struct {
	bit   int
	field string
}

// foreignIDs are datagrams of another protocol id.
func (g *group) foreignIDs() {
	p := ack(8, acked(9, uneven))
	for _, c := range []struct{ mine, theirs uint32 }{
		{0x11223344, 0x11223345}, {0x11223344, 0x11223244}, {0x11223344, 0x11233344}, {0x11223344, 0x91223344}, {0x11223344, 0x44332211}, {0x11223344, 0}, {0, 1}, {0, 0xffffffff},
	} {
		b, err := oracle.EncodeDatagram(c.theirs, p)
		if err != nil {
			panic(err) // it is valid
		}
		why := about{fmt.Sprintf("Catches a decoder with the protocol id %#x that accepts a datagram of %#x: not all of the id's bytes are in its crc.", c.mine, c.theirs), "protocol-id", "DEC-2 FRM-2 FRM-5"}
		g.decode(fmt.Sprintf("id-%08x-from-%08x", c.mine, c.theirs), why, oracle.CRCMismatch, c.mine, b)
		g.decode(fmt.Sprintf("id-%08x-from-itself-not-%08x", c.theirs, c.mine), about{"The twin: the same datagram, with its own protocol id.", "protocol-id", "LAW-2 FRM-5"}, accepted, c.theirs, b)
	}
}
