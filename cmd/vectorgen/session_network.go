package main

import (
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// sessionConversation adds a trace of the server and one of each client of a conversation. They
// run the oracle.
func (g *group) sessionConversation(s script.Script) error {
	c, err := script.ParseSessionConversation(s.Lines)
	if err != nil {
		return err
	}
	t, err := newSessionTalk(c)
	if err != nil {
		return err
	}
	t.Run(t.EndUS, nil)
	var all []conform.Step
	rows := t.server.Rows()
	for _, p := range t.clients {
		all, rows = append(all, p.Steps...), append(rows, p.Rows()...)
	}
	if err := errors.Join(c.CheckServer(t.server.Steps), c.CheckClients(all), namesRows(s, rows)); err != nil {
		return err
	}
	s.Level = testvectors.SessionServer
	g.addScript(s, "-server", begin(s.Sentences, "CXC- I"), t.server.Request(), conform.Response(t.server.Steps))
	s.Level = testvectors.SessionClient
	for _, p := range t.clients {
		g.addScript(s, "-"+p.Name, begin(s.Sentences, "CXS- J"), p.Request(), conform.Response(p.Steps))
	}
	return nil
}

// sessionTalk is clients and a server in virtual time.
type sessionTalk struct {
	*script.SessionConversation
	conform.Talk
	network
	server  *conform.Recorded
	toLink  *conform.End // the server's end
	clients []*talkingClient
}

// talkingClient is one of the clients.
type talkingClient struct {
	*conform.Recorded
	*conform.End
	client  *sessions.OracleClient
	address string
	talks   bool // it sends datagrams of its connection
}

func newSessionTalk(c *script.SessionConversation) (*sessionTalk, error) {
	stage, err := newServerStage(c.With)
	if err != nil {
		return nil, err
	}
	t := &sessionTalk{SessionConversation: c, server: stage.Recorded, network: newNetwork(&c.Carriage)}
	t.toLink = &conform.End{Machine: t.server, Poll: sessions.Poll{}, Sent: func(s conform.Step) []conform.Bytes {
		if answer := s.(sessions.ServerStep).Answer; answer.Is {
			return []conform.Bytes{answer.V}
		}
		return nil
	}}
	t.Ends = append(t.Ends, t.toLink)
	for i, b := range c.Clients {
		cfg := sessions.ClientConfig{Config: stage.cfg.Config}
		cfg.Identity, cfg.Key = conform.Bytes(identityBytes(stagedIdentity(b.Name))), conform.Bytes(identityKey(stagedIdentity(b.Name)))
		cfg.Random = conform.Bytes(bytesFrom(byte(64*i), 96))
		r, err := sessions.Client.Record(cfg)
		if err != nil {
			return nil, err
		}
		p := &talkingClient{Recorded: r, client: r.Oracle.(*sessions.OracleClient), address: b.Address, End: &conform.End{
			Name: b.Name, Machine: r, Poll: sessions.Poll{}, Sent: func(s conform.Step) []conform.Bytes { return s.(sessions.ClientStep).Datagrams },
		}}
		t.clients, t.Ends = append(t.clients, p), append(t.Ends, p.End)
		t.Add(b.At, conform.Action, func(at int64) { t.toClient(at, p, sessions.Poll{}) })
	}
	t.Talk.Carry = t.carries
	for _, h := range c.Happens {
		t.Add(h.At, conform.Action, func(at int64) { t.happen(at, h) })
	}
	return t, nil
}

// happen is what a script says that happens.
func (t *sessionTalk) happen(at int64, h script.SessionHappens) {
	i := slices.IndexFunc(t.clients, func(p *talkingClient) bool { return p.Name == h.Name })
	p := t.clients[i]
	switch h.What {
	case "move", "moved":
		if p.address = h.Address; h.What == "move" {
			t.toClient(at, p, sessions.Move{})
		}
	case "close":
		t.toClient(at, p, sessions.Close{})
	case "end":
		l, _ := p.client.Linked()
		t.Do(at, t.toLink, sessions.End{Link: l.Link, Reason: h.Reason})
	}
}

// carries gives the network what an end sent: an answer goes to the address of the message that it answers.
func (t *sessionTalk) carries(at int64, from *conform.End, e conform.Event, b conform.Bytes) {
	if from == t.toLink {
		t.toAddress(at, sessionoracle.Address(e.(sessions.ReceiveFrom).From), sessions.Receive{Hex: b})
		return
	}
	i := slices.IndexFunc(t.clients, func(p *talkingClient) bool { return p.End == from })
	address := t.clients[i].address
	t.carry(&t.Talk, at, script.ClientEnd, conform.Action, func(at int64) { t.Do(at, t.toLink, sessions.ReceiveFrom{From: address, Hex: b}) })
}

// toClient gives a client an event. Once it has a link it sends datagrams of it.
func (t *sessionTalk) toClient(at int64, p *talkingClient, e conform.Event) {
	if step := t.Do(at, p.End, e).(sessions.ClientStep); step.Link.Is && !p.talks {
		p.talks = true
		t.talk(at, p)
	}
}

// talk is a datagram of a connection, and the next one.
func (t *sessionTalk) talk(at int64, p *talkingClient) {
	if p.client.State() == sessionoracle.StateClosed {
		return
	}
	t.toClient(at, p, sessions.Sent{})
	l, _ := p.client.Linked()
	from := sessionoracle.Address(p.address)
	t.carry(&t.Talk, at, script.ClientEnd, conform.Action, func(at int64) { t.data(at, l.Link, from) })
	t.Add(at+1_000_000, conform.Action, func(at int64) { t.talk(at, p) })
}

// data is that a datagram of a connection comes to the server, which answers.
func (t *sessionTalk) data(at, link int64, from []byte) {
	e := t.server.Oracle.(*sessions.OracleServer).Find(link)
	if e == nil || e.State == sessionoracle.StateEnded || !slices.Equal(e.Address, from) {
		return
	}
	t.Do(at, t.toLink, sessions.DataOf{Link: link})
	t.toAddress(at, e.Address, sessions.Data{})
}

// toAddress sends something to the client at an address.
func (t *sessionTalk) toAddress(at int64, address []byte, e conform.Event) {
	t.carry(&t.Talk, at, script.ServerEnd, conform.Action, func(at int64) {
		for _, p := range t.clients {
			hasNoLink := e == sessions.Data{} && !p.talks
			if p.client.Client != nil && slices.Equal(sessionoracle.Address(p.address), address) && !hasNoLink {
				t.toClient(at, p, e)
			}
		}
	})
}
