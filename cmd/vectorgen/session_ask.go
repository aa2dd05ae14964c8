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

// newSessionClient returns the client of a trace, which begins at a time.
func newSessionClient(cfg contract.SessionClientConfig, at int64) *sessionoracle.Client {
	offer := offerOf(cfg.SessionConfig)
	offer.Identity = bytesIn(cfg.Identity)
	return sessionoracle.NewClient(offer, bytesIn(cfg.Key), &sessionoracle.Random{Left: bytesIn(cfg.Random)}, at)
}

func offerOf(cfg contract.SessionConfig) sessionoracle.Message {
	return sessionoracle.Message{
		Protocol: cfg.Protocol, Mode: cfg.Mode, Lanes: cfg.Lanes, Variants: cfg.Variants, Extensions: cfg.Extensions,
		Timeout: cfg.Timeout, Format: bytesIn(cfg.Format),
	}
}

// clientResponse runs the oracle's client through a trace.
func clientResponse(cfg contract.SessionClientConfig, events []contract.SessionClientEvent) contract.SessionClientResponse {
	a := contract.SessionClientResponse{Answer: ok, Steps: []contract.SessionClientStep{}}
	if len(events) == 0 {
		return a
	}
	c := newSessionClient(cfg, events[0].At)
	latest := int64(0)
	for _, e := range events {
		latest = max(latest, e.At)
		a.Steps = append(a.Steps, clientStep(c, cfg.Mode, latest, e))
	}
	return a
}

// notBefore is a deadline as steps have it.
func notBefore(latest, at int64, ok bool) *int64 { return deadlineOf(max(latest, at), ok) }

// refusedOf is a refusal as steps have it.
func refusedOf(err error) *contract.Refused {
	if err == nil {
		return nil
	}
	r := refusalOfSession(err)
	return &contract.Refused{Error: r.Error, At: r.At}
}

func clientStep(c *sessionoracle.Client, mode string, latest int64, e contract.SessionClientEvent) contract.SessionClientStep {
	step := contract.SessionClientStep{Rows: []string{}, Datagrams: []string{}}
	took := func(row string) {
		if row != "" {
			step.Rows = append(step.Rows, row)
		}
	}
	switch e.Event {
	case contract.EventPoll:
		for {
			row, datagram := c.Poll(e.At)
			if took(row); datagram == nil {
				break
			}
			step.Datagrams = append(step.Datagrams, hex.EncodeToString(datagram))
		}
	case contract.EventReceive:
		row, err := c.Receive(e.At, bytesIn(*e.Hex))
		if step.Refused = refusedOf(err); err == nil {
			if took(row); row == "I8" {
				l, keys := c.Linked()
				step.Link = linkOf(mode, l, keys.C2S)
			}
		}
	case contract.EventData:
		took(c.Data(e.At))
	case contract.EventSent:
		c.Sent(e.At)
	case contract.EventMove:
		took(c.Move(e.At))
	case contract.EventClose:
		took(c.Close(e.At))
	}
	step.State = c.State()
	if step.State == sessionoracle.StateClosed {
		step.Ended = endedOf(c.Ended())
	}
	at, some := c.Deadline()
	step.Deadline = notBefore(latest, at, some)
	return step
}

// linkOf is a link that was made, with the key with which its end sends.
func linkOf(mode string, l sessionoracle.Message, key []byte) *contract.SessionLink {
	return &contract.SessionLink{
		Link: l.Link, Lanes: l.Lanes, Variant: l.Variant, Extensions: l.Extensions, Timeout: l.Timeout, Sealed: *firstSealed(mode, l.Link, key),
	}
}

// firstSealed is the first datagram of a direction, with the body 00.
func firstSealed(mode string, link int64, key []byte) *string {
	return hexOf(sessionoracle.Direction{Mode: mode, Key: key, Link: link}.Seal(0, []byte{0}))
}

func endedOf(e sessionoracle.Ended) *contract.SessionEnded {
	switch {
	case e.Timeout:
		return &contract.SessionEnded{Why: contract.EndedTimeout}
	case e.Reason == 0:
		return &contract.SessionEnded{Why: contract.EndedClosed}
	}
	return &contract.SessionEnded{Why: contract.EndedRefused, Reason: e.Reason, Proven: e.Proven}
}

// newSessionServer returns the server of a trace.
func newSessionServer(cfg contract.SessionServerConfig) *sessionoracle.Server {
	keys := map[string][]byte{}
	for _, k := range cfg.Keys {
		keys[string(bytesIn(k.Identity))] = bytesIn(k.Key)
	}
	return sessionoracle.NewServer(sessionoracle.ServerConfig{
		Offer: offerOf(cfg.SessionConfig), Keys: keys, Anonymous: cfg.Anonymous, MaxConnections: cfg.MaxConnections,
		MaxPerAddress: cfg.MaxPerAddress, Random: &sessionoracle.Random{Left: bytesIn(cfg.Random)},
	})
}

// serverResponse runs the oracle's server through a trace.
func serverResponse(cfg contract.SessionServerConfig, events []contract.SessionServerEvent) contract.SessionServerResponse {
	s := newSessionServer(cfg)
	a := contract.SessionServerResponse{Answer: ok, Steps: []contract.SessionServerStep{}}
	latest := int64(0)
	for _, e := range events {
		latest = max(latest, e.At)
		a.Steps = append(a.Steps, serverStep(s, cfg.Mode, latest, e))
	}
	return a
}

func serverStep(s *sessionoracle.Server, mode string, latest int64, e contract.SessionServerEvent) contract.SessionServerStep {
	var did sessionoracle.Step
	var err error
	switch e.Event {
	case contract.EventReceive:
		did, err = s.Receive(e.At, *e.From, bytesIn(*e.Hex))
	case contract.EventData:
		did = s.Data(e.At, s.Find(*e.Link))
	case contract.EventEnd:
		did = s.End(e.At, s.Find(*e.Link), *e.Reason)
	case contract.EventPoll:
		did = s.Poll(e.At)
	}
	step := contract.SessionServerStep{Rows: []string{}, Refused: refusedOf(err), Living: s.Living(), Ended: s.EndedEntries()}
	step.Rows = append(step.Rows, did.Rows...)
	if did.Answer != nil {
		step.Answer = hexOf(did.Answer)
	}
	if did.Counted != "" {
		step.Counted = &did.Counted
	}
	if entry := did.Entry; entry != nil {
		step.Entry = &contract.SessionEntry{Link: entry.Link, State: entry.State, Address: hex.EncodeToString(entry.Address)}
		if did.Made {
			step.Entry.Sealed = firstSealed(mode, entry.Link, entry.Keys.S2C)
		}
	}
	at, some := s.Deadline()
	step.Deadline = notBefore(latest, at, some)
	return step
}
