package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// clientStage is a client in a script, and the server whose messages it gets.
type clientStage struct {
	*conform.Recorded
	client     *sessions.OracleClient
	challenges map[string]sessionoracle.Message // by name
	offers     []sessionoracle.Message          // of each nonce, in order
}

// usualSession is what both ends of a script have, unless it says otherwise.
func usualSession(random []byte) sessions.Config {
	return sessions.Config{
		Protocol: 7, Mode: sessionoracle.AEAD, Lanes: 2, Variants: 1, Extensions: 0, Timeout: 100,
		Format: conform.Bytes(bytesFrom(0xf0, 8)), Random: conform.Bytes(random),
	}
}

// numbersOf sets numbers of a config by their names.
func numbersOf(with map[string]string, fields map[string]*int64) error {
	for key, value := range with {
		field, ok := fields[key]
		if !ok {
			return fmt.Errorf("no setting %q", key)
		}
		n, err := script.Time(value)
		if err != nil {
			return err
		}
		*field = n
		delete(with, key)
	}
	return nil
}

// sessionSettings are the numbers of a config.
func sessionSettings(cfg *sessions.Config) map[string]*int64 {
	return map[string]*int64{
		"protocol": &cfg.Protocol, "lanes": &cfg.Lanes, "variants": &cfg.Variants, "extensions": &cfg.Extensions, "timeout": &cfg.Timeout,
	}
}

// identityBytes is an identity as on the wire.
func identityBytes(n int64) []byte { return append([]byte{byte(n)}, make([]byte, 7)...) }

// identityKey is the key of an identity; the anonymous one has zeros.
func identityKey(n int64) []byte {
	if n == 0 {
		return make([]byte, 32)
	}
	return bytesFrom(byte(0x10*n), 32)
}

// stage is a machine in a script, and what is around it.
type stage interface {
	line(line script.Said) error // runs a line and compares what comes of it
	recorded() *conform.Recorded
}

// staged adds the trace of a stage, which is made by what the first line of its script sets.
func staged[S stage](g *group, s script.Script, begin func(with map[string]string) (S, error)) error {
	with, lines, err := script.ParseSaid(s.Lines)
	if err != nil {
		return err
	}
	t, err := begin(with)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := t.line(line); err != nil {
			return err
		}
	}
	r := t.recorded()
	if err := namesRows(s, r.Rows()); err != nil {
		return err
	}
	g.addScript(s, "", nil, r.Request(), conform.Response(r.Steps))
	return nil
}

// sessionClient adds a trace of a client.
func (g *group) sessionClient(s script.Script) error { return staged(g, s, newClientStage) }

func (t *clientStage) recorded() *conform.Recorded { return t.Recorded }

func newClientStage(with map[string]string) (*clientStage, error) {
	cfg := sessions.ClientConfig{Config: usualSession(sample(128))}
	if mode, ok := with["mode"]; ok {
		cfg.Mode = mode
		delete(with, "mode")
	}
	identity := int64(1)
	fields := sessionSettings(&cfg.Config)
	fields["identity"] = &identity
	err1 := numbersOf(with, fields)
	cfg.Identity, cfg.Key = conform.Bytes(identityBytes(identity)), conform.Bytes(identityKey(identity))
	r, err2 := sessions.Client.Record(cfg)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &clientStage{Recorded: r, client: r.Oracle.(*sessions.OracleClient), challenges: map[string]sessionoracle.Message{}}, nil
}

func (t *clientStage) line(line script.Said) error {
	var got []string
	figures := map[string]string{}
	args := line.Args
	for i, at := range line.Times {
		line.Args = slices.Clone(args)
		for n, arg := range args { // # is the number of the event
			line.Args[n] = strings.ReplaceAll(arg, "#", fmt.Sprint(i+1))
		}
		if t.client.Begin(at); len(t.offers) == 0 {
			t.offers = append(t.offers, t.client.Offer())
		}
		e, err := t.event(at, line)
		if err != nil {
			return fmt.Errorf("%q: %w", line.Text, err)
		}
		step := t.Do(at, e).(sessions.ClientStep)
		if offer := t.client.Offer(); !bytes.Equal(offer.Nonce, t.offers[len(t.offers)-1].Nonce) {
			t.offers = append(t.offers, offer)
		}
		got = append(got, t.describe(step)...)
		figures["@"] = deadlineText(step.Deadline)
		figures["state"] = step.State
		figures["refused"] = refusedText(step.Refused)
		figures["ended"] = endedText(step.Ended)
	}
	return line.Check(got, figures)
}

// deadlineText writes a deadline as scripts have it.
func deadlineText(at conform.Opt[int64]) string {
	if !at.Is {
		return "never"
	}
	return fmt.Sprint(at.V)
}

// refusedText writes a refusal.
func refusedText(r conform.Opt[sessions.Refused]) string {
	if !r.Is {
		return "none"
	}
	return fmt.Sprintf("%s,%d", r.V.Error, r.V.At)
}

func endedText(e conform.Opt[sessions.Ended]) string {
	switch {
	case !e.Is:
		return "no"
	case e.V.Why != "refused":
		return e.V.Why
	case e.V.Proven:
		return fmt.Sprint(e.V.Reason)
	}
	return fmt.Sprintf("%d?", e.V.Reason)
}

