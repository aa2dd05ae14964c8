package plain

import (
	"errors"

	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/wire"
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

// logEndLocked logs why a connection has ended.
func (e *Endpoint) logEndLocked(c *Conn) {
	if e.driver.Log == nil {
		return
	}
	for _, end := range endNames {
		if errors.Is(c.err, end.err) {
			e.driver.Log.Ended(c.peer, end.name, end.wanted, c.err)
			return
		}
	}
	e.driver.Log.Ended(c.peer, "other", false, c.err)
}

// logUndecodableLocked logs a datagram that did not decode.
func (e *Endpoint) logUndecodableLocked(now machine.Micros, invalid error, from udp.Peer) {
	if e.driver.Log == nil {
		return
	}
	code := "other"
	if refusal := new(wire.Error); errors.As(invalid, &refusal) {
		code = string(refusal.Code())
	}
	e.driver.Log.Undecodable(now, from, code, e.stats.Undecodable)
}
