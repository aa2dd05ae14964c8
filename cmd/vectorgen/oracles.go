package main

import (
	"encoding/hex"
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file puts requests that have no machine and no layout to the oracles.

// invalidField is the response to a number that no field holds.
var invalidField = contract.Answer{Error: repairoracle.InvalidField}

func outside(v, low, high int64) bool { return v < low || v > high }

func repairRow(q contract.RepairRowRequest) (any, error) {
	if outside(q.NumSlices, 1, repairoracle.MaxSlices) || outside(q.SliceID, q.NumSlices, repairoracle.MaxIDs-1) {
		return invalidField, nil
	}
	a := contract.RepairRowResponse{Answer: ok}
	for i := range q.NumSlices {
		a.Exponents = append(a.Exponents, int(repairoracle.Exponent(q.SliceID-q.NumSlices, i)))
	}
	return a, nil
}

func repairSlice(q contract.RepairSliceRequest) (any, error) {
	if outside(q.ChunkID, 0, 65535) || outside(q.Size, 1, repairoracle.MaxChunk) || outside(q.SliceID, 0, repairoracle.MaxIDs-1) {
		return invalidField, nil
	}
	return contract.RepairSliceResponse{Answer: ok, Slice: contentOf(repairoracle.Slice(chunks.Data(uint16(q.ChunkID), int(q.Size)), q.SliceID))}, nil
}

func repairRebuild(q contract.RepairRebuildRequest) (any, error) {
	if outside(q.ChunkID, 0, 65535) || outside(q.NumSlices, 1, repairoracle.MaxSlices) || outside(q.LastBytes, 1, repairoracle.SliceSize) ||
		slices.ContainsFunc(q.SliceIDs, func(id int64) bool { return outside(id, 0, repairoracle.MaxIDs-1) }) {
		return invalidField, nil
	}
	chunk := chunks.Data(uint16(q.ChunkID), int(repairoracle.SliceSize*(q.NumSlices-1)+q.LastBytes))
	d := repairoracle.NewDecoder(q.NumSlices, q.LastBytes)
	a := contract.RepairRebuildResponse{Answer: ok}
	for _, id := range q.SliceIDs {
		if d.Add(id, repairoracle.Slice(chunk, id)) {
			a.Added += "1"
		} else {
			a.Added += "0"
		}
	}
	if a.Rank = int(d.Rank()); d.Rank() == q.NumSlices {
		rebuilt, _ := d.Rebuild()
		content := contentOf(rebuilt)
		a.Chunk = &content
	}
	return a, nil
}

// contentOf stands for data.
func contentOf(data []byte) contract.Content {
	return contract.Content{Size: len(data), CRC32: stream.CRC32(data)}
}

func channelReport(q contract.ChannelReportRequest) (any, error) {
	r := channeloracle.Record{Type: channeloracle.Report, Channel: q.Channel, Sequence: int64(q.Base), Room: q.Room}
	var missing []int64
	for _, wire := range q.Missing {
		missing = append(missing, int64(q.Base)+int64(wire-q.Base)) // ascending without a wrap
	}
	r.Groups = channeloracle.Groups(missing, channeloracle.MostGroups)
	b, err := channeloracle.Encode(channeloracle.Usual, []channeloracle.Record{r})
	var e *channeloracle.Error
	if errors.As(err, &e) {
		return refused(e.Code, e.At, e.Check), nil
	}
	return contract.Response{Answer: ok, Hex: hexOf(b)}, err
}

// bytesIn are bytes as the contract has them, and hexOf is the inverse.
func bytesIn(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err) // no port can read it
	}
	return b
}

func hexOf(b []byte) *string {
	text := hex.EncodeToString(b)
	return &text
}

func sessionSeal(q contract.SessionSealRequest) (any, error) {
	d := sessionoracle.Direction{Mode: q.Mode, Key: bytesIn(q.Key), Link: q.Link}
	return contract.Response{Answer: ok, Hex: hexOf(d.Seal(q.Counter, bytesIn(q.Body)))}, nil
}

func sessionOpen(q contract.SessionOpenRequest) (any, error) {
	r := sessionoracle.NewReceiver(sessionoracle.Direction{Mode: q.Mode, Key: bytesIn(q.Key), Link: q.Link})
	for _, c := range q.Taken {
		r.Take(c)
	}
	c, body, err := r.Open(bytesIn(q.Hex))
	var e *sessionoracle.Error
	if errors.As(err, &e) {
		return refused(e.Code, e.At, e.Check), nil
	}
	return contract.SessionOpenResponse{Answer: ok, Counter: c, Body: hex.EncodeToString(body)}, err
}

func sessionKeys(q contract.SessionKeysRequest) (any, error) {
	k := sessionoracle.Derive(bytesIn(q.Key), bytesIn(q.Offer), sessionoracle.Message{
		Link: q.Link, ServerNonce: bytesIn(q.ServerNonce), Lanes: q.Lanes, Variant: q.Variant, Extensions: q.Extensions, Timeout: q.Timeout,
	})
	return contract.SessionKeysResponse{Answer: ok, C2S: hex.EncodeToString(k.C2S), S2C: hex.EncodeToString(k.S2C), Resume: hex.EncodeToString(k.Resume)}, nil
}

func sessionCookie(q contract.SessionCookieRequest) (any, error) {
	address := sessionoracle.Address(q.Address)
	cookie := sessionoracle.Cookie(bytesIn(q.Secret), q.Stamp, address, bytesIn(q.Offer))
	return contract.SessionCookieResponse{Answer: ok, Address: hex.EncodeToString(address), Cookie: hex.EncodeToString(cookie)}, nil
}

func sessionProof(q contract.SessionProofRequest) (any, error) {
	m, err := sessionoracle.Decode(bytesIn(q.Hex))
	if err != nil {
		return nil, err
	}
	return contract.SessionProofResponse{Answer: ok, Proof: hex.EncodeToString(sessionoracle.ProofOf(bytesIn(q.Key), m, bytesIn(q.Offer), q.Stamp, bytesIn(q.Cookie)))}, nil
}
