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

func repairRow(q port.Row) (a port.Exponents, err error) {
	if !q.Valid() {
		return a, invalidField
	}
	var exponents []int64
	for i := range q.NumSlices {
		exponents = append(exponents, repairoracle.Exponent(q.SliceID-q.NumSlices, i))
	}
	return port.Exponents{OK: true, Exponents: exponents}, nil
}

func repairSlice(q port.Slice) (a port.MadeSlice, err error) {
	if !q.Valid() {
		return a, invalidField
	}
	data := repairoracle.Slice(chunks.Data(uint16(q.ChunkID), int(q.Size)), q.SliceID)
	return port.MadeSlice{OK: true, Slice: contentOf(data)}, nil
}

func repairRebuild(q port.Rebuild) (a port.Rebuilt, err error) {
	if !q.Valid() {
		return a, invalidField
	}
	chunk, d := q.Chunk(), repairoracle.NewDecoder(q.NumSlices, q.LastBytes)
	a.OK = true
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

func channelReport(q port.Report) (a port.Encoded, err error) {
	r := channeloracle.Record{Type: channeloracle.Report, Channel: q.Channel, Sequence: q.Base, Room: q.Room}
	var missing []int64
	for _, wire := range q.Missing {
		missing = append(missing, q.Base+int64(wire-uint16(q.Base))) // ascending without a wrap
	}
	r.Groups = channeloracle.Groups(missing, channeloracle.MostGroups)
	b, err := channeloracle.Encode(channeloracle.Usual, []channeloracle.Record{r})
	return port.Encoded{OK: true, Hex: conform.Bytes(b)}, err
}

func directionOf(d port.Direction) sessionoracle.Direction {
	return sessionoracle.Direction{Mode: d.Mode, Key: []byte(d.Key), Link: int64(d.Link)}
}

func sessionSeal(q port.Seal) (a port.Encoded, err error) {
	d := directionOf(q.Direction)
	return port.Encoded{OK: true, Hex: conform.Bytes(d.Seal(q.Counter, []byte(q.Body)))}, nil
}

func sessionOpen(q port.Open) (a port.Opened, err error) {
	r := sessionoracle.NewReceiver(directionOf(q.Direction))
	for _, c := range q.Taken {
		r.Take(c)
	}
	c, body, err := r.Open([]byte(q.Hex))
	return port.Opened{OK: true, Counter: c, Body: conform.Bytes(body)}, err
}

func sessionKeys(q port.Keys) (a port.DerivedKeys, err error) {
	k := sessionoracle.Derive([]byte(q.Key), []byte(q.Offer), sessionoracle.Message{
		Link: int64(q.Link), ServerNonce: []byte(q.ServerNonce), Lanes: int64(q.Lanes), Variant: int64(q.Variant),
		Extensions: int64(q.Extensions), Timeout: int64(q.Timeout),
	})
	return port.DerivedKeys{OK: true, C2S: conform.Bytes(k.C2S), S2C: conform.Bytes(k.S2C), Resume: conform.Bytes(k.Resume)}, nil
}

func sessionCookie(q port.Cookie) (a port.MadeCookie, err error) {
	address := sessionoracle.Address(q.Address)
	cookie := sessionoracle.Cookie([]byte(q.Secret), q.Stamp, address, []byte(q.Offer))
	return port.MadeCookie{OK: true, Address: conform.Bytes(address), Cookie: conform.Bytes(cookie)}, nil
}

func sessionProof(q port.Proof) (a port.MadeProof, err error) {
	m, err := sessionoracle.Decode([]byte(q.Hex))
	if err != nil {
		return a, err
	}
	return port.MadeProof{OK: true, Proof: conform.Bytes(sessionoracle.ProofOf([]byte(q.Key), m, []byte(q.Offer), q.Stamp, []byte(q.Cookie)))}, nil
}
