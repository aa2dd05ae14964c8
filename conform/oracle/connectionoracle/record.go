package connectionoracle

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// The types of the records that a connection adds, by the contract's names. Their numbers are
// 7 to 10.
const (
	Close    = "close"
	Slice    = "slice"
	ChunkAck = "chunk_ack"
	ECN      = "ecn"
)

var types = map[string]uint64{Close: 7, Slice: 8, ChunkAck: 9, ECN: 10}

// MostText is the longest text of a CLOSE.
const MostText = 128

// The codes of a decoder and an encoder, beside those of channels and of the bodies of chunks.
const (
	Truncated     = "truncated"
	UnknownRecord = "unknown_record"
	NotAlone      = "not_alone"
	Length        = "length"
	BadText       = "text"
	BadLane       = "lane"
	InvalidField  = "invalid_field" // of an encoder only
	TrailingData  = "trailing_data"
	ChannelKind   = "channel_kind"
)

// Error is a refusal.
type Error struct {
	Code  string
	Check string // the sentence that is not met
	At    int    // the first byte of the field at fault, or -1
}

func (e *Error) Error() string { return fmt.Sprintf("%s at %d (%s)", e.Code, e.At, e.Check) }

// Record is a record: that of a channel if Type is empty.
type Record struct {
	Type    string
	Code    int64
	Text    string
	Lane    int64
	Packet  oracle.Packet       // of a slice or a chunk ack
	Repair  repairoracle.Packet // in its place, in the variant with repair slices
	Channel channeloracle.Record

	Arrived, Congested int64 // of an ECN
}

// Format is what a decoder must know: the lanes of the connection, and its channels.
type Format struct {
	Lanes  int64
	Repair bool // the variant of slices and chunk acks
	ECN    bool // there are marks of congestion
	// Find returns a channel; nil: all 64 exist and each record fits each of them.
	Find func(id int64) (format channeloracle.Format, unreliable, exists bool)
}

// ofChannels turns a refusal of the channels into one of the payload.
func ofChannels(err error) error {
	var e *channeloracle.Error
	if !errors.As(err, &e) {
		return err
	}
	check := map[string]string{"CHR-21": "CXR-27", "CHR-22": "CXR-20"}[e.Check]
	if check == "" {
		check = e.Check
	}
	return &Error{e.Code, check, e.At}
}

// inBody is a refusal of the body of a slice or an ack, which begins at a place.
func inBody(err error, at int) error {
	var e *oracle.Error
	var f *repairoracle.Error
	if errors.As(err, &f) {
		return &Error{f.Code, "CXR-26", at + f.Bit/8}
	}
	errors.As(err, &e)
	return &Error{e.Code, "CXR-26", at + e.Bit/8}
}

// Encode returns the payload of a row of records.
func Encode(f Format, records []Record) ([]byte, error) {
	if len(records) == 0 {
		return nil, &Error{Truncated, "CXR-20", 0}
	}
	if len(records) == 1 && records[0].Type == "" && records[0].Channel.Type == channeloracle.Pad {
		return []byte{0}, nil
	}
	var s stream.Stream
	for i, r := range records {
		at := len(s) / 8
		if i > 0 && records[i-1].Type == Close {
			return nil, &Error{NotAlone, "CXR-24", at}
		}
		if i > 0 && records[i-1].Type == Slice {
			return nil, &Error{TrailingData, "CXR-8", at}
		}
		if err := f.encode(&s, r); err != nil {
			return nil, err
		}
	}
	return s.Pack(), nil
}

func (f Format) encode(s *stream.Stream, r Record) error {
	at := len(s.Pack())
	switch r.Type {
	case "":
		return ofChannels(channeloracle.Usual.Write(s, &r.Channel))
	case Close:
		return encodeClose(s, r, at)
	case ECN:
		if !f.ECN {
			return &Error{UnknownRecord, "CXR-27", at}
		}
		s.Bits(types[ECN], 8)
		s.Bits(uint64(r.Arrived), 16)
		s.Bits(uint64(r.Congested), 16)
		return nil
	}
	if r.Lane < 0 || r.Lane >= f.Lanes {
		return &Error{BadLane, "CXR-25", at + 1}
	}
	s.Bits(types[r.Type], 8)
	s.Bits(uint64(r.Lane), 8)
	body, err := f.encodeBody(r)
	if r.Type == Slice {
		if err != nil {
			return &Error{InvalidField, "CXR-8", at + 2}
		}
		s.Bytes(body)
		return nil
	}
	if err != nil {
		return &Error{InvalidField, "CXR-8", at + 3}
	}
	s.Bits(uint64(len(body)), 8)
	s.Bytes(body)
	return nil
}

// encodeBody and decodeBody are the bodies of the variant.
func (f Format) encodeBody(r Record) ([]byte, error) {
	if f.Repair {
		return repairoracle.EncodeBody(r.Repair)
	}
	return oracle.EncodeBody(r.Packet)
}

func (f Format) decodeBody(r *Record, kind string, body []byte) (err error) {
	if f.Repair {
		r.Repair, err = repairoracle.DecodeBody(kind, body)
	} else {
		r.Packet, err = oracle.DecodeBody(kind, body)
	}
	return err
}

