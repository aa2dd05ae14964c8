package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
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
	t.run()
	response := serverResponse(t.cfg, t.events)
	rows := rowsOfServer(response)
	var all []contract.SessionClientStep
	for _, p := range t.clients {
		steps := clientResponse(p.cfg, p.events)
		all = append(all, steps.Steps...)
		rows = append(rows, rowsOfClient(steps)...)
	}
	if err := errors.Join(c.CheckServer(response.Steps), c.CheckClients(all), namesRows(s, rows)); err != nil {
		return err
	}
	s.Level = testvectors.SessionServer
	g.addScript(s, "-server", begin(s.Sentences, "CXC- I"), asJSON(contract.SessionServerRequest{Op: contract.OpSessionServer, Config: t.cfg, Events: t.events}), asJSON(response))
	s.Level = testvectors.SessionClient
	for _, p := range t.clients {
		g.addScript(s, "-"+p.name, begin(s.Sentences, "CXS- J"), asJSON(contract.SessionClientRequest{Op: contract.OpSessionClient, Config: p.cfg, Events: p.events}), asJSON(clientResponse(p.cfg, p.events)))
	}
	return nil
}

// sessionTalk is clients and a server in virtual time.
type sessionTalk struct {
	*script.SessionConversation
	cfg             contract.SessionServerConfig
	server          *sessionoracle.Server
	events          []contract.SessionServerEvent
	clients         []*talkingClient
	waiting         []happening
	made            int
	sent            [2]int
	lose, duplicate [2]func(int, int64) bool
	jitter          func() int64
}

// talkingClient is one of the clients.
type talkingClient struct {
	name    string
	address string
	cfg     contract.SessionClientConfig
	client  *sessionoracle.Client // nil before it begins
	events  []contract.SessionClientEvent
	talks   bool // it sends datagrams of its connection
}

func newSessionTalk(c *script.SessionConversation) (*sessionTalk, error) {
	stage, err := newServerStage(c.With)
	if err != nil {
		return nil, err
	}
	t := &sessionTalk{SessionConversation: c, cfg: stage.cfg, server: newSessionServer(stage.cfg), jitter: c.Jitter()}
	for i := range t.lose {
		t.lose[i], t.duplicate[i] = c.Lose[i].Fate(), c.Duplicate[i].Fate()
	}
	for i, b := range c.Clients {
		p := &talkingClient{name: b.Name, address: b.Address, cfg: contract.SessionClientConfig{SessionConfig: stage.cfg.SessionConfig}}
		p.cfg.Identity, p.cfg.Key = hex.EncodeToString(identityBytes(stagedIdentity(b.Name))), hex.EncodeToString(identityKey(stagedIdentity(b.Name)))
		p.cfg.Random = hex.EncodeToString(bytesFrom(byte(64*i), 96))
		t.clients = append(t.clients, p)
		t.add(b.At, func(at int64) {
			p.client = newSessionClient(p.cfg, at)
			t.toClient(p, contract.SessionClientEvent{At: at, Event: contract.EventPoll})
		})
	}
	for _, h := range c.Happens {
		t.add(h.At, func(at int64) { t.happen(at, h) })
	}
	return t, nil
}

func (t *sessionTalk) add(at int64, do func(int64)) {
	t.made++
	t.waiting = append(t.waiting, happening{at, t.made, do})
}

