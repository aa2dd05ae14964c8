package channelsim

import (
	"bytes"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// Host is all channels of one end over an endpoint of the packet layer, as a driver runs the
// two (section 7). What waits to be sent for the first time goes at the ticks of the
// application, all else when it is due.
type Host struct {
	Mux      *protocol.Mux
	Endpoint *packet.Endpoint

	Hooks

	tick    core.Micros // from one tick to the next
	tickAt  core.Micros // when new data may go
	ticking bool        // it goes now, in as many packets as it takes
	payload []byte
	out     [][]byte // datagrams that were made and not yet polled
}

// Hooks are called by a Host, unless they are nil.
type Hooks struct {
	Composed func(now core.Micros, number core.Number, payload []byte) // a payload that is sent
	Arrived  func(now core.Micros)                                     // the application may read
}

// NewHost returns a host of new machines, which ticks at the multiples of a time.
func NewHost(channels protocol.MuxConfig, packets packet.Config, tick core.Micros) (*Host, error) {
	mux, err := protocol.NewMux(channels)
	if err != nil {
		return nil, err
	}
	endpoint, err := packet.NewEndpoint(packets)
	if err != nil {
		return nil, err
	}
	return &Host{Mux: mux, Endpoint: endpoint, tick: tick}, nil
}

// Handle takes a datagram that arrived.
func (h *Host) Handle(now core.Micros, datagram []byte) {
	err := h.Endpoint.Receive(now, datagram, func(d packet.Delivery) packet.Verdict {
		quiet, err := h.Mux.Handle(now, d.Number, d.Ack, d.Payload)
		switch {
		case err != nil:
			return packet.Refuse
		case quiet:
			return packet.TakeQuietly
		}
		return packet.Take
	})
	h.learn(now)
	if err == nil && h.Arrived != nil {
		h.Arrived(now)
	}
}

// learn gives the channels what the packet layer knows of the path (CHP-3).
func (h *Host) learn(now core.Micros) {
	h.Endpoint.Events()
	known := h.Endpoint.Estimates(now)
	h.Mux.SetPath(protocol.Path{Measured: known.Measured, SRTT: known.SRTT, Patience: known.Patience})
}

// Poll returns a datagram to send: one of a payload, or else an ack-only packet.
func (h *Host) Poll(now core.Micros) ([]byte, bool) {
	if len(h.out) == 0 {
		h.compose(now)
	}
	if len(h.out) > 0 {
		datagram := h.out[0]
		h.out = h.out[1:]
		return datagram, true
	}
	datagram, ok := h.Endpoint.Poll(now)
	return bytes.Clone(datagram), ok
}

// compose makes the datagrams of one payload, if there is something to send (CHC-5).
func (h *Host) compose(now core.Micros) {
	pending := h.Mux.Pending()
	if pending && now >= h.tickAt {
		h.ticking, h.tickAt = true, (now/h.tick+1)*h.tick
	}
	if !h.ticking && now < h.Mux.Prompt() {
		return
	}
	h.learn(now)
	number := h.Endpoint.Next()
	var quiet bool
	h.payload, quiet = h.Mux.Compose(h.payload[:0], now, number, protocol.LargestPayload)
	if len(h.payload) == 0 {
		h.ticking = false
		return
	}
	if h.Composed != nil {
		h.Composed(now, number, h.payload)
	}
	send := h.Endpoint.Send
	if quiet {
		send = h.Endpoint.SendQuiet
	}
	datagrams, _, err := send(now, h.payload)
	if err != nil {
		panic(err) // a payload of records is neither empty nor too large
	}
	for _, d := range datagrams {
		h.out = append(h.out, bytes.Clone(d))
	}
}

// Deadline returns when Poll has something to do next.
func (h *Host) Deadline() core.Micros {
	at := h.Mux.Prompt()
	switch {
	case h.ticking:
		at = 0
	case h.Mux.Pending():
		at = min(at, h.tickAt)
	}
	return min(at, h.Endpoint.Deadline())
}
