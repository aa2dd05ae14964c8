package port

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// This file has the requests that have no layout and no machine (CXO-1, CXO-14). They are declared for whoever answers them.

// Plain answers a request that has no layout and no machine. Of the request and the response the types
// matter: they are declared.
type Plain struct {
	request, response any

	answer func(conform.Object) (any, error)
}

// plain are the requests by their names.
var plain = map[string]Plain{
	"repair_row": Declared(row), "repair_slice": Declared(slice), "repair_rebuild": Declared(rebuild), "channel_report": Declared(report),
	"session_seal": Declared(seal), "session_open": Declared(open), "session_keys": Declared(keys), "session_cookie": Declared(cookie),
}

// Declared answers requests that are read by their declaration.
func Declared[Q, A any](answer func(Q) (A, error)) Plain {
	var request Q
	var response A
	return Plain{request, response, func(q conform.Object) (any, error) {
		var request Q
		if err := conform.ReadObject(q, &request); err != nil {
			return nil, err
		}
		return answer(request)
	}}
}

// Encoded is the response with bytes.
type Encoded struct {
	OK  bool          `json:"ok"`
	Hex conform.Bytes `json:"hex"`
}

func encoded(b []byte, err error) (Encoded, error) { return Encoded{true, conform.Bytes(b)}, err }

// Report asks for the REPORT of a set of sequences (CHO-5). Of its numbers an encoder may refuse any.
type Report struct {
	Channel int64    `json:"channel"`
	Base    int64    `json:"base"`
	Room    int64    `json:"room"`
	Missing []uint16 `json:"missing" size:"0 65536"`
}

// Valid reports whether what is missing ascends strictly from base.
func (r *Report) Valid() bool {
	for i := 1; i < len(r.Missing); i++ {
		if r.Missing[i]-uint16(r.Base) <= r.Missing[i-1]-uint16(r.Base) {
			return false
		}
	}
	return true
}

// anyChannel is the format of the operations that have no channels of their own (CHO-3).
var anyChannel = channel.Format{Window: 16384}

// report encodes the report of a set (CHO-5, CHO-6).
func report(q Report) (a Encoded, err error) {
	if !q.Valid() {
		return a, conform.ErrBadRequest
	}
	id, room := uint8(channel.MaxChannels), int(min(max(q.Room, math.MinInt32), math.MaxInt32)) // all others are as wrong
	if q.Channel >= 0 && q.Channel < channel.MaxChannels {
		id = uint8(q.Channel)
	}
	r := channel.NewReport(id, uint16(q.Base), room, q.Missing)
	payload, err := anyChannel.Append(nil, &r)
	var e *core.Error
	if q.Base != int64(uint16(q.Base)) && (!errors.As(err, &e) || e.Place() >= 2) {
		return a, &layout.Fault{Code: "invalid_field", At: 2}
	}
	return encoded(payload, err)
}

// Direction is what both ends know of a direction of a link (CXO-2).
type Direction struct {
	Mode string        `json:"mode" in:"crc mac aead"`
	Key  conform.Bytes `json:"key" size:"32 32"`
	Link uint32        `json:"link" range:"1 4294967295"`
}

func (d *Direction) config(counter int64) session.LinkConfig {
	modes := []session.Mode{session.CRC, session.MAC, session.AEAD}
	mode := modes[slices.IndexFunc(modes, func(m session.Mode) bool { return m.String() == d.Mode })]
	key := session.Key([]byte(d.Key))
	return session.LinkConfig{Mode: mode, Agreed: session.Agreed{Link: d.Link}, Seal: key, Open: key, Next: uint64(counter)}
}

// Seal asks for the datagram of a body (CXO-4).
type Seal struct {
	Direction
	Counter int64         `json:"counter" range:"0 4611686018427387903"` // not modulo 2^32
	Body    conform.Bytes `json:"body" size:"1 1200"`
}

func seal(q Seal) (a Encoded, err error) {
	return encoded(session.NewLink(q.config(q.Counter)).Seal(nil, []byte(q.Body)), nil)
}

