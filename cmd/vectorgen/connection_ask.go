package main

import (
	"encoding/hex"
	"errors"

	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file puts the requests about the records of connections to their oracle.

// bitsIn are bits as the contract writes them.
func bitsIn(text string) []bool {
	bits := make([]bool, len(text))
	for i := range bits {
		bits[i] = text[i] == '1'
	}
	return bits
}

func refusalOfConnection(err error) refusedSession {
	var e *connectionoracle.Error
	if !errors.As(err, &e) {
		panic(err) // the oracle returns no other
	}
	return refusedSession{contract.Placed{Answer: contract.Answer{Error: e.Code}, At: e.At}, e.Check}
}

func formatOfConnection(lanes, variant, extensions int64) connectionoracle.Format {
	return connectionoracle.Format{Lanes: lanes, Repair: variant == contract.VariantRepair, ECN: extensions&contract.ExtensionECN != 0}
}

func connectionEncoded(q contract.ConnectionEncodeRequest) any {
	f := formatOfConnection(q.Lanes, q.Variant, q.Extensions)
	var list []connectionoracle.Record
	for _, v := range recordsFrom("connection-payload", q, f.Parameters()) {
		list = append(list, f.Record(v))
	}
	b, err := connectionoracle.Encode(f, list)
	if err != nil {
		return refusalOfConnection(err)
	}
	return contract.Response{Answer: ok, Hex: hexOf(b)}
}

func connectionDecoded(q contract.ConnectionDecodeRequest) any {
	list, err := connectionoracle.Decode(formatOfConnection(q.Lanes, q.Variant, q.Extensions), bytesIn(q.Hex))
	if err != nil {
		return refusalOfConnection(err)
	}
	a := contract.ConnectionDecodeResponse{Answer: ok}
	for _, r := range list {
		a.Records = append(a.Records, connectionRecordOf(r))
	}
	return a
}

// connectionAnswers are the oracles' responses to requests about sessions and connections that a
// port can read.
var connectionAnswers = answers{
	contract.OpSessionEncode: by(sessionEncoded), contract.OpSessionDecode: by(sessionDecoded), contract.OpSessionSeal: by(sessionSealed),
	contract.OpSessionOpen: by(sessionOpened), contract.OpSessionKeys: by(sessionKeys), contract.OpSessionCookie: by(sessionCookie),
	contract.OpSessionProof: by(sessionProof),
	sessions.Client.Name:    asked(sessions.Client), sessions.Server.Name: asked(sessions.Server), connections.Op.Name: asked(connections.Op),
	contract.OpConnectionEncode: by(connectionEncoded), contract.OpConnectionDecode: by(connectionDecoded),
}

// decodeConnection adds the decoding of a payload. want is accepted, or CODE@PLACE.
func (g *group) decodeConnection(name string, why about, want string, lanes int64, payload []byte) {
	q := contract.ConnectionDecodeRequest{Op: contract.OpConnectionDecode, Lanes: lanes, Hex: hex.EncodeToString(payload)}
	g.addSession(name, why, want, q, connectionDecoded(q))
}

// encodeConnection adds the encoding of records.
func (g *group) encodeConnection(name string, why about, want string, lanes int64, list ...connectionoracle.Record) {
	q := contract.ConnectionEncodeRequest{Op: contract.OpConnectionEncode, Lanes: lanes, Records: []contract.ConnectionRecord{}}
	for _, r := range list {
		q.Records = append(q.Records, connectionRecordOf(r))
	}
	g.addSession(name, why, want, q, connectionEncoded(q))
}

// connectionBothWays adds the encoding of records and the decoding of what comes of it.
func (g *group) connectionBothWays(name string, why about, lanes int64, list ...connectionoracle.Record) {
	g.encodeConnection(name+"-encode", why, accepted, lanes, list...)
	g.decodeConnection(name+"-decode", why, accepted, lanes, connectionPayload(lanes, list...))
}

// connectionPayload is the bytes of valid records.
func connectionPayload(lanes int64, list ...connectionoracle.Record) []byte {
	b, err := connectionoracle.Encode(connectionoracle.Format{Lanes: lanes}, list)
	if err != nil {
		panic(err) // a group passes valid records only
	}
	return b
}
