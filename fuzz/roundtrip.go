package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/fuzz/internal/agree"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a protocol id, 4 bytes; a byte each for the length of what stands
// before the packet in its buffer and for the buffer's spare room; and a packet as
// readPacket takes it.
var targetRoundTrip = newTarget("RoundTrip", "an encoder does what the oracle does, or refuses and writes nothing; decoding inverts it", runRoundTrip, seedRoundTrips)

func runRoundTrip(t T, data []byte) {
	s := script{data}
	framer := codec.NewFramer(s.uint32())
	before, spare := int(s.byte()%32), 8*int(s.byte())
	p := readPacket(&s)
	want, wantErr := oracle.EncodeDatagram(framer.ProtocolID(), agree.ForOracle(p))
	if verbose() {
		t.Logf("%s: %d bytes, %v", describe(p), len(want), wantErr)
	}
	checkValidate(t, p, wantErr)
	datagram := appended(t, want, wantErr, before, spare, func(dst []byte) ([]byte, error) { return framer.Append(dst, p) })
	if wantErr == nil {
		checkSizes(t, p, len(datagram))
		back, err := framer.Decode(datagram)
		checkSame(t, "datagram", p, back, err)
	}
	if p.Type > codec.TypeAck {
		return
	}
	want, wantErr = oracle.EncodeBody(agree.ForOracle(p))
	body := appended(t, want, wantErr, before, spare, func(dst []byte) ([]byte, error) { return appendBody(dst, p) })
	if wantErr == nil {
		back, err := decodeBody(p.Type, body)
		checkSame(t, "body", p, back, err)
	}
}

const untouched = 0xA5

// appended calls an encoder with a buffer that holds something already and has
// spare room behind, and returns what it added. A refused packet must leave the
// buffer as it was, the room included (6.2).
func appended(t T, want []byte, wantErr error, before, spare int, encode func([]byte) ([]byte, error)) []byte {
	t.Helper()
	room := bytes.Repeat([]byte{untouched}, before+spare)
	out, err := encode(room[:before])
	compareErrors(t, err, wantErr)
	if len(out) < before || !allUntouched(out[:before]) {
		t.Fatalf("what stood in the buffer before has changed")
	}
	if err != nil && (len(out) != before || !allUntouched(room)) {
		t.Fatalf("a refused packet left something: %x", room)
	}
	if added := out[before:]; !bytes.Equal(added, want) {
		t.Fatalf("encoded %x, the oracle %x", added, want)
	}
	return out[before:]
}

func allUntouched(b []byte) bool {
	for _, v := range b {
		if v != untouched {
			return false
		}
	}
	return true
}

func checkValidate(t T, p codec.Packet, wantErr error) {
	t.Helper()
	var err error
	switch p.Type {
	case codec.TypeSlice:
		err = codec.Named.ValidateSlice(&p.Slice)
	case codec.TypeAck:
		err = codec.Named.ValidateAck(&p.Ack)
	default:
		return
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("Validate says %v, the oracle %v", err, wantErr)
	}
}

// checkSizes compares the size that the codec says with that of the datagram.
func checkSizes(t T, p codec.Packet, got int) {
	t.Helper()
	said, most := p.Slice.DatagramSize(), codec.MaxDatagramSize
	if p.Type == codec.TypeAck {
		said, most = codec.Named.AckSize(p.Ack.NumSlices), codec.MaxAckSize
	}
	if said != got || got > most || codec.CheckSize(got) != nil {
		t.Fatalf("the datagram has %d bytes; the codec says %d, and %d at most", got, said, most)
	}
}

func checkSame(t T, what string, want, got codec.Packet, err error) {
	t.Helper()
	if err != nil || !agree.Same(want, got) {
		t.Fatalf("the %s decodes to %s, %v, want %s", what, describe(got), err, describe(want))
	}
}

func seedRoundTrips(files []testvectors.File) (seeds [][]byte) {
	for i, q := range codecRequests(files, contract.OpEncodePacket, contract.OpEncodeBody) {
		head := append(appendUint32(nil, idOf(q)), byte(i), byte(i*7))
		seeds = append(seeds, append(head, packetScript(packetOf(q))...))
	}
	for kind := range 8 { // every kind, within its limits
		for id := range 3 {
			head := append(appendUint32(nil, conversationID), 3, 200, 0x80|byte(kind), 1, 0, 3, 0, byte(id), 0, 9, 0)
			seeds = append(seeds, append(head, noise[:40]...))
		}
	}
	return seeds
}
