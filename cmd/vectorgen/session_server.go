package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// serverStage is a server in a script, and the clients whose messages it gets.
type serverStage struct {
	*conform.Recorded
	cfg     sessions.ServerConfig
	clients map[string]*stagedClient
}

// stagedClient is a client in a script. The first letter of its name says its identity: a to d
// are known, u is not, and x and y are anonymous.
type stagedClient struct {
	name       string
	key        []byte
	from       string
	offer      sessionoracle.Message
	nonces     int
	challenges []sessionoracle.Message
	proofs     [][]byte
	linked     sessionoracle.Message // of its connection
	keys       sessionoracle.Keys
}

// stagedIdentity is the identity of a client.
func stagedIdentity(name string) int64 {
	return map[byte]int64{'a': 1, 'b': 2, 'c': 3, 'd': 4, 'u': 9}[name[0]]
}

// sessionServer adds a trace of a server.
func (g *group) sessionServer(s script.Script) error { return staged(g, s, newServerStage) }

func (t *serverStage) recorded() *conform.Recorded { return t.Recorded }

// serverRandom is a secret, and so many links, 1001 and up, each with its server nonce.
func serverRandom(links int) []byte {
	b := bytesFrom(0xd0, 32)
	for i := range links {
		link := 1001 + i
		b = append(b, byte(link), byte(link>>8), 0, 0)
		b = append(b, repeated(byte(0x80+i), 16)...)
	}
	return b
}

func newServerStage(with map[string]string) (*serverStage, error) {
	cfg := sessions.ServerConfig{Config: usualSession(serverRandom(8)), MaxConnections: 100, MaxPerAddress: 50}
	if mode, ok := with["mode"]; ok {
		cfg.Mode = mode
		delete(with, "mode")
	}
	if with["anonymous"] == "yes" {
		cfg.Anonymous, cfg.Mode = true, sessionoracle.CRC
		delete(with, "anonymous")
	}
	if random, ok := with["links"]; ok { // hex, behind the secret
		cfg.Random = conform.Bytes(append(bytesFrom(0xd0, 32), bytesIn(random)...))
		delete(with, "links")
	}
	for n := int64(1); n <= 4; n++ {
		cfg.Keys = append(cfg.Keys, sessions.Key{Identity: conform.Bytes(identityBytes(n)), Key: conform.Bytes(identityKey(n))})
	}
	fields := sessionSettings(&cfg.Config)
	fields["max"], fields["per"] = &cfg.MaxConnections, &cfg.MaxPerAddress
	err1 := numbersOf(with, fields)
	cfg.MaxPerAddress = min(cfg.MaxPerAddress, cfg.MaxConnections) // CXP-1
	r, err2 := sessions.Server.Record(cfg)
	return &serverStage{Recorded: r, cfg: cfg, clients: map[string]*stagedClient{}}, errors.Join(err1, err2)
}

// client returns a client by its name.
func (t *serverStage) client(name string) *stagedClient {
	c, ok := t.clients[name]
	if ok {
		return c
	}
	c = &stagedClient{name: name, from: fmt.Sprintf("192.0.2.%d:40000", 10+len(t.clients)), key: identityKey(stagedIdentity(name))}
	c.offer = t.cfg.Offer()
	c.offer.Type, c.offer.Identity = sessionoracle.TypeLink, identityBytes(stagedIdentity(name))
	c.renew()
	t.clients[name] = c
	return c
}

// renew draws another nonce.
func (c *stagedClient) renew() {
	c.nonces++
	c.offer.Nonce = sessionoracle.HMAC([]byte("nonce"), []byte(fmt.Sprintf("%s %d", c.name, c.nonces)))[:16]
}

func (t *serverStage) line(line script.Said) error {
	var got []string
	figures := map[string]string{}
	for i, at := range line.Times {
		e, c, err := t.event(line, i)
		if err != nil {
			return fmt.Errorf("%q: %w", line.Text, err)
		}
		step := t.Do(at, e).(sessions.ServerStep)
		answer, err := t.answered(c, e, step)
		if err != nil {
			return fmt.Errorf("%q: %w", line.Text, err)
		}
		got = append(append(got, step.Rows...), answer...)
		figures["@"] = deadlineText(step.Deadline)
		figures["living"], figures["ended"], figures["refused"] = fmt.Sprint(step.Living), fmt.Sprint(step.Ended), refusedText(step.Refused)
		figures["counted"], figures["state"], figures["link"] = "no", "none", "none"
		if step.Counted.Is {
			figures["counted"] = step.Counted.V
		}
		if step.Entry.Is {
			figures["state"], figures["link"] = step.Entry.V.State, fmt.Sprint(step.Entry.V.Link)
		}
	}
	return line.Check(got, figures)
}

// event is the event of a line, and the client that it comes from.
func (t *serverStage) event(line script.Said, i int) (conform.Event, *stagedClient, error) {
	if line.Event == "poll" {
		return sessions.Poll{}, nil, nil
	}
	if len(line.Args) == 0 {
		return nil, nil, errors.New("whose?")
	}
	names := line.Args[0]
	if len(line.Times) > 1 {
		names += strconv.Itoa(i + 1)
	}
	c := t.client(names)
	if from, ok := line.With["from"]; ok {
		c.from = from
	}
	switch line.Event {
	case "data":
		return sessions.DataOf{Link: c.linked.Link}, c, nil
	case "end":
		reason, err := strconv.ParseInt(line.Args[1], 10, 64)
		return sessions.End{Link: c.linked.Link, Reason: reason}, c, err
	}
	b, err := c.message(line)
	return sessions.ReceiveFrom{From: c.from, Hex: conform.Bytes(b)}, c, err
}