func encodeClose(s *stream.Stream, r Record, at int) error {
	switch {
	case at > 0:
		return &Error{NotAlone, "CXR-21", at}
	case len(r.Text) > MostText:
		return &Error{Length, "CXR-22", at + 3}
	}
	s.Bits(types[Close], 8)
	s.Bits(uint64(r.Code), 16)
	s.Bits(uint64(len(r.Text)), 8)
	s.Bytes([]byte(r.Text))
	return nil
}

// Decode returns the records of a payload. It refuses the whole payload for the first fault in
// it. Its error is an *Error.
func Decode(f Format, payload []byte) (records []Record, err error) {
	if len(payload) == 0 {
		return nil, &Error{Truncated, "CXR-20", 0}
	}
	if len(payload) == 1 && payload[0] == 0 {
		return []Record{{Channel: channeloracle.Record{Type: channeloracle.Pad}}}, nil
	}
	in := stream.NewReader(payload)
	for in.Left() > 0 {
		r, err := f.decode(in, payload)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

func (f Format) decode(in *stream.Reader, payload []byte) (Record, error) {
	at := in.At() / 8
	switch payload[at] {
	case 7:
		in.Bits(8)
		return decodeClose(in, at)
	case 8, 9:
		return f.decodeLane(in, payload[at] == 8)
	case 10:
		if f.ECN {
			in.Bits(8)
			return decodeECN(in, at)
		}
	case 1, 2, 3, 4, 5, 6:
		return f.decodeChannel(in, payload, at)
	}
	return Record{}, &Error{UnknownRecord, "CXR-27", at}
}

// decodeChannel decodes a record of a channel, which must exist and be of its kind.
func (f Format) decodeChannel(in *stream.Reader, payload []byte, at int) (r Record, err error) {
	format := channeloracle.Usual
	if f.Find != nil && at+1 < len(payload) && payload[at+1] < channeloracle.Channels {
		isUnreliable, exists := false, false
		format, isUnreliable, exists = f.Find(int64(payload[at+1]))
		switch {
		case !exists:
			return r, &Error{"unknown_channel", "CHR-23", at + 1}
		case isUnreliable != (payload[at] == 1):
			return r, &Error{ChannelKind, "CHR-24", at + 1}
		}
	}
	r.Channel, err = format.Read(in)
	return r, ofChannels(err)
}

func decodeClose(in *stream.Reader, at int) (Record, error) {
	r := Record{Type: Close}
	if at > 0 {
		return r, &Error{NotAlone, "CXR-21", at}
	}
	if in.Left() < 16 {
		return r, &Error{Truncated, "CXR-20", 1}
	}
	r.Code = int64(in.Bits(16))
	if in.Left() < 8 {
		return r, &Error{Truncated, "CXR-20", 3}
	}
	length := int(in.Bits(8))
	if length > MostText {
		return r, &Error{Length, "CXR-22", 3}
	}
	if in.Left() < 8*length {
		return r, &Error{Truncated, "CXR-20", 4}
	}
	r.Text = string(in.Bytes(length))
	if !utf8.ValidString(r.Text) {
		return r, &Error{BadText, "CXR-23", 4}
	}
	if in.Left() > 0 {
		return r, &Error{NotAlone, "CXR-24", 4 + length}
	}
	return r, nil
}

func decodeECN(in *stream.Reader, at int) (Record, error) {
	r := Record{Type: ECN}
	for i, field := range []*int64{&r.Arrived, &r.Congested} {
		if in.Left() < 16 {
			return r, &Error{Truncated, "CXR-20", at + 1 + 2*i}
		}
		*field = int64(in.Bits(16))
	}
	return r, nil
}

func (f Format) decodeLane(in *stream.Reader, isSlice bool) (r Record, err error) {
	in.Bits(8)
	at := in.At() / 8
	if in.Left() < 8 {
		return r, &Error{Truncated, "CXR-20", at}
	}
	if r.Lane = int64(in.Bits(8)); r.Lane >= f.Lanes {
		return r, &Error{BadLane, "CXR-25", at}
	}
	at++
	if isSlice {
		r.Type = Slice
		err = f.decodeBody(&r, oracle.TypeSlice, in.Bytes(in.Left()/8))
	} else {
		r.Type = ChunkAck
		if in.Left() < 8 {
			return r, &Error{Truncated, "CXR-20", at}
		}
		length := int(in.Bits(8))
		at++
		if in.Left() < 8*length {
			return r, &Error{Truncated, "CXR-20", at}
		}
		err = f.decodeBody(&r, oracle.TypeAck, in.Bytes(length))
	}
	if err != nil {
		return r, inBody(err, at)
	}
	return r, nil
}

// isQuiet reports whether a payload asks for no ack (CXR-6).
func isQuiet(records []Record) bool {
	for _, r := range records {
		isReport := r.Type == "" && (r.Channel.Type == channeloracle.Report || r.Channel.Type == channeloracle.Pad)
		if !isReport && r.Type != ChunkAck && r.Type != Close && r.Type != ECN {
			return false
		}
	}
	return true
}
