package transport_test

import (
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/transport"
)

// Connections that have moved a chunk of the largest size each way, and rest, cost little at both ends together, with
// their sockets: what only a chunk in flight needs has gone back. (They cost 720 KB each, nearly all of it at the
// dialed end.) One that sends costs little beside the chunk, which is the application's.
func TestConnectionsAtRest(t *testing.T) {
	const (
		crowd    = 50
		mostRest = 33 << 10
		mostSend = mostRest + 20<<10
	)
	s := listen(t, transport.Config{MaxPerAddress: 2 * crowd, Timeout: time.Hour, RecvLimit: 1})
	connect(t, s, transport.Config{Timeout: time.Hour}) // with what a server has once
	before := check.Heap()
	each := func(what string, most int64) {
		got := int64(0)
		for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(10 * ms) { // the last acks may be under way
			if got = (check.Heap() - before) / crowd; got <= most {
				break
			}
		}
		t.Logf("%s: %d bytes a connection, both ends", what, got)
		if got > most {
			t.Errorf("want at most %d", most)
		}
	}
	var clients []*transport.Peer
	for range crowd {
		client, server := connect(t, s, transport.Config{Timeout: time.Hour})
		clients = append(clients, client)
		var both sync.WaitGroup
		for _, ends := range [][2]*transport.Peer{{client, server}, {server, client}} {
			both.Go(func() { check.Same(t, "Send", ends[0].Chunks().Send(background, worldChunk), nil) })
			both.Go(func() {
				_, err := ends[1].Chunks().RecvAppend(background, make([]byte, 0, len(worldChunk)))
				check.Same(t, "Recv", err, nil)
			})
		}
		both.Wait()
	}
	each("at rest", mostRest)
	for _, client := range clients {
		check.Must(client.Chunks().Enqueue(background, worldChunk)) // which the server does not take
	}
	for _, client := range clients {
		for client.Chunks().SenderStats().SlicesSent < 300 {
			time.Sleep(ms)
		}
	}
	each("sending", mostSend)
}
