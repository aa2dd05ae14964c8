package connection_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// game is what a match looks like: each end sends a position in each of 60 frames a second, and
// in every tenth a line of chat.
type game struct {
	*world
	size    int // of a position; 0: nothing is sent
	delays  [3][]core.Micros
	chunkAt core.Micros // how long a chunk took
}

// begins is when the mode is GOOD, what is measured begins, and the chunk.
const begins = 8 * second

// play runs a match until a second of it was measured, or a chunk was there.
func play(variant uint8, path netsim.Path, size, chunk int) *game {
	a, b := pairOf(session.CRC, with(plenty, variant), connection.Config{}, connection.Config{})
	g := &game{world: newWorld(path, 1, a, b), size: size}
	frame := 0
	var next func()
	next = func() {
		g.frame(frame)
		frame++
		g.At(core.Micros(frame)*second/60, next)
	}
	g.At(0, next)
	if chunk > 0 {
		g.At(begins, func() { check.Must(a.SendChunk(g.Now(), content(chunk, 1))) })
	}
	g.Run(begins+20*second, func() bool {
		g.read()
		return g.chunkAt > 0 || chunk == 0 && g.Now() > begins+second
	})
	return g
}

func (g *game) frame(n int) {
	if g.size == 0 {
		return
	}
	message := binary.LittleEndian.AppendUint64(make([]byte, 0, g.size), uint64(g.Now()))
	for _, c := range []*connection.Conn{g.a, g.b} {
		_ = c.Send(g.Now(), unreliable, message[:g.size], 0)
		if n%10 == 0 {
			_ = c.Send(g.Now(), ordered, message[:60:60], 0)
		}
	}
}

func (g *game) read() {
	for id := unreliable; id <= unordered; id++ {
		for m, ok := g.b.Read(g.Now(), id, nil); ok; m, ok = g.b.Read(g.Now(), id, nil) {
			if sent := core.Micros(binary.LittleEndian.Uint64(m.Data)); sent >= begins {
				g.delays[id] = append(g.delays[id], g.Now()-sent)
			}
		}
	}
	if _, ok := g.b.ReadChunk(g.Now(), nil); ok {
		g.chunkAt = g.Now() - begins
	}
}

// percentile returns a percentile of the delays of a channel.
func (g *game) percentile(id uint8, percent int) core.Micros {
	d := slices.Sorted(slices.Values(g.delays[id]))
	if len(d) == 0 {
		return -1
	}
	return d[min(len(d)-1, len(d)*percent/100)]
}

// Positions and a chunk share a path: neither waits long for the other (CXM-1, CXM-5). On a path of 1 Mbit/s the
// first flight of a chunk fills the queue; after it the target is half (ROOM-3). The chunk takes at most twice as long as alone.
func TestAGameWhileAChunkGoes(t *testing.T) {
	for name, variant := range variants {
		t.Run(name, func(t *testing.T) { gameWhileAChunkGoes(t, variant) })
	}
}

func gameWhileAChunkGoes(t *testing.T, variant uint8) {
	for name, path := range map[string]netsim.Path{
		"S1": {Rate: 100e6, Delay: 25 * time.Millisecond, Queue: 1 << 20, Overhead: 28},
		"S2": {Rate: 10e6, Delay: 25 * time.Millisecond, Queue: 256 << 10, Overhead: 28},
		"S3": {Rate: 1e6, Delay: 50 * time.Millisecond, Queue: 64 << 10, Overhead: 28},
		"S4": {Delay: 25 * time.Millisecond, Overhead: 28},
	} {
		for _, path.Loss = range []float64{0, 5} {
			chunk := play(variant, path, 0, codec.MaxChunkSize)
			for _, size := range []int{60, 300} {
				alone, with := play(variant, path, size, 0), play(variant, path, size, codec.MaxChunkSize)
				t.Logf("%s, %v %%, positions of %3d bytes: 95th percentile %6d us alone, %6d with a chunk; chat %6d, %6d; chunk %7d alone, %7d with the game", name, path.Loss, size,
					alone.percentile(unreliable, 95), with.percentile(unreliable, 95), alone.percentile(ordered, 95), with.percentile(ordered, 95), chunk.chunkAt, with.chunkAt)
				most := 25 * ms
				if name == "S3" {
					most = 120 * ms
				}
				check.That(t, with.chunkAt > 0 && with.chunkAt <= 2*chunk.chunkAt, name+": the chunk does not wait long for messages")
				check.That(t, with.percentile(unreliable, 95) <= alone.percentile(unreliable, 95)+most, name+": positions do not wait long for slices")
			}
		}
	}
}
