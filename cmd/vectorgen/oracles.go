package main

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// This file puts requests that have no machine and no layout to the oracles.

// oracles answer what is neither a codec nor declared for package conform.
var oracles = map[string]port.Plain{
	contract.OpRepairRow: port.Declared(repairRow), contract.OpRepairSlice: port.Declared(repairSlice), contract.OpRepairRebuild: port.Declared(repairRebuild),
	contract.OpChannelReport: port.Declared(channelReport),
	contract.OpSessionSeal:   port.Declared(sessionSeal), contract.OpSessionOpen: port.Declared(sessionOpen), contract.OpSessionKeys: port.Declared(sessionKeys),
	contract.OpSessionCookie: port.Declared(sessionCookie), contract.OpSessionProof: port.Declared(sessionProof),
}

// invalidField is the refusal of a number that no field holds.
var invalidField = &layout.Fault{Code: "invalid_field"}

func repairRow(q port.Row) (any, error) {
	if !q.Valid() {
		return nil, invalidField
	}
	var exponents []int64
	for i := range q.NumSlices {
		exponents = append(exponents, repairoracle.Exponent(q.SliceID-q.NumSlices, i))
	}
	return port.Answered(layout.Member{Name: "exponents", Value: exponents}), nil
}

func repairSlice(q port.Slice) (any, error) {
	if !q.Valid() {
		return nil, invalidField
	}
	data := repairoracle.Slice(chunks.Data(uint16(q.ChunkID), int(q.Size)), q.SliceID)
	return port.Answered(layout.Member{Name: "slice", Value: contentOf(data)}), nil
}

func repairRebuild(q port.Rebuild) (any, error) {
	if !q.Valid() {
		return nil, invalidField
	}
	chunk, d := q.Chunk(), repairoracle.NewDecoder(q.NumSlices, q.LastBytes)
	a := port.Rebuilt{OK: true}
	for _, id := range q.SliceIDs {
		a.Added += port.Flag(d.Add(id, repairoracle.Slice(chunk, id)))
	}
	if a.Rank = int(d.Rank()); d.Rank() == q.NumSlices {
		rebuilt, _ := d.Rebuild()
		a.Chunk = conform.Some(contentOf(rebuilt))
	}
	return a, nil
}

// contentOf stands for data.
func contentOf(data []byte) chunks.Content {
	return chunks.Content{Size: len(data), CRC32: stream.CRC32(data)}
}

func channelReport(q port.Report) (any, error) {
	r := channeloracle.Record{Type: channeloracle.Report, Channel: q.Channel, Sequence: q.Base, Room: q.Room}
	var missing []int64
	for _, wire := range q.Missing {
		missing = append(missing, q.Base+int64(wire-uint16(q.Base))) // ascending without a wrap
	}
	r.Groups = channeloracle.Groups(missing, channeloracle.MostGroups)
	b, err := channeloracle.Encode(channeloracle.Usual, []channeloracle.Record{r})
	return port.Answered(port.Hex("hex", b)), err
}

func directionOf(d port.Direction) sessionoracle.Direction {
	return sessionoracle.Direction{Mode: d.Mode, Key: []byte(d.Key), Link: int64(d.Link)}
}

func sessionSeal(q port.Seal) (any, error) {
	d := directionOf(q.Direction)
	return port.Answered(port.Hex("hex", d.Seal(q.Counter, []byte(q.Body)))), nil
}

func sessionOpen(q port.Open) (any, error) {
	r := sessionoracle.NewReceiver(directionOf(q.Direction))
	for _, c := range q.Taken {
		r.Take(c)
	}
	c, body, err := r.Open([]byte(q.Hex))
	return port.Answered(layout.Member{Name: "counter", Value: c}, port.Hex("body", body)), err
}

func sessionKeys(q port.Keys) (any, error) {
	k := sessionoracle.Derive([]byte(q.Key), []byte(q.Offer), sessionoracle.Message{
		Link: int64(q.Link), ServerNonce: []byte(q.ServerNonce), Lanes: int64(q.Lanes), Variant: int64(q.Variant),
		Extensions: int64(q.Extensions), Timeout: int64(q.Timeout),
	})
	return port.Answered(port.Hex("c2s", k.C2S), port.Hex("s2c", k.S2C), port.Hex("resume", k.Resume)), nil
}

func sessionCookie(q port.Cookie) (any, error) {
	address := sessionoracle.Address(q.Address)
	cookie := sessionoracle.Cookie([]byte(q.Secret), q.Stamp, address, []byte(q.Offer))
	return port.Answered(port.Hex("address", address), port.Hex("cookie", cookie)), nil
}

func sessionProof(q port.Proof) (any, error) {
	m, err := sessionoracle.Decode([]byte(q.Hex))
	if err != nil {
		return nil, err
	}
	return port.Answered(port.Hex("proof", sessionoracle.ProofOf([]byte(q.Key), m, []byte(q.Offer), q.Stamp, []byte(q.Cookie)))), nil
}
