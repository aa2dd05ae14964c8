package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file puts the requests about channels to their oracle.

// refusedRecords is the response to records that are refused, with the check that refuses
// them.
type refusedRecords struct {
	contract.Placed
	check string
}

func refusalOfRecords(err error) refusedRecords {
	var e *channeloracle.Error
	if !errors.As(err, &e) {
		panic(err) // the oracle returns no other
	}
	return refusedRecords{contract.Placed{Answer: contract.Answer{Error: e.Code}, At: e.At}, e.Check}
}

func recordsEncoded(q contract.RecordsEncodeRequest) any {
	var list []channeloracle.Record
	for _, c := range q.Records {
		list = append(list, recordFrom(c))
	}
	return encodedRecords(list)
}

func encodedRecords(list []channeloracle.Record) any {
	b, err := channeloracle.Encode(channeloracle.Usual, list)
	if err != nil {
		return refusalOfRecords(err)
	}
	return contract.Response{Answer: ok, Hex: pointerTo(hex.EncodeToString(b))}
}

func recordsDecoded(q contract.RecordsDecodeRequest) any {
	list, err := channeloracle.Decode(channeloracle.Usual, bytesIn(q.Hex))
	if err != nil {
		return refusalOfRecords(err)
	}
	a := contract.RecordsDecodeResponse{Answer: ok}
	for _, r := range list {
		a.Records = append(a.Records, recordOf(r))
	}
	return a
}

func reportResponse(q contract.ChannelReportRequest) any {
	r := channeloracle.Record{Type: channeloracle.Report, Channel: q.Channel, Sequence: int64(q.Base), Room: q.Room}
	var missing []int64
	for _, wire := range q.Missing {
		missing = append(missing, int64(q.Base)+int64(wire-q.Base)) // ascending without a wrap
	}
	r.Groups = channeloracle.Groups(missing, channeloracle.MostGroups)
	return encodedRecords([]channeloracle.Record{r})
}

// channelAnswers are the oracle's responses to requests about channels that a port can read.
var channelAnswers = answers{
	contract.OpRecordsEncode: by(recordsEncoded), contract.OpRecordsDecode: by(recordsDecoded), contract.OpChannelReport: by(reportResponse),
	contract.OpChannelReceiver: asked(channels.Receiver), contract.OpChannelSender: asked(channels.Sender),
}

// addRecords adds a request about records. want is accepted, or CODE@PLACE: if the oracle
// answers something else, that ends the program. The check that refuses is among the
// vector's sentences.
func (g *group) addRecords(name string, why about, want string, q, a any) {
	got := accepted
	if refused, ok := a.(refusedRecords); ok {
		got = fmt.Sprintf("%s@%d", refused.Error, refused.At)
		if !slices.Contains(strings.Fields(why.sentences), refused.check) {
			why.sentences += " " + refused.check
		}
	}
	if got != want {
		panic(fmt.Sprintf("%s/%s: the oracle answers %s, the group expects %s", g.file.Group, name, got, want))
	}
	g.addPair(name, why, q, a)
}

// decodeRecords adds the decoding of a payload. want is accepted, or CODE@PLACE.
func (g *group) decodeRecords(name string, why about, want string, payload []byte) {
	q := contract.RecordsDecodeRequest{Op: contract.OpRecordsDecode, Hex: hex.EncodeToString(payload)}
	g.addRecords(name, why, want, q, recordsDecoded(q))
}

// encodeRecords adds the encoding of records.
func (g *group) encodeRecords(name string, why about, want string, list ...channeloracle.Record) {
	q := contract.RecordsEncodeRequest{Op: contract.OpRecordsEncode, Records: []contract.Record{}}
	for _, r := range list {
		q.Records = append(q.Records, recordOf(r))
	}
	g.addRecords(name, why, want, q, encodedRecords(list))
}

// bothWays adds the encoding of records and the decoding of what comes of it.
func (g *group) bothWays(name string, why about, list ...channeloracle.Record) {
	g.encodeRecords(name+"-encode", why, accepted, list...)
	g.decodeRecords(name+"-decode", why, accepted, payload(list...))
}

// payload is the bytes of valid records.
func payload(list ...channeloracle.Record) []byte {
	b, err := channeloracle.Encode(channeloracle.Usual, list)
	if err != nil {
		panic(err) // a group passes valid records only
	}
	return b
}

// missing adds the report of a set.
func (g *group) missing(name string, why about, want string, id int64, base uint16, room int64, set ...uint16) {
	q := contract.ChannelReportRequest{Op: contract.OpChannelReport, Channel: id, Base: base, Room: room, Missing: set}
	if set == nil {
		q.Missing = []uint16{}
	}
	g.addRecords(name, why, want, q, reportResponse(q))
}
func deadlineOf(at int64, ok bool) *int64 {
	if !ok {
		return nil
	}
	return &at
}
