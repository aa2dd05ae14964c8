package connection_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// many is of how many clients a server hears at once.
const many = 40

// anonymous and keyed are clients without and with an identity.
var (
	anonymous = func(int) connection.ClientConfig { return connection.ClientConfig{} }
	keyed     = func(i int) connection.ClientConfig { return withKey(uint64(i+1), connection.Config{}) }
)

// crowd links many clients to a server that takes both.
func crowd(t *testing.T, client func(i int) connection.ClientConfig) *network {
	t.Helper()
	cfg := known(connection.Config{})
	if client(0).Identity == 0 {
		cfg = anyone
	}
	n := newNetwork(t, 1, many, cfg)
	for i := range many {
		n.open(i, client(i))
	}
	return n
}

// atOnce lets each client complete a chunk of which it has sent nothing but repair slices, all at
// one time. It returns how many are then complete, and how long that took the server, in real time.
func atOnce(t *testing.T, client func(i int) connection.ClientConfig) (complete int, took time.Duration) {
	t.Helper()
	n := crowd(t, client)
	chunk := erasure.Encode(content(codec.MaxChunkSize, 1))
	var last []letter
	for _, c := range n.clients {
		p := pen{c.Conn().Link(), check.Must(packet.NewEndpoint(packet.Config{NextToSend: 1000}))}
		c.Client = nil // what it would say is over
		for i := range codec.MaxSlices {
			id := codec.MaxSlices + i
			payload := check.Must(connection.Format{Lanes: 1, Repair: true}.Append(nil, &connection.Record{Type: connection.TypeSlice, Slice: codec.Slice{SliceID: id, NumSlices: codec.MaxSlices, LastBytes: codec.SliceSize, Data: chunk.Slice(id)}}))
			l := letter{c.at, serverAddress, p.write(payload...)}
			if i == codec.MaxSlices-1 {
				last = append(last, l)
				continue
			}
			n.server.Handle(n.Now(), l)
		}
		n.Wait(33 * ms) // in which there is time to store them
	}
	start := time.Now()
	for _, l := range last {
		n.server.Handle(n.Now(), l)
	}
	took = time.Since(start)
	for _, p := range n.server.accepted {
		if p.ChunkSize() > 0 {
			complete++
		}
	}
	return complete, took
}

// Clients without an identity that complete their chunks at one time take no more of the server's
// time than for four of them; of those that have proven who they are all count (RPH-3).
func TestUnprovenClientsCompleteAtOnce(t *testing.T) {
	complete, took := atOnce(t, anonymous)
	proven, tookProven := atOnce(t, keyed)
	t.Logf("of %d without an identity %d are complete, after %v; of those with one %d, after %v", many, complete, took, proven, tookProven)
	check.Equal(t, "complete without an identity", complete, 4)
	check.Equal(t, "complete with one", proven, many)
}

// Clients without an identity that all send a chunk at once, through heavy loss, are done when
// those are that have one, or a little later (RPH-3).
func TestHonestClientsAreNotStarved(t *testing.T) {
	for _, c := range []struct {
		loss int
		most core.Micros // that the last one comes later
	}{{0, 0}, {20, 0}, {50, 600 * ms}} {
		var done [2]core.Micros
		deferred := int64(0)
		for i, client := range []func(int) connection.ClientConfig{keyed, anonymous} {
			n := crowd(t, client)
			n.loss = c.loss
			began := n.Now()
			for _, c := range n.clients {
				check.Must(c.Conn().SendChunk(began, make([]byte, codec.MaxChunkSize)))
			}
			left := map[*connection.ServerConn]bool{}
			for _, p := range n.server.accepted {
				left[p] = true
			}
			n.until("all chunks are there", 60*second, func() bool {
				for p := range left {
					if _, ok := p.ReadChunk(n.Now(), nil); ok {
						delete(left, p)
						deferred += p.Stats().Chunks.Deferred
					}
				}
				return len(left) == 0
			})
			done[i] = n.Now() - began
		}
		t.Logf("%d %% loss: the last of %d after %v with an identity, %v without, %d slices left out", c.loss, many, done[0].Duration(), done[1].Duration(), deferred)
		check.That(t, done[1] <= done[0]+c.most, "they are not starved")
	}
}
