package connection_test

import (
	"runtime"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// bytesEach returns how many bytes each of n connections has, of which the other ends are not
// counted: they are made and run by live, and dropped.
func bytesEach(n int, variant uint8, live func(a, b *connection.Conn)) int64 {
	memory := new(connection.Memory)
	kept := make([]*connection.Conn, n)
	make := func() *connection.Conn {
		client, server := links(session.CRC, session.Agreed{Lanes: 1, Variant: variant, Timeout: 10 * second})
		cfg := connection.Config{Memory: memory}
		a := check.Must(connection.NewConn(cfg, client, connection.ClientSide, 0))
		live(a, check.Must(connection.NewConn(cfg, server, connection.ServerSide, 0)))
		return a
	}
	make() // the shared memory has its size
	before := check.Heap()
	for i := range kept {
		kept[i] = make()
	}
	each := (check.Heap() - before) / int64(n)
	runtime.KeepAlive(kept)
	return each
}

// talk exchanges messages and a chunk, and then both ends are idle for a time.
func talk(t testing.TB, a, b *connection.Conn, messages, chunk int) {
	at := core.Micros(0)
	for range messages {
		for id := unreliable; id <= unordered; id++ {
			check.Same(t, "refusal", a.Send(at, id, content(100, 1), 0), nil)
		}
		at += 20 * ms
		exchange(a, b, at)
		for id := unreliable; id <= unordered; id++ {
			read(b, at, id)
		}
	}
	if chunk > 0 {
		check.Must(a.SendChunk(at, content(chunk, 1)))
		for b.ChunkSize() == 0 {
			at += ms
			exchange(a, b, at)
		}
		b.ReadChunk(at, nil)
	}
	for range 20 {
		at += second
		exchange(a, b, at)
	}
}

// What a connection costs that has nothing to do.
func TestMemoryOfAnIdleConnection(t *testing.T) {
	for _, c := range []struct {
		name string
		most int64
		live func(a, b *connection.Conn)
	}{
		{"new", 8480, func(a, b *connection.Conn) {}},
		{"after the handshake", 9216, func(a, b *connection.Conn) { talk(t, a, b, 0, 0) }},
		{"after messages", 16384, func(a, b *connection.Conn) { talk(t, a, b, 100, 0) }},
		{"after a chunk that was sent", 16384, func(a, b *connection.Conn) { talk(t, a, b, 0, codec.MaxChunkSize) }},
		{"after a chunk that was received", 16384, func(a, b *connection.Conn) { talk(t, b, a, 0, codec.MaxChunkSize) }},
	} {
		for variant, bit := range variants {
			each := bytesEach(200, bit, c.live)
			t.Logf("%s, %s: %d bytes", c.name, variant, each)
			if each > c.most {
				t.Errorf("%s, %s: %d bytes, more than %d", c.name, variant, each, c.most)
			}
		}
	}
}
