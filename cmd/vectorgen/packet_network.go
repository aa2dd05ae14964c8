package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// endpoints adds a trace each of two endpoints that talk over a network. They run the
// oracle; each is polled at its deadlines.
func (g *group) endpoints(s script.Script) error {
	n, err := script.ParseNetwork(s.Lines)
	if err != nil {
		return err
	}
	run := newConversation(n)
	run.run()
	var errs []error
	var rows [][]string // of both
	for end, name := range []string{"-a", "-b"} {
		events := run.ends[end].events
		rows = append(rows, run.ends[end].rows...)
		errs = append(errs, g.endpointTrace(s, name, n.Config, events, func(steps []contract.EndpointStep, rows [][]string) error {
			return n.Check(end, steps, rows, events)
		}))
	}
	return errors.Join(append(errs, namesRows(s, rows))...)
}

// conversation is two endpoints in virtual time.
type conversation struct {
	*script.Network
	ends    [2]*conversant
	waiting []occurrence
	made    int
	jitter  func() int64
}

type conversant struct {
	oracle    *packetoracle.Endpoint
	events    []contract.EndpointEvent
	rows      [][]string
	sent      int // datagrams
	lose      func(int, int64) bool
	duplicate func(int, int64) bool
}

// occurrence is an event of an end that is to come.
type occurrence struct {
	at     int64
	order  int // of those at one time the first made comes first
	end    int
	event  contract.EndpointEvent
	isPoll bool
}

func newConversation(n *script.Network) *conversation {
	c := &conversation{Network: n, jitter: n.Jitter()}
	for end := range c.ends {
		c.ends[end] = &conversant{oracle: newEndpoint(n.Config), lose: n.Lose[end].Fate(), duplicate: n.Duplicate[end].Fate()}
		number := 0
		for _, sending := range n.Sends[end] {
			for i := range sending.Count {
				number++
				payload := hex.EncodeToString(script.Content(number, sending.Sizes[i%len(sending.Sizes)]))
				at := sending.From + int64(i)*sending.Every
				c.add(at, end, contract.EndpointEvent{At: at, Event: contract.EventSend, Payload: &payload})
			}
		}
	}
	return c
}

func (c *conversation) add(at int64, end int, e contract.EndpointEvent) {
	c.made++
	c.waiting = append(c.waiting, occurrence{at: at, order: c.made, end: end, event: e})
}

// next takes the next occurrence: datagrams before sends, and polls last (PKI-6).
func (c *conversation) next() (occurrence, bool) {
	list := slices.Clone(c.waiting)
	for end, who := range c.ends {
		if at := who.oracle.Deadline(); at <= c.EndUS {
			list = append(list, occurrence{at: at, order: c.made + 1 + end, end: end, isPoll: true, event: contract.EndpointEvent{At: at, Event: contract.EventPoll}})
		}
	}
	if len(list) == 0 {
		return occurrence{}, false
	}
	kind := func(o occurrence) int {
		return slices.Index([]string{contract.EventReceive, contract.EventSend, contract.EventPoll}, o.event.Event)
	}
	first := slices.MinFunc(list, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(kind(a), kind(b)), cmp.Compare(a.order, b.order))
	})
	c.waiting = slices.DeleteFunc(c.waiting, func(o occurrence) bool { return o.order == first.order && !first.isPoll })
	return first, first.at <= c.EndUS
}

func (c *conversation) run() {
	for o, more := c.next(); more; o, more = c.next() {
		who := c.ends[o.end]
		who.events = append(who.events, o.event)
		step := endpointStep(who.oracle, o.event)
		who.rows = append(who.rows, step.Rows)
		for _, datagram := range step.Datagrams {
			c.carry(o.at, o.end, datagram)
		}
	}
}

// carry gives a datagram to the network.
func (c *conversation) carry(now int64, from int, datagram []byte) {
	who := c.ends[from]
	who.sent++
	text := hex.EncodeToString(datagram)
	lost, twice := who.lose(who.sent, now), who.duplicate(who.sent, now)
	times := 1
	if lost {
		times = 0
	} else if twice {
		times = 2
	}
	for range times {
		at := now + c.DelayUS + c.jitter()
		c.add(at, 1-from, contract.EndpointEvent{At: at, Event: contract.EventReceive, Datagram: &text})
	}
}