// Open asks for the body of a datagram. The counters that came before come again.
type Open struct {
	Direction
	Taken []int64       `json:"taken"`
	Hex   conform.Bytes `json:"hex" size:"0 1048576"`
}

// Valid reports whether the counters ascend, by 2^31 at most.
func (q *Open) Valid() bool {
	highest := int64(-1)
	for _, c := range q.Taken {
		if c <= highest || c > highest+1<<31 {
			return false
		}
		highest = c
	}
	return true
}

// Opened is the response with a body and its counter.
type Opened struct {
	OK      bool          `json:"ok"`
	Counter int64         `json:"counter" range:"0 4611686018427387903"`
	Body    conform.Bytes `json:"body"`
}

func open(q Open) (a Opened, err error) {
	l := session.NewLink(q.config(0))
	for _, c := range q.Taken {
		if !q.Valid() {
			return a, conform.ErrBadRequest
		}
		if _, err := l.Open(nil, session.NewLink(q.config(c)).Seal(nil, []byte{0})); err != nil {
			return a, conform.ErrBadRequest
		}
	}
	body, err := l.Open(nil, []byte(q.Hex))
	if err != nil {
		return a, err
	}
	return Opened{true, q.counterOf(body), conform.Bytes(body)}, nil
}

// counterOf returns the counter with which a body is sealed to the datagram, which was opened.
func (q *Open) counterOf(body []byte) int64 {
	m, _ := session.Decode([]byte(q.Hex))
	c := int64(m.Counter)
	if len(q.Taken) > 0 {
		c += max(0, q.Taken[len(q.Taken)-1]>>32-1) << 32
	}
	for !bytes.Equal(session.NewLink(q.config(c)).Seal(nil, body), []byte(q.Hex)) {
		c += 1 << 32
	}
	return c
}

// Keys asks for everything that is made of a handshake on the way to its keys (CXO-6).
type Keys struct {
	Key       conform.Bytes `json:"key" size:"32 32"`
	Private   conform.Bytes `json:"private" size:"32 32"` // the client's
	Resume    conform.Bytes `json:"resume" size:"32 32"`
	Server    conform.Bytes `json:"server,omitempty" size:"32 32"` // the key of the server; it has none if it is absent
	Challenge conform.Bytes `json:"challenge"`                     // messages, whatever their proofs are
	Proof     conform.Bytes `json:"proof"`
	Linked    conform.Bytes `json:"linked"`
	Refused   conform.Bytes `json:"refused"`
}

// DerivedKeys is the response with all of it, in the order in which it is made.
type DerivedKeys struct {
	OK         bool          `json:"ok"`
	Hello      conform.Bytes `json:"hello" size:"32 32"`
	Given      conform.Bytes `json:"given" size:"32 32"`
	First      conform.Bytes `json:"first" size:"32 32"`
	ProofKey   conform.Bytes `json:"proof_key" size:"32 32"`
	RefusedKey conform.Bytes `json:"refused_key" size:"32 32"`
	Next       conform.Bytes `json:"next" size:"32 32"`
	Static     conform.Bytes `json:"static,omitempty" size:"32 32"` // with a server key, as known
	Known      conform.Bytes `json:"known,omitempty" size:"32 32"`
	Seen       conform.Bytes `json:"seen" size:"32 32"`
	Move       conform.Bytes `json:"move" size:"16 16"`
	Proof      conform.Bytes `json:"proof" size:"16 16"`
	Whole      conform.Bytes `json:"whole" size:"32 32"`
	Shared     conform.Bytes `json:"shared" size:"32 32"`
	Second     conform.Bytes `json:"second" size:"32 32"`
	AnswerKey  conform.Bytes `json:"answer_key" size:"32 32"`
	Linked     conform.Bytes `json:"linked" size:"16 16"`
	Refused    conform.Bytes `json:"refused" size:"16 16"`
	Connection conform.Bytes `json:"connection" size:"32 32"`
	C2S        conform.Bytes `json:"c2s" size:"32 32"`
	S2C        conform.Bytes `json:"s2c" size:"32 32"`
	Resume     conform.Bytes `json:"resume" size:"32 32"`
}

