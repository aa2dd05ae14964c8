package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file puts the requests about sessions to their oracle.

// hexOf is bytes as the contract has them.
func hexOf(b []byte) *string { return pointerTo(hex.EncodeToString(b)) }

// refusedSession is the response to what is refused, with the check that refuses it.
type refusedSession struct {
	contract.Placed
	check string
}

func refusalOfSession(err error) refusedSession {
	var e *sessionoracle.Error
	if !errors.As(err, &e) {
		panic(err) // the oracle returns no other
	}
	return refusedSession{contract.Placed{Answer: contract.Answer{Error: e.Code}, At: e.At}, e.Check}
}

func sessionEncoded(q contract.SessionEncodeRequest) any {
	b, err := sessionoracle.Encode(messageFrom(q.Message))
	if err != nil {
		return refusalOfSession(err)
	}
	return contract.Response{Answer: ok, Hex: hexOf(b)}
}

func sessionDecoded(q contract.SessionDecodeRequest) any {
	m, err := sessionoracle.Decode(bytesIn(q.Hex))
	if err != nil {
		return refusalOfSession(err)
	}
	return contract.SessionDecodeResponse{Answer: ok, Message: messageOf(m)}
}

func sessionSealed(q contract.SessionSealRequest) any {
	d := sessionoracle.Direction{Mode: q.Mode, Key: bytesIn(q.Key), Link: q.Link}
	return contract.Response{Answer: ok, Hex: hexOf(d.Seal(q.Counter, bytesIn(q.Body)))}
}

func sessionOpened(q contract.SessionOpenRequest) any {
	r := sessionoracle.NewReceiver(sessionoracle.Direction{Mode: q.Mode, Key: bytesIn(q.Key), Link: q.Link})
	for _, c := range q.Taken {
		r.Take(c)
	}
	c, body, err := r.Open(bytesIn(q.Hex))
	if err != nil {
		return refusalOfSession(err)
	}
	return contract.SessionOpenResponse{Answer: ok, Counter: c, Body: hex.EncodeToString(body)}
}

func sessionKeys(q contract.SessionKeysRequest) any {
	k := sessionoracle.Derive(bytesIn(q.Key), bytesIn(q.Offer), sessionoracle.Message{
		Link: q.Link, ServerNonce: bytesIn(q.ServerNonce), Lanes: q.Lanes, Variant: q.Variant, Extensions: q.Extensions, Timeout: q.Timeout,
	})
	return contract.SessionKeysResponse{Answer: ok, C2S: hex.EncodeToString(k.C2S), S2C: hex.EncodeToString(k.S2C), Resume: hex.EncodeToString(k.Resume)}
}

func sessionCookie(q contract.SessionCookieRequest) any {
	address := sessionoracle.Address(q.Address)
	cookie := sessionoracle.Cookie(bytesIn(q.Secret), q.Stamp, address, bytesIn(q.Offer))
	return contract.SessionCookieResponse{Answer: ok, Address: hex.EncodeToString(address), Cookie: hex.EncodeToString(cookie)}
}

func sessionProof(q contract.SessionProofRequest) any {
	m, err := sessionoracle.Decode(bytesIn(q.Hex))
	if err != nil {
		panic(err) // a group passes valid messages only
	}
	return contract.SessionProofResponse{Answer: ok, Proof: hex.EncodeToString(sessionoracle.ProofOf(bytesIn(q.Key), m, bytesIn(q.Offer), q.Stamp, bytesIn(q.Cookie)))}
}

// addSession adds a request about sessions. want is accepted, or CODE@PLACE: if the oracle
// answers something else, that ends the program. The check that refuses is among the vector's
// sentences.
func (g *group) addSession(name string, why about, want string, q, a any) {
	got := accepted
	if refused, ok := a.(refusedSession); ok {
		got = fmt.Sprintf("%s@%d", refused.Error, refused.At)
		if refused.check != "" && !slices.Contains(strings.Fields(why.sentences), refused.check) {
			why.sentences += " " + refused.check
		}
	}
	if got != want {
		panic(fmt.Sprintf("%s/%s: the oracle answers %s, the group expects %s", g.file.Group, name, got, want))
	}
	g.addPair(name, why, q, a)
}

// decodeMessage adds the decoding of a datagram. want is accepted, or CODE@PLACE.
func (g *group) decodeMessage(name string, why about, want string, datagram []byte) {
	q := contract.SessionDecodeRequest{Op: contract.OpSessionDecode, Hex: hex.EncodeToString(datagram)}
	g.addSession(name, why, want, q, sessionDecoded(q))
}

// encodeMessage adds the encoding of a message.
func (g *group) encodeMessage(name string, why about, want string, m sessionoracle.Message) {
	q := contract.SessionEncodeRequest{Op: contract.OpSessionEncode, Message: messageOf(m)}
	g.addSession(name, why, want, q, sessionEncoded(q))
}

// messageBothWays adds the encoding of a message and the decoding of what comes of it.
func (g *group) messageBothWays(name string, why about, m sessionoracle.Message) {
	g.encodeMessage(name+"-encode", why, accepted, m)
	g.decodeMessage(name+"-decode", why, accepted, messageBytes(m))
}

// messageBytes is the bytes of a valid message.
func messageBytes(m sessionoracle.Message) []byte {
	b, err := sessionoracle.Encode(m)
	if err != nil {
		panic(err) // a group passes valid messages only
	}
	return b
}
