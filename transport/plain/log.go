package plain

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// endNames name why a connection ended, for a log: the first that matches.
var endNames = []struct {
	err    error
	name   string
	wanted bool
}{
	{ErrGaveUp, "gave_up", false},
	{ErrIdle, "idle", true},
	{ErrRefused, "refused", false},
	{ErrEvicted, "evicted", false},
	{ErrCanceled, "canceled", false},
	{ErrClosed, "closed", true},
}

// logStarted logs that the connection has begun.
func (c *Conn) logStarted(now core.Micros) {
	if c.log == nil {
		return
	}
	cfg := &c.endpoint.cfg
	e := eventlog.Event{
		Kind: eventlog.ConnectionStarted, At: now, Role: string(eventlog.Client), Remote: c.link.To.String(), Mode: "plain",
		Variant: "slices", Lanes: cfg.Lanes, ProtocolID: fmt.Sprintf("%016x", cfg.ProtocolID),
	}
	if c.begun {
		e.Role = string(eventlog.Server)
	}
	if cfg.Repair {
		e.Variant = "repair"
	}
	c.log(e)
}

// logEndLocked logs why a connection has ended.
func (e *Endpoint) logEndLocked(c *Conn, cause error) {
	if e.driver.Log == nil && c.log == nil {
		return
	}
	name, wanted := endName(cause)
	e.driver.Log.Ended(c.link.To, name, wanted, cause)
	if c.log != nil {
		c.log(eventlog.Event{Kind: eventlog.ConnectionEnded, At: e.driver.Now(), Why: name})
	}
}

// endName returns why a connection ended, and whether somebody wanted that.
func endName(err error) (name string, wanted bool) {
	for _, end := range endNames {
		if errors.Is(err, end.err) {
			return end.name, end.wanted
		}
	}
	return "other", false
}

// logUndecodableLocked logs a datagram that did not decode.
func (e *Endpoint) logUndecodableLocked(now core.Micros, invalid error, size int, from udp.Addr) {
	if e.driver.Log == nil && e.cfg.Log == nil {
		return
	}
	code, sentence := "other", ""
	if refusal := new(core.Error); errors.As(invalid, &refusal) {
		code, sentence = string(refusal.Code()), refusal.Rule()
	}
	e.driver.Log.Undecodable(from, code, e.stats.Undecodable)
	log := e.cfg.Log
	if c := e.conns[from.Key]; c != nil {
		log = c.log
	}
	if log == nil {
		return
	}
	if omitted, ok := e.refusals.Take(now, code, driver.SourceOf(from)); ok {
		log(eventlog.Event{Kind: eventlog.DatagramRefused, At: now, End: eventlog.Server, Code: code, Sentence: sentence, Bytes: size, Count: omitted})
	}
}