// message is the bytes that a client sends: link, proof, again or raw.
func (c *stagedClient) message(line script.Said) ([]byte, error) {
	c.change(line)
	number := func(i, most int) int {
		if len(line.Args) > i {
			if n, err := strconv.Atoi(line.Args[i]); err == nil {
				return n - 1
			}
		}
		return most - 1
	}
	switch line.Event {
	case "link":
		m := c.offer
		b := messageBytes(m)
		if version, ok := line.With["version"]; ok {
			v, _ := strconv.Atoi(version)
			b = with(b, 1, byte(v))
		}
		if size, ok := line.With["size"]; ok {
			n, _ := strconv.Atoi(size)
			b = append(b, make([]byte, 64)...)[:n]
		}
		return b, nil
	case "proof":
		n := number(1, len(c.challenges))
		if n < 0 || n >= len(c.challenges) {
			return nil, errors.New("no challenge")
		}
		b := c.proof(c.challenges[n], line)
		c.proofs = append(c.proofs, b)
		return b, nil
	case "again":
		n := number(1, len(c.proofs))
		if n < 0 || n >= len(c.proofs) {
			return nil, errors.New("no proof")
		}
		return c.proofs[n], nil
	case "raw":
		return hex.DecodeString(line.Args[1])
	case "message":
		m := map[string]sessionoracle.Message{"challenge": challengeMessage(), "linked": linkedMessage(), "refused": refusedMessage()}[line.Args[1]]
		return messageBytes(m), nil
	}
	return nil, errors.New("no such event")
}

// change is what a line says of the client's offer.
func (c *stagedClient) change(line script.Said) {
	values := map[string]*int64{
		"protocol": &c.offer.Protocol, "lanes": &c.offer.Lanes, "variants": &c.offer.Variants, "extensions": &c.offer.Extensions,
		"timeout": &c.offer.Timeout, "resume": &c.offer.Resume,
	}
	if slices.Contains(line.Args, "new") {
		c.renew()
		c.offer.Resume = 0
	}
	if slices.Contains(line.Args, "resume") {
		c.renew()
		c.offer.Resume = c.linked.Link
	}
	for key, value := range line.With {
		if field, ok := values[key]; ok {
			*field, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	if mode, ok := line.With["mode"]; ok {
		c.offer.Mode = mode
	}
	if line.With["format"] == "other" {
		c.offer.Format = bytesFrom(0xe0, 8)
	}
}

// proof is the PROOF of a challenge, with what is wrong in it.
func (c *stagedClient) proof(challenge sessionoracle.Message, line script.Said) []byte {
	m := c.offer
	m.Type, m.Stamp, m.Cookie = sessionoracle.TypeProof, challenge.Stamp, challenge.Cookie
	if line.With["cookie"] == "other" {
		m.Cookie = repeated(0x55, 16)
	}
	key := c.key
	switch {
	case line.With["key"] == "other":
		key = repeated(0xee, 32)
	case c.offer.Resume != 0 && line.With["key"] != "key":
		key = c.keys.Resume
	}
	m.Proof = sessionoracle.ProofOf(key, m, nil, 0, nil)
	return messageBytes(m)
}

// answered notes what a client learns of an answer, and writes it as scripts do.
func (t *serverStage) answered(c *stagedClient, e conform.Event, step sessions.ServerStep) (got []string, err error) {
	if !step.Answer.Is {
		return nil, nil
	}
	m, err := sessionoracle.Decode([]byte(step.Answer.V))
	if err != nil {
		return nil, err
	}
	datagram := []byte(e.(sessions.ReceiveFrom).Hex)
	if !bytes.Equal(m.Nonce, datagram[2:18]) {
		return nil, errors.New("the answer has another nonce")
	}
	switch m.Type {
	case sessionoracle.TypeChallenge:
		c.challenges = append(c.challenges, m)
		return []string{">CHALLENGE"}, nil
	case sessionoracle.TypeRefused:
		return []string{fmt.Sprintf(">REFUSED:%d%s", m.Reason, map[bool]string{true: "?"}[bytes.Equal(m.Proof, make([]byte, 16))])}, nil
	}
	return []string{fmt.Sprintf(">LINKED:%d", m.Link)}, c.take(m, datagram)
}

// take takes LINKED, which must be proven for the PROOF that it answers.
func (c *stagedClient) take(m sessionoracle.Message, datagram []byte) error {
	p, err := sessionoracle.Decode(datagram)
	if err != nil {
		return err
	}
	key := c.key
	if p.Resume != 0 {
		key = c.keys.Resume
	} else if m.Link != c.linked.Link {
		c.linked, c.keys = m, sessionoracle.Derive(c.key, sessionoracle.OfferOf(p), m)
	}
	if !bytes.Equal(m.Proof, sessionoracle.ProofOf(key, m, nil, p.Stamp, p.Cookie)) {
		return errors.New("LINKED is not proven")
	}
	return nil
}
