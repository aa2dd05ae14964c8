package session_test

import (
	"crypto/rand"
	"fmt"

	"github.com/chunkwire/chunkwire/connection/session"
)

// Two ends in one process. The application gave the key to both.
func Example() {
	key := session.Key{ /* 32 bytes of crypto/rand */ }
	server, _ := session.NewServer(session.ServerConfig{
		Random: rand.Reader,
		Keys:   func(identity uint64) (session.Key, bool) { return key, identity == 42 },
	})
	client, _ := session.NewClient(0, session.ClientConfig{Random: rand.Reader, Identity: 42, Key: key})
	address := session.AddressOfText("192.0.2.1:40000") // where the client's datagrams come from

	var entry *session.Entry
	for client.State() == session.Linking {
		message, _ := client.Poll(0, nil)
		answer, event, err := server.Receive(0, address, message, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v of %d bytes, answer of %d: %v\n", session.Kind(message[0]), len(message), len(answer), event.Kind)
		if event.Kind == session.EventMade {
			entry = event.Entry
		}
		_ = client.Receive(0, answer)
	}

	datagram := client.Link().Seal(nil, []byte("hello"))
	from, err := server.Route(address, datagram)
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := from.Link().Open(nil, datagram)
	fmt.Printf("%s, with %d bytes around it, from identity %d: %v\n", body, len(datagram)-len(body), from.Identity(), server.Heard(0, entry).Kind)
	_, err = from.Link().Open(nil, datagram)
	fmt.Println(err)

	// Output:
	// LINK of 64 bytes, answer of 50: challenged
	// PROOF of 153 bytes, answer of 75: made
	// hello, with 25 bytes around it, from identity 42: confirmed
	// session: duplicate at byte 5: the counter came before
}
