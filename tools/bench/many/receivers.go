//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
)

// beginAtOnce is how many receivers of a process say hello at the same time: a
// server holds 128 for its Accept.
const beginAtOnce = 16

// fetchAll plays receivers that fetch the world.
func fetchAll(t task) error {
	world := makeWorld()
	memory := sync.Pool{New: func() any { return new([codec.MaxChunkSize]byte) }}
	fetch := func(r *receiver) error {
		for range t.Rounds {
			if err := r.fetch(world, &memory); err != nil {
				return err
			}
		}
		for { // goes on answering: acks may have been lost
			if err := r.step(); err != nil {
				return err
			}
		}
	}
	return playAll(t, (*receiver).sayHello, fetch)
}

// sayHelloAll plays receivers that say hello and then nothing more, whatever
// comes; or, if there is something to upload, that send slices of a chunk and
// never the rest.
func sayHelloAll(t task) error {
	hello := (*receiver).sayHello
	if t.Upload > 0 {
		hello = func(r *receiver) error { return r.beginChunk(t.Upload) }
	}
	return playAll(t, hello, func(r *receiver) error {
		time.Sleep(2 * patience) // and keeps its port, so that no other gets it
		return r.conn.Close()
	})
}

// playAll makes receivers, a few at a time, lets each say hello, and then does
// the rest with all of them until the process is stopped.
func playAll(t task, hello, rest func(*receiver) error) error {
	gate := make(chan struct{}, beginAtOnce)
	for i := range t.Share {
		gate <- struct{}{}
		go func() {
			r, err := newReceiver(t, i)
			if err == nil {
				err = hello(r)
			}
			failIf(err)
			<-gate
			failIf(rest(r))
		}()
	}
	waitForStop()
	return nil
}

// discardAll plays receivers that read and do nothing else.
func discardAll(t task) error {
	for range t.Share {
		conn, err := connect(t.Server)
		if err != nil {
			return err
		}
		if err := knock(conn); err != nil {
			return err
		}
		go discard(conn)
	}
	waitForStop()
	return nil
}

// knock says hello until there is an answer.
func knock(conn *net.UDPConn) error {
	for {
		if _, err := conn.Write([]byte("hello")); err != nil {
			return err
		}
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			return err
		}
		_, err := conn.Read(make([]byte, 16))
		if err == nil {
			return conn.SetReadDeadline(time.Time{})
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}

func discard(conn *net.UDPConn) {
	var datagram [codec.MaxDatagramSize]byte
	for {
		_, err := conn.Read(datagram[:])
		failIf(err)
	}
}

// failIf ends the process: a receiver that does not work makes all figures wrong.
func failIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "many: receiver:", err)
		os.Exit(1)
	}
}
