package channel_test

import (
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// node is one end of a connection: its packets, and the channels in them.
type node struct {
	*packet.Endpoint
	*channel.Mux
}

func newNode() *node {
	e, _ := packet.NewEndpoint(packet.Config{})
	m, _ := channel.NewMux(channel.MuxConfig{Channels: []channel.Config{
		{ID: 0, Kind: channel.Ordered}, {ID: 1, Kind: channel.Unreliable},
	}})
	return &node{e, m}
}

// send returns the datagrams of all that is due: a driver does so at its tick, and at Prompt.
func (n *node) send(now core.Micros) (datagrams [][]byte) {
	for {
		payload, quiet := n.Compose(nil, now, n.Next(), channel.LargestPayload)
		if len(payload) == 0 {
			return datagrams
		}
		send := n.Endpoint.Send
		if quiet {
			send = n.SendQuiet
		}
		out, _, _ := send(now, payload)
		for _, d := range out {
			datagrams = append(datagrams, append([]byte(nil), d...))
		}
	}
}

// receive takes a datagram.
func (n *node) receive(now core.Micros, datagram []byte) {
	_ = n.Receive(now, datagram, func(d packet.Delivery) packet.Verdict {
		switch quiet, err := n.Handle(now, d.Number, d.Ack, d.Payload); {
		case err != nil:
			return packet.Refuse
		case quiet:
			return packet.TakeQuietly
		}
		return packet.Take
	})
	path := n.Estimates(now)
	n.SetPath(channel.Path{Measured: path.Measured, SRTT: path.SRTT, Patience: path.Patience})
}

// Two ends in one process. The second packet is lost; its message comes again when the server
// has reported what is missing.
func ExampleMux() {
	client, server := newNode(), newNode()
	for i, text := range []string{"one", "two", "three", "four"} {
		now := core.Micros(i) * 10 * core.Millisecond
		_ = client.Mux.Send(now, 0, []byte(text), 0)
		_ = client.Mux.Send(now, 1, []byte("position"), 0)
		for _, d := range client.send(now) {
			if text != "two" {
				server.receive(now+30*core.Millisecond, d)
			}
		}
	}
	for now := 60 * core.Millisecond; now < core.Second; now += 10 * core.Millisecond {
		for _, d := range server.send(now) {
			client.receive(now, d)
		}
		for _, d := range client.send(now) {
			fmt.Println("the client sends again after", now.Duration())
			server.receive(now, d)
		}
	}
	for {
		m, ok := server.Read(core.Second, 0, nil)
		if !ok {
			break
		}
		fmt.Printf("%d: %s\n", m.Sequence, m.Data)
	}
	m, _ := server.Read(core.Second, 1, nil)
	fmt.Printf("packet %d: %s\n", m.Sequence, m.Data)
	// Output:
	// the client sends again after 60ms
	// 0: one
	// 1: two
	// 2: three
	// 3: four
	// packet 0: position
}

func ExampleFormat_Decode() {
	var r channel.Record
	_, err := channel.Format{}.Decode([]byte{5, 0, 100, 0, 0, 2, 1, 101, 0, 0, 0, 0, 0}, 0, &r)
	fmt.Println(err)
	// Output: channel: group_base at byte 7: the lowest sequence that is named is not base
}
