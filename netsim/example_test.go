package netsim_test

import (
	"fmt"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// A link in virtual time: a burst meets a bottleneck with a short queue.
func ExampleLink() {
	link, _ := netsim.NewLink(netsim.Path{
		Delay:    20 * time.Millisecond,
		Rate:     10_000_000, // bits per second
		Queue:    4000,       // bytes
		Overhead: 28,         // IPv4 and UDP
	}, 1)
	for i := range 5 {
		arrivals := link.Send(0, 1222)
		if arrivals.Len() == 0 {
			fmt.Println(i, "dropped")
			continue
		}
		fmt.Println(i, arrivals.At(0))
	}
	// Output:
	// 0 21ms
	// 1 22ms
	// 2 23ms
	// 3 dropped
	// 4 dropped
}

// An outage that ends.
func ExampleLink_SetPath() {
	good := netsim.Path{Delay: 20 * time.Millisecond}
	link, _ := netsim.NewLink(good, 1)
	link.SetPath(netsim.Path{Loss: 100})
	fmt.Println(link.Send(1*time.Second, 100).Len())
	link.SetPath(good)
	fmt.Println(link.Send(2*time.Second, 100).At(0))
	fmt.Printf("%+v\n", link.Stats())
	// Output:
	// 0
	// 2.02s
	// {Sent:2 SentBytes:200 Delivered:1 LostPolicer:0 LostQueue:0 LostOutage:0 LostRandom:1 Duplicated:0 Reordered:0 Marked:0 Corrupted:0}
}

// Two endpoints in memory. In a test, do the same inside synctest.Test, and the
// delay takes no real time.
func ExampleNetwork_Listen() {
	network := netsim.NewNetwork(1)
	network.SetDefault(netsim.Path{Delay: time.Millisecond})
	a, _ := network.Listen("a")
	b, _ := network.Listen("b")
	defer a.Close()
	defer b.Close()

	a.WriteTo([]byte("hello"), b.LocalAddr())
	buf := make([]byte, 1500)
	n, from, _ := b.ReadFrom(buf)
	fmt.Printf("%s from %v\n", buf[:n], from)
	// Output: hello from a
}

// Three endpoints, one of them behind a path that makes two of everything.
func ExampleNetwork() {
	network := netsim.NewNetwork(1)
	network.SetPath("far", "server", netsim.Path{Duplicate: 100})
	server, _ := network.Listen("server")
	near, _ := network.Listen("near")
	far, _ := network.Listen("far")
	for _, c := range []*netsim.Conn{server, near, far} {
		defer c.Close()
	}

	near.WriteTo([]byte("hello"), netsim.Addr("server"))
	far.WriteTo([]byte("hello"), netsim.Addr("server"))
	for range 3 {
		_, from, _ := server.ReadFrom(make([]byte, 1500))
		fmt.Println(from)
	}
	fmt.Println(network.Stats("far", "server").Duplicated, "duplicated")
	// Output:
	// near
	// far
	// far
	// 1 duplicated
}

// A relay before a real server. Clients send to the address of Listen.
func ExampleRelay() {
	socket := func() (net.PacketConn, error) { return net.ListenPacket("udp", "127.0.0.1:0") }
	server, _ := socket()
	defer server.Close()
	listen, err := socket()
	if err != nil {
		fmt.Println(err)
		return
	}
	relay, err := netsim.NewRelay(netsim.RelayConfig{
		Listen: listen,
		Server: server.LocalAddr(),
		Dial:   socket,
		Up:     netsim.Path{Delay: 40 * time.Millisecond, Loss: 1},
		Down:   netsim.Path{Delay: 40 * time.Millisecond},
		Seed:   1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer relay.Close()
	up, down := relay.Stats()
	fmt.Println(up.Sent, down.Sent)
	// Output: 0 0
}
