package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// connectionConversation adds a trace each of both ends of a connection that talk over a
// network. They run the oracle.
func (g *group) connectionConversation(s script.Script) error {
	c, err := script.ParseConnectionConversation(s.Lines)
	if err != nil {
		return err
	}
	t := newConnected(c)
	t.run()
	var rows [][]string
	var responses [2]contract.ConnectionResponse
	for i, end := range t.ends {
		responses[i] = connectionTrace(end.cfg, end.events)
		for _, step := range responses[i].Steps {
			rows = append(rows, step.Rows)
		}
		err = errors.Join(err, c.CheckConnection(i, responses[i].Steps))
	}
	if err := errors.Join(err, namesRows(s, rows)); err != nil {
		return err
	}
	for i, end := range t.ends {
		request := contract.ConnectionRequest{Op: contract.OpConnection, Config: end.cfg, Events: end.events}
		g.addScript(s, "-"+end.cfg.Side, nil, asJSON(request), asJSON(responses[i]))
	}
	return nil
}

// connected is both ends of a connection in virtual time.
type connected struct {
	*script.ConnectionConversation
	ends    [2]*connectedEnd
	waiting []connectedEvent
	made    int
	jitter  func() int64
}

type connectedEnd struct {
	*tracedConnection
	cfg             contract.ConnectionConfig
	events          []contract.ConnectionEvent
	sent            int
	lose, duplicate func(int, int64) bool
}

// connectedEvent is what is to come. Of those at one time datagrams come first, and polls last
// (CXM-8).
type connectedEvent struct {
	order int
	end   int
	contract.ConnectionEvent
}

// The keys of the two directions.
var clientKey, serverKey = bytesFrom(0x01, 32), bytesFrom(0x41, 32)

// sided is the config of a side of a connection.
func sided(cfg contract.ConnectionConfig, side string) contract.ConnectionConfig {
	cfg.Side, cfg.SendKey, cfg.ReceiveKey = side, hex.EncodeToString(clientKey), hex.EncodeToString(serverKey)
	if side == contract.SideServer {
		cfg.SendKey, cfg.ReceiveKey = cfg.ReceiveKey, cfg.SendKey
	}
	return cfg
}

func newConnected(c *script.ConnectionConversation) *connected {
	t := &connected{ConnectionConversation: c, jitter: c.Jitter()}
	for i, side := range []string{contract.SideClient, contract.SideServer} {
		cfg := sided(c.Config, side)
		if side == contract.SideServer {
			cfg.Begin += c.DelayUS
		}
		t.ends[i] = &connectedEnd{tracedConnection: newTracedConnection(cfg), cfg: cfg, lose: c.Lose[i].Fate(), duplicate: c.Duplicate[i].Fate()}
		t.applications(i)
	}
	return t
}

// applications is what an application does.
func (t *connected) applications(end int) {
	number := 0
	for _, s := range t.Sends[end] {
		for i := range s.Count {
			number++
			e := contract.ConnectionEvent{At: s.From + int64(i)*s.Every, Event: contract.EventSend, Channel: &s.Channel, Data: hexOf(conform.Content(number, s.Sizes[i%len(s.Sizes)]))}
			e.Lifetime = contract.Null{Is: true, Value: s.Lifetime}
			t.add(end, e)
		}
	}
	for _, s := range t.Chunks[end] {
		for i := range s.Count {
			t.add(end, contract.ConnectionEvent{At: s.From + int64(i)*s.Every, Event: contract.EventSendChunk, Size: pointerTo(int64(s.Sizes[i%len(s.Sizes)]))})
		}
	}
	for _, c := range t.Closes[end] {
		t.add(end, contract.ConnectionEvent{At: c.At, Event: contract.EventClose, Code: &c.Code, Text: &c.Text})
	}
	if idle := t.Idle[end]; idle != nil {
		t.add(end, contract.ConnectionEvent{At: idle[1], Event: contract.EventRead})
	}
}

func (t *connected) add(end int, e contract.ConnectionEvent) {
	t.made++
	t.waiting = append(t.waiting, connectedEvent{t.made, end, e})
}

// run lets everything happen until the end.
func (t *connected) run() {
	for {
		list := slices.Clone(t.waiting)
		for i, end := range t.ends {
			if at, ok := end.Deadline(); ok {
				list = append(list, connectedEvent{t.made + 1 + i, i, contract.ConnectionEvent{At: max(at, end.latest), Event: contract.EventPoll}})
			}
		}
		if len(list) == 0 {
			return
		}
		kind := func(e connectedEvent) int {
			return map[string]int{contract.EventReceive: 0, contract.EventPoll: 2}[e.Event] + map[bool]int{true: 1}[e.Event != contract.EventReceive && e.Event != contract.EventPoll]
		}
		first := slices.MinFunc(list, func(a, b connectedEvent) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(kind(a), kind(b)), cmp.Compare(a.order, b.order))
		})
		if first.At > t.EndUS {
			return
		}
		t.waiting = slices.DeleteFunc(t.waiting, func(e connectedEvent) bool { return e.order == first.order })
		t.happen(first)
	}
}

// happen gives an event to its end. What has arrived is read at once, unless the application is
// idle.
func (t *connected) happen(e connectedEvent) {
	end := t.ends[e.end]
	if e.Event != contract.EventRead {
		step := end.take(e.ConnectionEvent)
		for _, datagram := range step.Datagrams {
			t.carry(e.At, e.end, datagram)
		}
		if e.Event != contract.EventReceive {
			return
		}
	}
	if idle := t.Idle[e.end]; idle == nil || e.At < idle[0] || e.At >= idle[1] {
		end.readAll(e.At)
	}
}

// take gives an event to an end, and keeps it.
func (end *connectedEnd) take(e contract.ConnectionEvent) contract.ConnectionStep {
	end.events = append(end.events, e)
	return end.step(e)
}

// readAll reads what there is. A read that gives nothing is no part of the trace.
func (end *connectedEnd) readAll(at int64) {
	for _, ch := range end.cfg.Channels {
		e := contract.ConnectionEvent{At: at, Event: contract.EventRead, Channel: &ch.ID}
		for end.step(e).Read != nil {
			end.events = append(end.events, e)
		}
	}
	e := contract.ConnectionEvent{At: at, Event: contract.EventReadChunk}
	for end.step(e).Chunk != nil {
		end.events = append(end.events, e)
	}
}

// carry gives a datagram to the network.
func (t *connected) carry(now int64, from int, datagram string) {
	end := t.ends[from]
	end.sent++
	lost, twice := end.lose(end.sent, now), end.duplicate(end.sent, now)
	times := 1
	if twice {
		times = 2
	}
	if lost {
		times = 0
	}
	for range times {
		t.add(1-from, contract.ConnectionEvent{At: now + t.DelayUS + t.jitter(), Event: contract.EventReceive, Hex: &datagram})
	}
}