// run lets everything happen until the end. Polls come last.
func (t *sessionTalk) run() {
	for {
		list := slices.Clone(t.waiting)
		for i, p := range t.clients {
			if p.client == nil {
				continue
			}
			if at, ok := p.client.Deadline(); ok {
				list = append(list, happening{max(at, p.events[len(p.events)-1].At), t.made + 2 + i, func(at int64) { t.toClient(p, contract.SessionClientEvent{At: at, Event: contract.EventPoll}) }})
			}
		}
		if at, ok := t.server.Deadline(); ok {
			list = append(list, happening{at, t.made + 1, func(at int64) { t.toServer(contract.SessionServerEvent{At: at, Event: contract.EventPoll}) }})
		}
		if len(list) == 0 {
			return
		}
		first := slices.MinFunc(list, func(a, b happening) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
		if first.at > t.EndUS {
			return
		}
		t.waiting = slices.DeleteFunc(t.waiting, func(h happening) bool { return h.order == first.order })
		first.do(first.at)
	}
}

// happen is what a script says that happens.
func (t *sessionTalk) happen(at int64, h script.SessionHappens) {
	i := slices.IndexFunc(t.clients, func(p *talkingClient) bool { return p.name == h.Name })
	p := t.clients[i]
	switch h.What {
	case "move", "moved":
		if p.address = h.Address; h.What == "move" {
			t.toClient(p, contract.SessionClientEvent{At: at, Event: contract.EventMove})
		}
	case "close":
		t.toClient(p, contract.SessionClientEvent{At: at, Event: contract.EventClose})
	case contract.EventEnd:
		l, _ := p.client.Linked()
		t.toServer(contract.SessionServerEvent{At: at, Event: contract.EventEnd, Link: &l.Link, Reason: &h.Reason})
	}
}

// carry gives something to the network.
func (t *sessionTalk) carry(at int64, from int, arrive func(at int64)) {
	t.sent[from]++
	lost, twice := t.lose[from](t.sent[from], at), t.duplicate[from](t.sent[from], at)
	times := 1
	if twice {
		times = 2
	}
	if lost {
		times = 0
	}
	for range times {
		t.add(at+t.DelayUS+t.jitter(), arrive)
	}
}

// toClient gives a client an event, and sends what comes of it.
func (t *sessionTalk) toClient(p *talkingClient, e contract.SessionClientEvent) {
	p.events = append(p.events, e)
	step := clientStep(p.client, p.cfg.Mode, e.At, e)
	from := p.address
	for _, datagram := range step.Datagrams {
		t.carry(e.At, script.ClientEnd, func(at int64) {
			t.toServer(contract.SessionServerEvent{At: at, Event: contract.EventReceive, From: &from, Hex: &datagram})
		})
	}
	if step.Link != nil && !p.talks {
		p.talks = true
		t.talk(e.At, p)
	}
}

// talk is a datagram of a connection, and the next one.
func (t *sessionTalk) talk(at int64, p *talkingClient) {
	if p.client.State() == sessionoracle.StateClosed {
		return
	}
	t.toClient(p, contract.SessionClientEvent{At: at, Event: contract.EventSent})
	l, _ := p.client.Linked()
	from := sessionoracle.Address(p.address)
	t.carry(at, script.ClientEnd, func(at int64) { t.data(at, l.Link, from) })
	t.add(at+1_000_000, func(at int64) { t.talk(at, p) })
}

// data is that a datagram of a connection comes to the server, which answers.
func (t *sessionTalk) data(at, link int64, from []byte) {
	e := t.server.Find(link)
	if e == nil || e.State == sessionoracle.StateEnded || !slices.Equal(e.Address, from) {
		return
	}
	t.toServer(contract.SessionServerEvent{At: at, Event: contract.EventData, Link: &link})
	t.toAddress(at, e.Address, contract.SessionClientEvent{Event: contract.EventData})
}

// toAddress sends something to the client at an address.
func (t *sessionTalk) toAddress(at int64, address []byte, e contract.SessionClientEvent) {
	t.carry(at, script.ServerEnd, func(at int64) {
		for _, p := range t.clients {
			hasNoLink := e.Event == contract.EventData && !p.talks
			if p.client != nil && slices.Equal(sessionoracle.Address(p.address), address) && !hasNoLink {
				e.At = at
				t.toClient(p, e)
			}
		}
	})
}

// toServer gives the server an event, and sends its answer.
func (t *sessionTalk) toServer(e contract.SessionServerEvent) {
	t.events = append(t.events, e)
	if step := serverStep(t.server, t.cfg.Mode, e.At, e); step.Answer != nil {
		t.toAddress(e.At, sessionoracle.Address(*e.From), contract.SessionClientEvent{Event: contract.EventReceive, Hex: step.Answer})
	}
}
