package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a byte, of which bit 0 asks to make the crc right; a protocol id, 4
// bytes; and a datagram.
var targetDatagram = newTarget("Datagram", "a decoder does what the oracle does, by the canonical law", runDatagram, seedDatagrams)

func runDatagram(t T, data []byte) {
	s := script{data}
	repaired, framer := s.byte()&1 == 1, codec.NewFramer(s.uint32())
	datagram := bytes.Clone(s.left)
	if repaired {
		setCRC(framer.ProtocolID(), datagram)
	}
	before := bytes.Clone(datagram)
	got, err := framer.Decode(datagram)
	want, wantErr := oracle.DecodeDatagram(framer.ProtocolID(), before)
	if verbose() {
		t.Logf("%x: %s, %v", before, describe(got), err)
	}
	compareDecoded(t, before, got, err, want, wantErr, func(p codec.Packet) ([]byte, error) { return framer.Append(nil, p) })
	if !bytes.Equal(before, datagram) {
		t.Fatalf("decoding changed the datagram")
	}
	if tooLong := codec.CheckSize(len(datagram)) != nil; tooLong != (len(datagram) > 1038) {
		t.Fatalf("a datagram of %d bytes is too long: %v", len(datagram), tooLong) // DEC-16
	}
}

func seedDatagrams(files []testvectors.File) (seeds [][]byte) {
	for _, q := range codecRequests(files, contract.OpDecodePacket) {
		for repaired := range byte(2) {
			seeds = append(seeds, append(appendUint32([]byte{repaired}, idOf(q)), bytesOf(q.Hex)...))
		}
	}
	return seeds
}
