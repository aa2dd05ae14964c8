package fuzz

import (
	"bytes"
	"math"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is FRAGMENT_SIZE - 1, 2 bytes, and MAX_FRAGMENTS - 1, a byte; a byte that says
// what the rest is: if it is even, a datagram; if it is odd, the fields of a packet as
// readFields reads them, in range or not.
var targetPacket = newTarget("Packet", "the codec of packets does what its oracle does: value, or code and byte; canonical both ways", runPacket, seedPackets)

func runPacket(t T, data []byte) {
	s := script{data}
	f := packet.Format{FragmentSize: 1 + int(s.uint16())%1160, MaxFragments: 1 + int(s.byte())}
	if s.byte()&1 == 1 {
		runFields(t, f, readFields(&s))
		return
	}
	runPacketDatagram(t, f, s.left)
}

// runPacketDatagram decodes any bytes (PKD-1 to PKD-14).
func runPacketDatagram(t T, f packet.Format, datagram []byte) {
	t.Helper()
	before := bytes.Clone(datagram)
	got, err := f.Decode(datagram)
	want, wantErr := packetoracle.Decode(packetoracle.Limits(f), before)
	if verbose() {
		t.Logf("%+v, %x: %+v, %v", f, before, got, err)
	}
	if !bytes.Equal(before, datagram) {
		t.Fatalf("decoding changed the datagram")
	}
	checkDecodedHeader(t, datagram, want, wantErr)
	comparePlaced(t, err, wantErr)
	if err != nil {
		if got.Data != nil || got.Header != (packet.Header{}) || got.NumFragments != 0 || got.FragmentID != 0 {
			t.Fatalf("refused with %v, but returned %+v", err, got)
		}
		return
	}
	if !samePackets(got, want) {
		t.Fatalf("decoded %+v, the oracle %+v", got, want)
	}
	if again, err := f.Append([]byte("before"), &got); err != nil || !bytes.Equal(again, append([]byte("before"), datagram...)) {
		t.Fatalf("accepted, but it encodes to %x, %v", again, err)
	}
	if again := oracleEncodes(got); !bytes.Equal(again, datagram) {
		t.Fatalf("accepted, but the oracle encodes it to %x", again)
	}
}

// checkDecodedHeader: what decodes headers alone does what the oracle does, as long as
// the oracle's fault lies in the header.
func checkDecodedHeader(t T, datagram []byte, want packetoracle.Packet, wantErr error) {
	t.Helper()
	h, size, err := packet.DecodeHeader(datagram)
	refused, _ := wantErr.(*packetoracle.Error)
	switch {
	case len(datagram) > 0 && datagram[0]&1 == 1: // no header begins so
		if e, ok := err.(*packet.Error); !ok || string(e.Code()) != packetoracle.ReservedBits || e.Place() != 0 {
			t.Fatalf("a fragment is no header: %v", err)
		}
	case refused == nil:
		if h != packet.Header(want.Header) || err != nil || size != len(datagram)-len(want.Data) || size != h.Size() {
			t.Fatalf("the header is %+v of %d bytes, %v; the oracle's %+v", h, size, err, want.Header)
		}
	case refused.Code == packetoracle.EmptyPayload || refused.Code == packetoracle.TooLarge:
		if err != nil || size != refused.At {
			t.Fatalf("the header has %d bytes, %v; the payload begins at %d", size, err, refused.At)
		}
	default:
		comparePlaced(t, err, wantErr)
		if h != (packet.Header{}) || size != 0 {
			t.Fatalf("refused with %v, but returned %+v", err, h)
		}
	}
}

// comparePlaced: both take it, or both refuse it with the same code and byte.
func comparePlaced(t T, err, want error) {
	t.Helper()
	if err == nil && want == nil {
		return
	}
	got, isOurs := err.(*packet.Error)
	w, refused := want.(*packetoracle.Error)
	if !isOurs || !refused || string(got.Code()) != w.Code || got.Place() != w.At {
		t.Fatalf("the codec says %v, the oracle %v", err, want)
	}
}

func samePackets(a packet.Packet, b packetoracle.Packet) bool {
	return a.Header == packet.Header(b.Header) && a.FragmentID == b.ID && a.NumFragments == b.Count && bytes.Equal(a.Data, b.Data)
}

// oracleEncodes returns what the oracle encodes a packet to whose fields have room.
func oracleEncodes(p packet.Packet) []byte {
	if p.NumFragments == 0 {
		return packetoracle.EncodeRegular(packetoracle.Header(p.Header), p.Data)
	}
	return packetoracle.EncodeFragment(packetoracle.Header(p.Header), p.FragmentID, p.NumFragments, p.Data)
}

// runFields encodes a packet of any fields (PKF-1 to PKF-4).
func runFields(t T, f packet.Format, p packet.Packet) {
	t.Helper()
	before := []byte("before")
	got, err := f.Append(before, &p)
	if verbose() {
		t.Logf("%+v, %+v: %x, %v", f, p, got, err)
	}
	if header := p.Header.Append(nil); !bytes.Equal(header, packetoracle.EncodeHeader(packetoracle.Header(p.Header))) || len(header) != p.Header.Size() {
		t.Fatalf("the header is %x", header)
	}
	comparePlaced(t, err, refusalOf(f, p))
	if err != nil {
		if !bytes.Equal(got, before) {
			t.Fatalf("refused with %v, but wrote %x", err, got)
		}
		return
	}
	if p.FragmentID > 0 {
		p.Header = packet.Header{Sequence: p.Sequence} // all that the wire has
	}
	if want := oracleEncodes(p); !bytes.Equal(got[len(before):], want) {
		t.Fatalf("encoded %x, the oracle %x", got[len(before):], want)
	}
	back, err := f.Decode(got[len(before):])
	if err != nil || !samePackets(back, packetoracle.Packet{Header: packetoracle.Header(p.Header), ID: p.FragmentID, Count: p.NumFragments, Data: p.Data}) {
		t.Fatalf("it decodes to %+v, %v", back, err)
	}
}

// refusalOf is why a packet cannot be encoded. Of a fragment the oracle's decoder says
// it, if the wire has room for its fields (PKF-4).
func refusalOf(f packet.Format, p packet.Packet) error {
	switch {
	case p.NumFragments == 0 && (len(p.Data) < 1 || len(p.Data) > f.FragmentSize*f.MaxFragments):
		return &packetoracle.Error{Code: packetoracle.PayloadSize, At: packetoracle.Nowhere}
	case p.NumFragments == 0 && p.FragmentID != 0, p.NumFragments != 0 && p.FragmentID < 0:
		return &packetoracle.Error{Code: packetoracle.FragmentIDOutOfRange, At: 3}
	case p.NumFragments == 0:
		return nil
	case p.NumFragments < 0:
		return &packetoracle.Error{Code: packetoracle.SingleFragment, At: 4}
	case p.NumFragments > math.MaxUint8+1:
		return &packetoracle.Error{Code: packetoracle.TooManyFragments, At: 4}
	case p.NumFragments >= 2 && p.NumFragments <= f.MaxFragments && p.FragmentID >= p.NumFragments:
		return &packetoracle.Error{Code: packetoracle.FragmentIDOutOfRange, At: 3}
	}
	p.FragmentID = min(p.FragmentID, math.MaxUint8) // a larger one is beyond a number that is refused
	_, err := packetoracle.Decode(packetoracle.Limits(f), oracleEncodes(p))
	return err
}

// readFields makes a packet of any fields: sequence, ack, 2 bytes each; ack_bits, 4; the
// id and the number of fragments, 2 each; the size of its data, 2; and the data, which are
// repeated as often as that size asks.
func readFields(s *script) packet.Packet {
	p := packet.Packet{Header: packet.Header{Sequence: s.uint16(), Ack: s.uint16(), AckBits: s.uint32()}}
	p.FragmentID, p.NumFragments = int(int16(s.uint16())), int(int16(s.uint16()))
	size := int(s.uint16())
	p.Data = repeated(s.left, size)
	return p
}

// fieldsScript is the inverse of readFields.
func fieldsScript(p packet.Packet) []byte {
	out := appendUint32(appendUint16(appendUint16(nil, p.Sequence), p.Ack), p.AckBits)
	out = appendUint16(appendUint16(out, uint16(p.FragmentID)), uint16(p.NumFragments))
	return append(appendUint16(out, uint16(len(p.Data))), p.Data...)
}

// formatScript is the head of an input.
func formatScript(f packet.Format, rest byte) []byte {
	return append(appendUint16(nil, uint16(f.FragmentSize-1)), byte(f.MaxFragments-1), rest)
}

// seedPackets are the vectors' datagrams and headers, those of traces among them, and what
// they decode to. Of a trace's regular packets of one size the first few are enough.
func seedPackets(files []testvectors.File) (seeds [][]byte) {
	add := func(f packet.Format, datagram []byte) {
		seeds = append(seeds, append(formatScript(f, 0), datagram...))
		if p, err := f.Decode(datagram); err == nil {
			seeds = append(seeds, append(formatScript(f, 1), fieldsScript(p)...))
		}
	}
	for _, q := range requests[contract.PacketHeaderRequest](files, contract.OpPacketHeader) {
		h := packet.Header{Sequence: q.Sequence, Ack: q.Ack, AckBits: q.AckBits}
		p := packet.Packet{Header: h, Data: []byte("x")}
		seeds = append(seeds, append(formatScript(packet.Format{FragmentSize: 1024, MaxFragments: 16}, 1), fieldsScript(p)...))
	}
	for _, q := range requests[contract.PacketDecodeRequest](files, contract.OpPacketDecode) {
		add(packet.Format{FragmentSize: q.FragmentSize, MaxFragments: q.MaxFragments}, bytesOf(&q.Hex))
	}
	for _, tr := range packets.Endpoint.Traces(testvectors.Requests(files)) {
		count, c := map[int]int{}, tr.Config.(packets.EndpointConfig)
		for _, e := range tr.Events {
			if r, is := e.Event.(packets.Receive); is && count[len(r.Datagram)] < 3 {
				count[len(r.Datagram)]++
				add(packet.Format{FragmentSize: c.FragmentSize, MaxFragments: c.MaxFragments}, []byte(r.Datagram))
			}
		}
	}
	small := packet.Format{FragmentSize: 4, MaxFragments: 256}
	for _, p := range []packet.Packet{
		{NumFragments: -1, Data: []byte("abcd")}, {NumFragments: 257, Data: []byte("abcd")}, {NumFragments: 2, FragmentID: -1, Data: []byte("abcd")},
		{NumFragments: 2, FragmentID: 2, Data: []byte("abcd")}, {FragmentID: 1, Data: []byte("abcd")}, {NumFragments: 2, FragmentID: 256, Data: []byte("abcd")},
		{NumFragments: 256, FragmentID: 256, Data: []byte("abcd")}, {NumFragments: 256, FragmentID: 255, Data: []byte("abcd")},
		{NumFragments: 1, Data: []byte("abcd")}, {NumFragments: 2, Data: []byte("abc")}, {NumFragments: 2, FragmentID: 1}, {}, {Data: make([]byte, 1025)},
	} {
		seeds = append(seeds, append(formatScript(small, 1), fieldsScript(p)...))
	}
	return seeds
}
