package port

import (
	"encoding/hex"
	"errors"
	"math"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// connectionOperations are those of connections, beside those of sessions (CXO-1).
var connectionOperations = map[string]operation{
	contract.OpConnectionEncode: connectionEncode, contract.OpConnectionDecode: connectionDecode, contract.OpConnection: machine(connections.Op),
}

// connectionEncode encodes a row of records (CXR-8, CXO-11).
func connectionEncode(q *object) (any, error) {
	list := q.list("records")
	w := payloadWriter{format: q.payloadFormat(), alone: len(list) == 1}
	if *q.err != nil {
		return nil, *q.err
	}
	var refused error // the first
	for _, text := range list {
		o, err := newObject(text)
		if err != nil {
			return nil, err
		}
		if err = w.add(o); *o.err != nil {
			return nil, *o.err
		}
		if refused == nil {
			refused = err
		}
	}
	switch {
	case len(list) == 0:
		return nil, placed{string(connection.CodeTruncated), 0}
	case refused != nil:
		return nil, refused
	}
	return encoded(w.payload, nil)
}

// payloadFormat reads the lanes of a connection, and their variant and the extensions if they are
// there (RPO-9).
func (o *object) payloadFormat() connection.Format {
	return connection.Format{Lanes: o.small("lanes", 0, 16), Repair: o.variant() == session.VariantRepair, ECN: o.extensions()&session.ExtensionECN != 0}
}

// variant is 1 if it is absent.
func (o *object) variant() uint8 {
	if !o.has("variant") {
		return session.VariantSlices
	}
	return uint8(o.within("variant", session.VariantSlices, session.VariantRepair))
}

// extensions are 0 if they are absent.
func (o *object) extensions() uint16 {
	if !o.has("extensions") {
		return 0
	}
	return uint16(o.within("extensions", 0, math.MaxUint16))
}

// payloadWriter writes records behind each other.
type payloadWriter struct {
	format  connection.Format
	payload []byte
	last    string // the type of the record before
	alone   bool   // there is one record only
}

// add reads a record and appends it, or returns why that is refused.
func (w *payloadWriter) add(o *object) (err error) {
	kind := o.text("type")
	last, at := w.last, len(w.payload)
	w.last = kind
	var r connection.Record
	switch kind {
	case contract.RecordClose:
		r = connection.Record{Type: connection.TypeClose, Code: uint16(o.within("code", 0, math.MaxUint16)), Text: []byte(o.text("text"))}
	case contract.TypeSlice:
		r = connection.Record{Type: connection.TypeSlice, Lane: o.anyInt("lane"), Slice: w.slice(o)}
	case contract.RecordChunkAck:
		r = connection.Record{Type: connection.TypeChunkAck, Lane: o.anyInt("lane"), Ack: w.ack(o)}
	case contract.RecordECN:
		r = connection.Record{Type: connection.TypeECN, Marks: connection.Marks{Arrived: uint16(o.within("arrived", 0, math.MaxUint16)), Congested: uint16(o.within("congested", 0, math.MaxUint16))}}
	}
	var ofChannel wanted
	if r.Type == 0 {
		ofChannel = o.record()
	}
	switch {
	case *o.err != nil:
		return *o.err
	case last == contract.RecordClose:
		return placed{string(connection.CodeNotAlone), at}
	case last == contract.TypeSlice:
		return placed{string(codec.CodeTrailingData), at}
	case kind == contract.RecordPad && !w.alone:
		return placed{string(connection.CodeUnknownRecord), at}
	case r.Type == 0:
		w.payload, err = ofChannel.append(w.payload)
		return err
	}
	w.payload, err = w.format.Append(w.payload, &r)
	return refusedByConnection(err)
}

// slice and ack read a packet of the variant. One that cannot be is zero, which the encoder
// refuses.
func (w *payloadWriter) slice(o *object) (s lanes.Slice) {
	if w.format.Repair {
		r := ranged{object: o}
		if p := r.repairSlice(); !r.invalid {
			s.Repair = p
		}
		return s
	}
	if p, err := sliceOf(o); err == nil {
		s.Chunk = p.Slice
	}
	return s
}

func (w *payloadWriter) ack(o *object) (a lanes.Ack) {
	if w.format.Repair {
		r := ranged{object: o}
		if p := r.repairAck(); !r.invalid {
			a.Repair = p
		}
		return a
	}
	if p, err := ackOf(o); err == nil {
		a.Chunk = p.Ack
	}
	return a
}

// refusedByConnection is the refusal of a payload.
func refusedByConnection(err error) error {
	var refused *connection.Error
	if errors.As(err, &refused) {
		return placed{string(refused.Code()), refused.Place()}
	}
	return err
}

// connectionDecode decodes a payload (CXR-5, CXO-11).
func connectionDecode(q *object) (any, error) {
	format, payload := q.payloadFormat(), q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	response := contract.ConnectionDecodeResponse{Answer: contract.Answer{OK: true}}
	for at, more := 0, true; more; more = at < len(payload) {
		c, next, err := decodeRecord(format, payload, at)
		if err != nil {
			return nil, refusedByConnection(err)
		}
		response.Records = append(response.Records, c)
		at = next
	}
	return response, nil
}

func decodeRecord(format connection.Format, payload []byte, at int) (c contract.ConnectionRecord, next int, err error) {
	if !format.IsRecord(payload, at) {
		var r channel.Record
		next, err = anyChannel.Decode(payload, at, &r)
		c.Record = recordOf(&r)
		return c, next, err
	}
	var r connection.Record
	next, err = format.Decode(payload, at, &r)
	switch r.Type {
	case connection.TypeClose:
		c.Type, c.Code, c.Text = contract.RecordClose, wide(r.Code), pointerTo(string(r.Text))
	case connection.TypeSlice:
		if format.Repair {
			c = laneRecord(contract.TypeSlice, r.Lane, repairPacketOf(repair.Packet{Slice: r.Slice.Repair}))
			break
		}
		s := &r.Slice.Chunk
		c.Type, c.Lane, c.ChunkID, c.SliceID, c.NumSlices = contract.TypeSlice, wide(r.Lane), wide(s.ChunkID), wide(s.SliceID), wide(s.NumSlices)
		c.Data = pointerTo(hex.EncodeToString(s.Data))
	case connection.TypeChunkAck:
		if format.Repair {
			c = laneRecord(contract.RecordChunkAck, r.Lane, repairPacketOf(repair.Packet{Type: codec.TypeAck, Ack: r.Ack.Repair}))
			break
		}
		c.Type, c.Lane, c.ChunkID, c.Acked = contract.RecordChunkAck, wide(r.Lane), wide(r.Ack.Chunk.ChunkID), pointerTo(contract.Bits(r.Ack.Chunk.Acked, r.Ack.Chunk.NumSlices))
	case connection.TypeECN:
		c.Type, c.Arrived, c.Congested = contract.RecordECN, wide(r.Marks.Arrived), wide(r.Marks.Congested)
	}
	return c, next, err
}

// laneRecord is a record of the variant with repair slices.
func laneRecord(kind string, lane int, p *contract.RepairPacket) (c contract.ConnectionRecord) {
	c.Type, c.Lane, c.ChunkID, c.NumSlices = kind, wide(lane), &p.ChunkID, &p.NumSlices
	c.SliceID, c.LastBytes, c.Data, c.Have, c.Top = p.SliceID, p.LastBytes, p.Data, p.Have, p.Top
	return c
}
