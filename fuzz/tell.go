package fuzz

import (
	"bytes"
	"encoding/json"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors/oracle"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// What each target's input is, for people. Each runs the target at its end.

func tellBits(s *story, data []byte)     { runBits(witness{}, data, s) }
func tellReceiver(s *story, data []byte) { runReceiver(witness{}, data, s) }
func tellSender(s *story, data []byte)   { runSender(witness{}, data, s) }

func tellDatagram(s *story, data []byte) {
	in := readDatagramInput(data)
	s.say("a datagram of %d bytes, protocol id %#x, crc made right: %v", len(in.datagram), in.framer.ProtocolID(), in.repaired)
	p, err := in.framer.Decode(in.datagram)
	drawPacket(s, in.datagram, true, 0, p, err)
	CheckDatagram(witness{}, data)
}

func tellBody(s *story, data []byte) {
	kind, body := readBodyInput(data)
	s.say("the body of a %v, %d bytes", kind, len(body))
	p, err := decodeBody(kind, body)
	drawPacket(s, body, false, kind, p, err)
	CheckBody(witness{}, data)
}

func tellOracle(s *story, data []byte) {
	in := script{data}
	op, protocolID := in.byte()%oracleOps, in.uint32()
	b := append([]byte(nil), in.left...)
	switch op {
	case oracleDatagram, oracleRepaired:
		if op == oracleRepaired {
			repair(protocolID, b)
		}
		s.say("a datagram of %d bytes, protocol id %#x, crc made right: %v", len(b), protocolID, op == oracleRepaired)
		p, err := codec.NewFramer(protocolID).Decode(b)
		drawPacket(s, b, true, 0, p, err)
		_, err = oracle.DecodeDatagram(protocolID, b)
		s.say("the oracle says: %v", err)
	case oracleSliceBody, oracleAckBody:
		kind := codec.Type(op - oracleSliceBody)
		s.say("the body of a %v, %d bytes", kind, len(b))
		p, err := decodeBody(kind, b)
		drawPacket(s, b, false, kind, p, err)
		_, err = oracle.DecodeBody(kind.String(), b)
		s.say("the oracle says: %v", err)
	case oracleEncode:
		p := readPacket(&in)
		drawValue(s, codec.NewFramer(protocolID), p)
		_, err := oracle.EncodeDatagram(protocolID, forOracle(p))
		s.say("the oracle says: %v", err)
	}
	CheckOracle(witness{}, data)
}

func tellRoundTrip(s *story, data []byte) {
	in := script{data}
	framer := codec.NewFramer(in.uint32())
	in.uint16() // the buffer
	drawValue(s, framer, readPacket(&in))
	CheckRoundTrip(witness{}, data)
}

// drawValue writes a packet that is to be encoded, and what comes of it.
func drawValue(s *story, framer codec.Framer, p codec.Packet) {
	switch p.Type {
	case codec.TypeSlice:
		s.say("encode slice: chunk_id %d, slice_id %d, num_slices %d, %d bytes", p.Slice.ChunkID, p.Slice.SliceID, p.Slice.NumSlices, len(p.Slice.Data))
	case codec.TypeAck:
		s.say("encode ack: chunk_id %d, num_slices %d, acked %064b", p.Ack.ChunkID, p.Ack.NumSlices, p.Ack.Acked)
	default:
		s.say("encode a packet of type %d", p.Type)
	}
	d, err := framer.Append(nil, p)
	if err != nil {
		s.say("refused: %v", err)
		return
	}
	back, err := framer.Decode(d)
	drawPacket(s, d, true, 0, back, err)
}

func tellVectors(s *story, data []byte) {
	var pretty bytes.Buffer
	if json.Indent(&pretty, data, "", "  ") != nil {
		s.say("no JSON: %q", data)
	} else {
		s.say("%s", pretty.Bytes())
	}
	_, err := loadVectors(data)
	s.say("the loader says: %v", err)
	CheckVectors(witness{}, data)
}

func tellPort(s *story, data []byte) {
	for _, line := range linesOf(data) {
		s.say("asked    %q", line)
		s.say("answered %s", port.Answer(line))
	}
	CheckPort(witness{}, data)
}
