//go:build linux

package main

import (
	"context"
	"runtime"
	"time"

	"github.com/chunkwire/chunkwire/transport/plain"
)

// memory is heap in use, in bytes.
type memory struct {
	Empty     int64 // the endpoint without connections
	Connected int64 // idle, or what has begun to arrive
	Sending   int64 // a chunk in flight to each
}

// hold measures memory with peers that fall silent after they have connected,
// first idle, then while it sends the world to all of them.
func hold(t task) error {
	e, err := plain.Listen("udp4", "127.0.0.1:0", config(t))
	if err != nil {
		return err
	}
	defer e.Close()
	world := makeWorld()
	m := memory{Empty: heapInUse()}
	if err := report(greeting{e.Addr().String()}); err != nil {
		return err
	}
	conns := make([]*plain.Conn, t.Conns)
	for i := range conns {
		if conns[i], err = e.Accept(context.Background()); err != nil {
			return err
		}
	}
	waitUntil(conns, func(s plain.Stats) bool { return s.Receiver.SlicesStored >= int64(max(t.Upload, 1)) })
	if t.Upload == 0 {
		for _, c := range conns {
			if _, err := c.Recv(context.Background()); err != nil {
				return err
			}
		}
	}
	m.Connected = heapInUse()
	for _, c := range conns {
		if _, err := c.Enqueue(context.Background(), world); err != nil {
			return err
		}
	}
	waitUntil(conns, func(s plain.Stats) bool { return s.Sending.Sent > 0 })
	m.Sending = heapInUse()
	runtime.KeepAlive(world)
	if err := report(m); err != nil {
		return err
	}
	waitForStop()
	return nil
}

func waitUntil(conns []*plain.Conn, is func(plain.Stats) bool) {
	for _, c := range conns {
		for !is(c.Stats()) {
			time.Sleep(time.Millisecond)
		}
	}
}

// heapInUse returns the bytes of heap spans in use and of stacks.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
