package main

import (
	"errors"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// This file puts requests that have no machine and no layout to the oracles.

// invalidField is the response to a number that no field holds.
var invalidField = contract.Answer{Error: repairoracle.InvalidField}

// member is a member of a response, with bytes as they are written.
func member(name string, value any) layout.Member {
	if b, is := value.([]byte); is {
		value = conform.Bytes(b)
	}
	return layout.Member{Name: name, Value: value}
}

func repairRow(q port.Row) (any, error) {
	if !q.Valid() {
		return invalidField, nil
	}
	var exponents []int64
	for i := range q.NumSlices {
		exponents = append(exponents, repairoracle.Exponent(q.SliceID-q.NumSlices, i))
	}
	return port.Answered(member("exponents", exponents)), nil
}

func repairSlice(q port.Slice) (any, error) {
	if !q.Valid() {
		return invalidField, nil
	}
	data := repairoracle.Slice(trace.Data(uint16(q.ChunkID), int(q.Size)), q.SliceID)
	return port.Answered(member("slice", contentOf(data))), nil
}

func repairRebuild(q port.Rebuild) (any, error) {
	if !q.Valid() {
		return invalidField, nil
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

func channelReport(q port.Report) (any, error) {
	r := channeloracle.Record{Type: channeloracle.Report, Channel: q.Channel, Sequence: q.Base, Room: q.Room}
	var missing []int64
	for _, wire := range q.Missing {
		missing = append(missing, q.Base+int64(wire-uint16(q.Base))) // ascending without a wrap
	}
	r.Groups = channeloracle.Groups(missing, channeloracle.MostGroups)
	b, err := channeloracle.Encode(channeloracle.Usual, []channeloracle.Record{r})
	var e *channeloracle.Error
	if errors.As(err, &e) {
		return refused(e.Code, e.At, e.Check), nil
	}
	return port.Answered(member("hex", b)), err
}

func directionOf(d port.Direction) sessionoracle.Direction {
	return sessionoracle.Direction{Mode: d.Mode, Key: []byte(d.Key), Link: int64(d.Link)}
}

func sessionSeal(q port.Seal) (any, error) {
	d := directionOf(q.Direction)
	return port.Answered(member("hex", d.Seal(q.Counter, []byte(q.Body)))), nil
}

func sessionOpen(q port.Open) (any, error) {
	r := sessionoracle.NewReceiver(directionOf(q.Direction))
	for _, c := range q.Taken {
		r.Take(c)
	}
	c, body, err := r.Open([]byte(q.Hex))
	var e *sessionoracle.Error
	if errors.As(err, &e) {
		return refused(e.Code, e.At, e.Check), nil
	}
	return port.Answered(member("counter", c), member("body", body)), err
}

func sessionKeys(q port.Keys) (any, error) {
	k := sessionoracle.Derive([]byte(q.Key), []byte(q.Offer), sessionoracle.Message{
		Link: int64(q.Link), ServerNonce: []byte(q.ServerNonce), Lanes: int64(q.Lanes), Variant: int64(q.Variant),
		Extensions: int64(q.Extensions), Timeout: int64(q.Timeout),
	})
	return port.Answered(member("c2s", k.C2S), member("s2c", k.S2C), member("resume", k.Resume)), nil
}

func sessionCookie(q port.Cookie) (any, error) {
	address := sessionoracle.Address(q.Address)
	cookie := sessionoracle.Cookie([]byte(q.Secret), q.Stamp, address, []byte(q.Offer))
	return port.Answered(member("address", address), member("cookie", cookie)), nil
}

func sessionProof(q port.Proof) (any, error) {
	m, err := sessionoracle.Decode([]byte(q.Hex))
	if err != nil {
		return nil, err
	}
	return port.Answered(member("proof", sessionoracle.ProofOf([]byte(q.Key), m, []byte(q.Offer), q.Stamp, []byte(q.Cookie)))), nil
}
