package plain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/transport/plain"
)

// A server that answers each chunk, and a client.
func Example() {
	ctx := context.Background()
	cfg := plain.Config{ProtocolID: 0x11223344}

	server, err := plain.Listen("udp", "127.0.0.1:0", cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	go func() {
		c, err := server.Accept(ctx)
		if err != nil {
			return
		}
		for {
			chunk, err := c.Recv(ctx)
			if err != nil {
				return
			}
			c.Send(ctx, bytes.ToUpper(chunk))
		}
	}()

	c, err := plain.Dial(ctx, "udp", server.Addr().String(), cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println(c.Send(ctx, []byte("a chunk of up to 256 KiB")))
	answer, err := c.Recv(ctx)
	fmt.Printf("%s %v\n", answer, err)
	// Output:
	// <nil>
	// A CHUNK OF UP TO 256 KIB <nil>
}

// A server that sends first. It does not know of a client before the client's
// first chunk, so one that only waits must send one to join.
func Example_push() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := plain.Listen("udp", "127.0.0.1:0", plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	go func() {
		c, err := server.Accept(ctx)
		if err != nil {
			return
		}
		if _, err := c.Recv(ctx); err != nil { // the join
			return
		}
		c.Send(ctx, make([]byte, 200_000))
	}()

	c, err := plain.Dial(ctx, "udp", server.Addr().String(), plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println(c.Send(ctx, []byte{1})) // any byte will do
	level, err := c.Recv(ctx)
	fmt.Println(len(level), err)
	// Output:
	// <nil>
	// 200000 <nil>
}

// Several chunks in line, without waiting for each.
func ExampleConn_Enqueue() {
	ctx := context.Background()
	server, err := plain.Listen("udp", "127.0.0.1:0", plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	c, err := plain.Dial(ctx, "udp", server.Addr().String(), plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	c.Enqueue(ctx, []byte("first"))
	c.Enqueue(ctx, []byte("second"))
	last, _ := c.Enqueue(ctx, []byte("third"))
	fmt.Println(last.Wait(ctx))

	c.Close()
	_, err = c.Enqueue(ctx, []byte("too late"))
	fmt.Println(errors.Is(err, plain.ErrClosed))
	// Output:
	// <nil>
	// true
}

// A connection over what is connected already, and moves datagrams: here a pipe, in
// earnest a DTLS association or the datagrams of a QUIC connection.
func ExampleOver() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	here, there := net.Pipe()
	a, err := plain.Over(here, plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	b, err := plain.Over(there, plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()

	sent := make(chan error, 1)
	go func() { sent <- a.Send(ctx, make([]byte, 100_000)) }()
	chunk, err := b.Recv(ctx)
	fmt.Println(len(chunk), err, <-sent)
	// Output:
	// 100000 <nil> <nil>
}

// A chunk that is sent in the background: to stop waiting for it leaves it alone,
// to cancel it is another call.
func ExampleDelivery() {
	server, err := plain.Listen("udp", "127.0.0.1:0", plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	c, err := plain.Dial(context.Background(), "udp", server.Addr().String(), plain.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	d, err := c.Enqueue(context.Background(), make([]byte, 200_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		frame, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		err = d.Wait(frame)
		cancel()
		if !errors.Is(err, plain.ErrCanceled) {
			break
		}
		// not yet: the game draws a frame
	}
	fmt.Println(err)
	// Output:
	// <nil>
}