func keys(q Keys) (a DerivedKeys, err error) {
	var m [4]session.Message
	for i, b := range []conform.Bytes{q.Challenge, q.Proof, q.Linked, q.Refused} {
		kinds := [4]session.Kind{session.KindChallenge, session.KindProof, session.KindLinked, session.KindRefused}
		if m[i], err = session.Decode([]byte(b)); err != nil || m[i].Kind != kinds[i] {
			return a, conform.ErrBadRequest
		}
	}
	var server session.Share
	copy(server[:], q.Server)
	w, err := session.Work(session.Key([]byte(q.Key)), session.Key([]byte(q.Private)), session.Key([]byte(q.Resume)), server, &m[0], &m[1], &m[2], &m[3])
	if err != nil {
		return a, err
	}
	a = DerivedKeys{
		OK:         true,
		Hello:      conform.Bytes(w.Hello[:]),
		Given:      conform.Bytes(w.Given[:]),
		First:      conform.Bytes(w.First[:]),
		ProofKey:   conform.Bytes(w.ProofKey[:]),
		RefusedKey: conform.Bytes(w.RefusedKey[:]),
		Next:       conform.Bytes(w.Next[:]),
		Seen:       conform.Bytes(w.Seen[:]),
		Move:       conform.Bytes(w.Move[:]),
		Proof:      conform.Bytes(w.Proof[:]),
		Whole:      conform.Bytes(w.Whole[:]),
		Shared:     conform.Bytes(w.Shared[:]),
		Second:     conform.Bytes(w.Second[:]),
		AnswerKey:  conform.Bytes(w.AnswerKey[:]),
		Linked:     conform.Bytes(w.Linked[:]),
		Refused:    conform.Bytes(w.Refused[:]),
		Connection: conform.Bytes(w.Connection[:]),
		C2S:        conform.Bytes(w.Keys.C2S[:]),
		S2C:        conform.Bytes(w.Keys.S2C[:]),
		Resume:     conform.Bytes(w.Keys.Resume[:]),
	}
	if q.Server != "" {
		a.Static, a.Known = conform.Bytes(w.Static[:]), conform.Bytes(w.Known[:])
	}
	return a, nil
}

// Cookie asks for the cookie of a challenge (CXO-5).
type Cookie struct {
	Secret  conform.Bytes `json:"secret" size:"32 32"`
	Stamp   int64         `json:"stamp" range:"0 4611686018427387903"`
	Address string        `json:"address"`
	Link    conform.Bytes `json:"link"`
}

// MadeCookie is the response with a cookie, with the address as it is in it, and the digest.
type MadeCookie struct {
	OK      bool          `json:"ok"`
	Address conform.Bytes `json:"address" size:"18 18"`
	Digest  conform.Bytes `json:"digest" size:"16 16"`
	Cookie  conform.Bytes `json:"cookie" size:"16 16"`
}

func cookie(q Cookie) (a MadeCookie, err error) {
	m, err := session.Decode([]byte(q.Link))
	if err != nil || m.Kind != session.KindLink {
		return a, conform.ErrBadRequest
	}
	address, digest := session.AddressOfText(q.Address), session.DigestOf(&m)
	made := session.CookieOf(session.Key([]byte(q.Secret)), uint64(q.Stamp), address, digest)
	return MadeCookie{true, conform.Bytes(address[:]), conform.Bytes(digest[:]), conform.Bytes(made[:])}, nil
}

// Row asks for the exponents of a repair slice (RPO-1).
type Row struct {
	NumSlices int64 `json:"num_slices"`
	SliceID   int64 `json:"slice_id"`
}

// Valid reports whether there is such a slice: if not, a field is invalid, and the request is not bad.
func (q *Row) Valid() bool {
	return within(q.NumSlices, 1, erasure.MaxSlices) && within(q.SliceID, q.NumSlices, erasure.MaxIDs-1)
}

