package main

import (
	"errors"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// connectionConversation adds a trace each of both ends of a connection that talk over a
// network. They run the oracle.
func (g *group) connectionConversation(s script.Script) error {
	c, err := script.ParseConnectionConversation(s.Lines)
	if err != nil {
		return err
	}
	t, err := newConnected(c)
	if err != nil {
		return err
	}
	t.Run(t.EndUS, nil)
	var rows [][]string
	var ends [2]*conform.Recorded
	for i, end := range t.ends {
		again, refused := connections.Op.Record(end.Config)
		if refused != nil {
			return refused
		}
		for _, e := range end.Events { // without the reads that gave nothing
			again.Do(e.At, e.Event)
		}
		ends[i], rows = again, append(rows, again.Rows()...)
		err = errors.Join(err, c.CheckConnection(i, again.Steps))
	}
	if err := errors.Join(err, namesRows(s, rows)); err != nil {
		return err
	}
	for i, end := range ends {
		g.addScript(s, "-"+t.Ends[i].Name, nil, end.Request(), conform.Response(end.Steps))
	}
	return nil
}

// connected is both ends of a connection in virtual time.
type connected struct {
	*script.ConnectionConversation
	conform.Talk
	network
	ends [2]*conform.Recorded
}

// The keys of the two directions.
var clientKey, serverKey = conform.Bytes(bytesFrom(0x01, 32)), conform.Bytes(bytesFrom(0x41, 32))

func newConnected(c *script.ConnectionConversation) (*connected, error) {
	t := &connected{ConnectionConversation: c, network: newNetwork(&c.Carriage)}
	for i, side := range []string{connections.Client, connections.Server} {
		cfg := c.Config.Sided(side, clientKey, serverKey)
		if side == connections.Server {
			cfg.Begin += c.DelayUS
		}
		r, err := connections.Op.Record(cfg)
		if err != nil {
			return nil, err
		}
		t.ends[i] = r
		t.Ends = append(t.Ends, &conform.End{
			Name: side, Machine: r, Poll: connections.Poll{}, Sent: func(s conform.Step) []conform.Bytes { return s.(connections.Step).Datagrams },
		})
		t.applications(i)
	}
	t.Talk.Carry = func(at int64, from *conform.End, _ conform.Event, b conform.Bytes) {
		side := script.ClientEnd
		if from == t.Ends[script.ServerEnd] {
			side = script.ServerEnd
		}
		t.carry(&t.Talk, at, side, conform.Arrival, func(at int64) { t.arrives(at, 1-side, b) })
	}
	return t, nil
}

// applications is what an application does.
func (t *connected) applications(end int) {
	does := func(at int64, e conform.Event) {
		t.Add(at, conform.Action, func(at int64) { t.Do(at, t.Ends[end], e) })
	}
	number := 0
	for _, s := range t.Sends[end] {
		for i := range s.Count {
			number++
			e := connections.Send{Channel: s.Channel, Data: conform.Bytes(conform.Content(number, s.Sizes[i%len(s.Sizes)]))}
			if s.Lifetime != nil {
				e.Lifetime = conform.Some(*s.Lifetime)
			}
			does(s.From+int64(i)*s.Every, e)
		}
	}
	for _, s := range t.Chunks[end] {
		for i := range s.Count {
			does(s.From+int64(i)*s.Every, connections.SendChunk{Size: int64(s.Sizes[i%len(s.Sizes)])})
		}
	}
	for _, c := range t.Closes[end] {
		does(c.At, connections.Close{Code: c.Code, Text: c.Text})
	}
	if idle := t.Idle[end]; idle != nil {
		t.Add(idle[1], conform.Action, func(at int64) { t.readAll(at, end) })
	}
}

// arrives gives an end a datagram. What has arrived is read at once, unless the application is idle.
func (t *connected) arrives(at int64, end int, b conform.Bytes) {
	t.Do(at, t.Ends[end], connections.Receive{Hex: b})
	t.readAll(at, end)
}

// readAll reads what there is, unless the application is idle. A read that gives nothing is no part of the
// trace.
func (t *connected) readAll(at int64, end int) {
	if idle := t.Idle[end]; idle != nil && at >= idle[0] && at < idle[1] {
		return
	}
	r := t.ends[end]
	all := func(e conform.Event, some func(connections.Step) bool) {
		for some(r.Oracle.Do(at, e).(connections.Step)) {
			r.Events = append(r.Events, conform.Timed{At: at, Event: e})
		}
	}
	for _, ch := range t.Config.Channels {
		all(connections.Read{Channel: ch.ID}, func(s connections.Step) bool { return s.Read.Is })
	}
	all(connections.ReadChunk{}, func(s connections.Step) bool { return s.Chunk.Is })
}