// describe writes a step as scripts do: rows, and what was sent behind the row that sent it.
func (t *clientStage) describe(step sessions.ClientStep) (got []string) {
	sent := step.Datagrams
	for _, row := range step.Rows {
		got = append(got, row)
		if slices.Contains([]string{"I3", "I4", "I25", "I26"}, row) {
			m, err := sessionoracle.Decode([]byte(sent[0]))
			if err != nil {
				panic(err) // of a machine
			}
			sent = sent[1:]
			got = append(got, ">"+t.nameOf(m))
		}
	}
	if step.Link.Is {
		got = append(got, fmt.Sprintf("made:%d", step.Link.V.Link))
	}
	return got
}

// nameOf writes a message of the client.
func (t *clientStage) nameOf(m sessionoracle.Message) string {
	if m.Type == sessionoracle.TypeLink {
		return "LINK"
	}
	for name, c := range t.challenges {
		if c.Stamp == m.Stamp && bytes.Equal(c.Cookie, m.Cookie) {
			return "PROOF:" + name
		}
	}
	return "PROOF:?"
}

// clientEvents are those whose words are their names.
var clientEvents = map[string]conform.Event{
	"poll": sessions.Poll{}, "data": sessions.Data{}, "sent": sessions.Sent{}, "move": sessions.Move{}, "close": sessions.Close{},
}

// event is the event of a line.
func (t *clientStage) event(at int64, line script.Said) (conform.Event, error) {
	if e, ok := clientEvents[line.Event]; ok {
		return e, nil
	}
	message, err := t.message(at, line)
	return sessions.Receive{Hex: conform.Bytes(message)}, err
}

// message is the message of an event.
func (t *clientStage) message(at int64, line script.Said) ([]byte, error) {
	offer := t.client.Offer()
	switch line.With["nonce"] {
	case "old":
		offer = t.offers[len(t.offers)-2]
	case "other":
		offer.Nonce = repeated(0x77, 16)
	}
	switch line.Event {
	case "challenge":
		return t.challenge(at, line, offer), nil
	case "linked", "refused":
		return t.answer(line, offer)
	case "message":
		m := map[string]sessionoracle.Message{"link": linkMessage(), "proof": proofMessage()}[line.Args[0]]
		return messageBytes(m), nil
	case "raw":
		return hex.DecodeString(line.Args[0])
	}
	return nil, fmt.Errorf("no event %q", line.Event)
}

// challenge is challenge NAME [stamp=N]: the same name is the same challenge.
func (t *clientStage) challenge(at int64, line script.Said, offer sessionoracle.Message) []byte {
	name := line.Args[0]
	m, ok := t.challenges[name]
	if !ok {
		m = sessionoracle.Message{Type: sessionoracle.TypeChallenge, Stamp: at, Cookie: sessionoracle.HMAC([]byte("cookie"), []byte(name))[:16]}
		if stamp, is := line.With["stamp"]; is {
			m.Stamp, _ = strconv.ParseInt(stamp, 10, 64)
		}
	}
	m.Nonce = offer.Nonce
	t.challenges[name] = m
	return messageBytes(m)
}

// serverNonce is that of the server of a script.
var serverNonce = bytesFrom(0x70, 16)

// answer is linked NAME or refused REASON [NAME], with what is wrong in it.
func (t *clientStage) answer(line script.Said, offer sessionoracle.Message) ([]byte, error) {
	m := sessionoracle.Message{
		Type: line.Event, Nonce: offer.Nonce, Version: sessionoracle.Version, Link: 0x55667788, ServerNonce: serverNonce,
		Lanes: min(2, offer.Lanes), Variant: min(1, offer.Lanes), Timeout: offer.Timeout,
	}
	args := line.Args
	if line.Event == "refused" {
		m.Reason, _ = strconv.ParseInt(args[0], 10, 64)
		args = args[1:]
	}
	values := map[string]*int64{"link": &m.Link, "lanes": &m.Lanes, "variant": &m.Variant, "extensions": &m.Extensions, "timeout": &m.Timeout, "version": &m.Version}
	for key, value := range line.With {
		if field, ok := values[key]; ok {
			*field, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	if line.With["server"] == "other" {
		m.ServerNonce = bytesFrom(0x90, 16)
	}
	if len(args) == 0 {
		m.Proof = make([]byte, 16)
		return sessionoracle.Encode(m)
	}
	c, ok := t.challenges[args[0]]
	if !ok {
		return nil, errors.New("no such challenge")
	}
	m.Proof = sessionoracle.ProofOf(t.answerKey(line, offer), m, sessionoracle.OfferOf(t.covered(line, offer)), c.Stamp, c.Cookie)
	return sessionoracle.Encode(m)
}

// covered is the offer that a REFUSED covers.
func (t *clientStage) covered(line script.Said, offer sessionoracle.Message) sessionoracle.Message {
	if line.With["offer"] == "other" {
		offer.Resume++
	}
	return offer
}

// answerKey is the key of an answer's proof.
func (t *clientStage) answerKey(line script.Said, offer sessionoracle.Message) []byte {
	_, keys := t.client.Linked()
	switch {
	case line.With["key"] == "other":
		return bytesFrom(0xee, 32)
	case line.With["key"] == "resume", line.With["key"] == "" && line.Event == "linked" && offer.Resume != 0:
		return keys.Resume
	}
	return []byte(t.Config.(sessions.ClientConfig).Key)
}
