package packetsim

import (
	"bytes"
	"reflect"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// Fail reports a difference, as the Fatalf of a test does.
type Fail func(format string, args ...any)

// Checked is an endpoint beside its model: each event goes to both, and then everything
// that can be seen of the two must be the same.
type Checked struct {
	Endpoint *protocol.Endpoint
	model    *Model
	fail     Fail
	events   []protocol.Event // that nobody has asked for
}

// NewChecked returns a new endpoint and its model. The configuration must be one that
// packet.NewEndpoint takes, as Complete returns it.
func NewChecked(cfg protocol.Config, fail Fail) (*Checked, error) {
	e, err := protocol.NewEndpoint(cfg)
	if err != nil {
		return nil, err
	}
	return &Checked{Endpoint: e, model: NewModel(Complete(cfg)), fail: fail}, nil
}

// Complete returns a configuration with the defaults of section 2.3.
func Complete(c protocol.Config) protocol.Config {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.FragmentSize, 1024)
	set(&c.MaxFragments, 16)
	set(&c.FragmentAbove, 1160)
	set(&c.Received, 256)
	set(&c.SentMax, 8192)
	set(&c.Reassembly, min(64, c.Received/2))
	set(&c.ReassemblyPackets, min(8, c.Reassembly))
	set(&c.ReassemblyBytes, 2*c.FragmentSize*c.MaxFragments)
	if c.SequenceBits == 0 {
		c.SequenceBits = 16
	}
	return c
}

// same compares what the two say.
func (c *Checked) same(what string, endpoint, model any) {
	if !reflect.DeepEqual(endpoint, model) {
		c.fail("%s (-model +endpoint):\n%s", what, cmp.Diff(model, endpoint))
	}
}

// Receive is the event of the endpoint.
func (c *Checked) Receive(now core.Micros, datagram []byte, verdict func(protocol.Delivery) protocol.Verdict) error {
	var offered, modelOffered []protocol.Delivery
	var said []protocol.Verdict
	before := bytes.Clone(datagram)
	err := c.Endpoint.Receive(now, datagram, func(d protocol.Delivery) protocol.Verdict {
		v := verdict(d)
		d.Payload = bytes.Clone(d.Payload)
		offered, said = append(offered, d), append(said, v)
		return v
	})
	refusal := c.model.Receive(now, datagram, func(d protocol.Delivery) protocol.Verdict {
		modelOffered = append(modelOffered, d)
		if len(said) == 0 {
			return protocol.Take // the difference is reported below
		}
		return said[0]
	})
	got := Refusal{}
	if e, ok := err.(*protocol.Error); ok {
		got = Refusal{e.Rule(), e.Code(), e.Place()}
	}
	c.same("refusal", got, refusal)
	c.same("deliveries", offered, modelOffered)
	if !bytes.Equal(before, datagram) {
		c.fail("the datagram was changed")
	}
	c.compare(now)
	return err
}

// Send is the event of the endpoint. The datagrams are the caller's.
func (c *Checked) Send(now core.Micros, payload []byte, quiet bool) (datagrams [][]byte, err error) {
	send := c.Endpoint.Send
	if quiet {
		send = c.Endpoint.SendQuiet
	}
	number := c.model.nextToSend
	out, n, err := send(now, payload)
	for _, d := range out {
		datagrams = append(datagrams, bytes.Clone(d))
	}
	model := c.model.Send(now, payload, quiet)
	c.same("datagrams", datagrams, model)
	if (err == nil) != (model != nil) || err == nil && n != number || err != nil && n != -1 {
		c.fail("number %d, %v, the model has %d", n, err, number)
	}
	c.compare(now)
	return datagrams, err
}

// Poll is the event of the endpoint. The datagram is the caller's.
func (c *Checked) Poll(now core.Micros) (datagram []byte, ok bool) {
	datagram, ok = c.Endpoint.Poll(now)
	datagram = bytes.Clone(datagram)
	c.same("ack-only packet", datagram, c.model.Poll(now))
	c.compare(now)
	return datagram, ok
}

// Events is that of the endpoint.
func (c *Checked) Events() []protocol.Event {
	events := c.events
	c.events = nil
	return events
}

// Deadline is that of the endpoint.
func (c *Checked) Deadline() core.Micros { return c.Endpoint.Deadline() }

// compare compares all that can be seen.
func (c *Checked) compare(now core.Micros) {
	e, m := c.Endpoint, c.model
	events := append([]protocol.Event(nil), e.Events()...)
	c.same("events", events, m.Events())
	c.events = append(c.events, events...)
	c.same("deadline", e.Deadline(), m.Deadline())
	c.same("mode, recovery, next", []any{e.Mode().String(), e.Recovery(), e.NextAt()}, []any{m.congestion.state, m.congestion.recovery, m.congestion.nextAt})
	c.same("estimates", e.Estimates(now), m.Estimates(now))
	c.same("samples", e.Samples(), m.Samples())
	stats := e.Stats()
	held := 0
	for _, p := range m.parts {
		held += p.bytes()
	}
	c.same("in reassembly", [2]int{stats.Incomplete, stats.IncompleteBytes}, [2]int{len(m.parts), held})
	var counts, modelCounts [len(allCodes)]int64
	for i, code := range allCodes {
		counts[i], modelCounts[i] = stats.Refused(code), m.refused[code]
	}
	c.same("refusals", counts, modelCounts)
}

var allCodes = [...]core.Code{
	protocol.CodeTruncated, protocol.CodeReservedBits, protocol.CodeNotMinimal, protocol.CodeEmptyPayload, protocol.CodeTooLarge,
	protocol.CodeTooManyFragments, protocol.CodeSingleFragment, protocol.CodeFragmentIDOutOfRange, protocol.CodeSequenceMismatch, protocol.CodeFragmentSize,
	protocol.CodeStale, protocol.CodeDuplicate, protocol.CodeDead, protocol.CodeRefused, protocol.CodeFragmentCount, protocol.CodeFragmentDuplicate,
	protocol.CodeReassemblyFull,
}
