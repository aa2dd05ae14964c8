package packet_test

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// Two ends in one process: a driver would carry the datagrams, and call Poll at Deadline.
func ExampleEndpoint() {
	client, _ := packet.NewEndpoint(packet.Config{})
	server, _ := packet.NewEndpoint(packet.Config{})
	above := func(d packet.Delivery) packet.Verdict {
		fmt.Printf("packet %d: %s\n", d.Number, d.Payload)
		return packet.Take
	}

	datagrams, number, _ := client.Send(0, []byte("jump"))
	fmt.Println("the client sends packet", number)
	for _, d := range datagrams {
		_ = server.Receive(30*core.Millisecond, d, above)
	}

	// The server has nothing to say, so after 20 ms only the ack goes back.
	ack, _ := server.Poll(server.Deadline())
	_ = client.Receive(80*core.Millisecond, ack, func(packet.Delivery) packet.Verdict { return packet.Take })
	for _, event := range client.Events() {
		fmt.Println("packet", event.Number, event.Kind)
	}
	fmt.Println("round trip", client.Estimates(80*core.Millisecond).SRTT.Duration())
	// Output:
	// the client sends packet 0
	// packet 0: jump
	// packet 0 acked
	// round trip 80ms
}

func ExampleFormat_Decode() {
	_, err := packet.Format{}.Decode([]byte{0x00, 0x64, 0x00, 0x63, 0x00, 'x'})
	fmt.Println(err)
	// Output: packet: not_minimal at byte 3: ack has two bytes where one is enough
}