// Exponents is the response with an exponent for each source slice.
type Exponents struct {
	OK        bool    `json:"ok"`
	Exponents []int64 `json:"exponents" range:"0 254"`
}

func within(v, low, high int64) bool { return low <= v && v <= high }

func row(q Row) (a Exponents, err error) {
	if !q.Valid() {
		return a, codec.ErrInvalidField
	}
	exponents := make([]int64, q.NumSlices)
	for i := range exponents {
		exponents[i] = int64(erasure.Exponent(int(q.SliceID-q.NumSlices), i))
	}
	return Exponents{true, exponents}, nil
}

// Slice asks for a slice of a chunk of TRC-1, source or repair (RPO-2).
type Slice struct {
	ChunkID int64 `json:"chunk_id"`
	Size    int64 `json:"size"`
	SliceID int64 `json:"slice_id"`
}

// Valid reports whether there is such a slice.
func (q *Slice) Valid() bool {
	return within(q.ChunkID, 0, math.MaxUint16) && within(q.Size, 1, codec.MaxChunkSize) && within(q.SliceID, 0, erasure.MaxIDs-1)
}

// MadeSlice is the response with a slice.
type MadeSlice struct {
	OK    bool           `json:"ok"`
	Slice chunks.Content `json:"slice"`
}

func slice(q Slice) (a MadeSlice, err error) {
	if !q.Valid() {
		return a, codec.ErrInvalidField
	}
	data := erasure.Encode(chunks.Data(uint16(q.ChunkID), int(q.Size))).Slice(int(q.SliceID))
	return MadeSlice{true, chunks.ContentOf(data)}, nil
}

// Rebuild asks what a decoder makes of slices of a chunk of TRC-1, in their order (RPO-3).
type Rebuild struct {
	ChunkID   int64   `json:"chunk_id"`
	NumSlices int64   `json:"num_slices"`
	LastBytes int64   `json:"last_bytes"`
	SliceIDs  []int64 `json:"slice_ids" size:"0 1024"`
}

// Valid reports whether there are such slices.
func (q *Rebuild) Valid() bool {
	return within(q.ChunkID, 0, math.MaxUint16) && within(q.NumSlices, 1, erasure.MaxSlices) && within(q.LastBytes, 1, erasure.SliceSize) &&
		!slices.ContainsFunc(q.SliceIDs, func(id int64) bool { return !within(id, 0, erasure.MaxIDs-1) })
}

// Chunk is the chunk of the slices.
func (q *Rebuild) Chunk() []byte {
	return chunks.Data(uint16(q.ChunkID), int(erasure.SliceSize*(q.NumSlices-1)+q.LastBytes))
}

// Rebuilt is the response to a Rebuild.
type Rebuilt struct {
	OK    bool                        `json:"ok"`
	Added string                      `json:"added"` // a character for each slice, 1 if it raised the rank
	Rank  int                         `json:"rank"`
	Chunk conform.Opt[chunks.Content] `json:"chunk"` // null: the rank does not suffice
}

func rebuild(q Rebuild) (a Rebuilt, err error) {
	if !q.Valid() {
		return a, codec.ErrInvalidField
	}
	e := erasure.Encode(q.Chunk())
	var d erasure.Decoder
	d.Begin(e.NumSlices(), e.LastBytes(), new(statemachine.Memory))
	defer d.Release()
	a.OK = true
	for _, id := range q.SliceIDs {
		a.Added += Flag(d.Add(int(id), e.Slice(int(id))))
	}
	if a.Rank = d.Rank(); a.Rank < e.NumSlices() {
		return a, nil
	}
	var chunk []byte
	for _, slice := range d.Rebuild() {
		chunk = append(chunk, slice[:]...)
	}
	a.Chunk = conform.Some(chunks.ContentOf(chunk[:len(e.Bytes())]))
	return a, nil
}

// Flag is 1 or 0.
func Flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}
