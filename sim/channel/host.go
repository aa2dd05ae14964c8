package channel

import (
	"bytes"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/seq"
)

// Host is all channels of one end over an endpoint of the packet layer, as a driver runs the
// two (section 7). What waits to be sent for the first time goes at the ticks of the
// application, all else when it is due.
type Host struct {
	Mux      *protocol.Mux
	Endpoint *packet.Endpoint

	// Sent and Arrived, unless they are nil, are told of each payload of records that goes out,
	// and that was taken, with the number of its packet. Arrived is the application's chance
	// to read.
	Sent    func(now machine.Micros, number seq.Number, payload []byte)
	Arrived func(now machine.Micros, number seq.Number)

	tick    machine.Micros // from one tick to the next
	tickAt  machine.Micros // when new data may go
	ticking bool           // it goes now, in as many packets as it takes
	payload []byte
	out     [][]byte // datagrams that were made and not yet polled
}

// NewHost returns a host of new machines, which ticks at the multiples of a time.
func NewHost(channels protocol.MuxConfig, packets packet.Config, tick machine.Micros) (*Host, error) {
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
func (h *Host) Handle(now machine.Micros, datagram []byte) {
	taken := seq.None
	_ = h.Endpoint.Receive(now, datagram, func(d packet.Delivery) packet.Verdict {
		quiet, err := h.Mux.Handle(now, d.Number, d.Ack, d.Payload)
		if err != nil {
			return packet.Refuse
		}
		taken = d.Number
		if quiet {
			return packet.TakeQuietly
		}
		return packet.Take
	})
	h.learn(now)
	if taken != seq.None && h.Arrived != nil {
		h.Arrived(now, taken)
	}
}

// learn gives the channels what the packet layer knows of the path (CHP-3).
func (h *Host) learn(now machine.Micros) {
	h.Endpoint.Events()
	known := h.Endpoint.Estimates(now)
	h.Mux.SetPath(protocol.Path{Measured: known.Measured, SRTT: known.SRTT, Patience: known.Patience})
}

// Poll returns a datagram to send: one of a payload, or else an ack-only packet.
func (h *Host) Poll(now machine.Micros) ([]byte, bool) {
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
func (h *Host) compose(now machine.Micros) {
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
	if h.Sent != nil {
		h.Sent(now, number, h.payload)
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
func (h *Host) Deadline() machine.Micros {
	at := min(h.Mux.Prompt(), h.Endpoint.Deadline())
	if h.Mux.Pending() {
		at = min(at, h.tickAt)
	}
	return at
}
