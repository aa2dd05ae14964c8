package main

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// This file puts requests that have no machine and no layout to the oracles.

// oracles answer what is neither a codec nor declared for package conform.
var oracles = map[string]port.Plain{
	"repair_row": port.Declared(repairRow), "repair_slice": port.Declared(repairSlice), "repair_rebuild": port.Declared(repairRebuild),
	"channel_report": port.Declared(channelReport),
	"session_seal":   port.Declared(sessionSeal), "session_open": port.Declared(sessionOpen), "session_keys": port.Declared(sessionKeys),
	"session_cookie": port.Declared(sessionCookie),
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
	var m [4]sessionoracle.Message
	for i, b := range []conform.Bytes{q.Challenge, q.Proof, q.Linked, q.Refused} {
		if m[i], err = sessionoracle.Decode([]byte(b)); err != nil {
			return a, err
		}
	}
	var server []byte
	if q.Server != "" {
		server = []byte(q.Server)
	}
	d, resume := sessionoracle.Greet(m[1], []byte(q.Key), server), []byte(nil)
	if m[1].Resume != 0 {
		resume = []byte(q.Resume)
	}
	d.Prove(m[0], resume, nil)
	if server != nil && !d.Know([]byte(q.Private), server) || !d.Meet(m[1].Mode, []byte(q.Private), m[2].Share) {
		return a, &layout.Fault{Code: sessionoracle.CountShare, At: -1}
	}
	by := d.AnswerKey
	if resume != nil {
		by = resume
	}
	d.Connect(m[2])
	return port.DerivedKeys{
		OK:         true,
		Hello:      conform.Bytes(d.Hello),
		Given:      conform.Bytes(d.Given),
		First:      conform.Bytes(d.First),
		ProofKey:   conform.Bytes(d.ProofKey),
		RefusedKey: conform.Bytes(d.RefusedKey),
		Next:       conform.Bytes(d.Next),
		Static:     conform.Bytes(d.Static),
		Known:      conform.Bytes(d.Known),
		Seen:       conform.Bytes(d.Seen),
		Move:       conform.Bytes(d.Move),
		Proof:      conform.Bytes(d.Proof),
		Whole:      conform.Bytes(d.Whole),
		Shared:     conform.Bytes(d.Shared),
		Second:     conform.Bytes(d.Second),
		AnswerKey:  conform.Bytes(d.AnswerKey),
		Linked:     conform.Bytes(d.Answer(by, m[2])),
		Refused:    conform.Bytes(d.Answer(d.RefusedKey, m[3])),
		Connection: conform.Bytes(d.Connection),
		C2S:        conform.Bytes(d.C2S),
		S2C:        conform.Bytes(d.S2C),
		Resume:     conform.Bytes(d.Keys.Resume),
	}, nil
}

func sessionCookie(q port.Cookie) (a port.MadeCookie, err error) {
	m, err := sessionoracle.Decode([]byte(q.Link))
	if err != nil {
		return a, err
	}
	address, digest := sessionoracle.Address(q.Address), sessionoracle.DigestOf(m)
	cookie := sessionoracle.Cookie([]byte(q.Secret), q.Stamp, address, digest)
	return port.MadeCookie{OK: true, Address: conform.Bytes(address), Digest: conform.Bytes(digest), Cookie: conform.Bytes(cookie)}, nil
}
