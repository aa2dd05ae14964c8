package connection_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/session"
)

// Messages of all three kinds and a chunk of the largest size, both ways at once, over paths
// that lose, double and reorder: all that is reliable comes once and whole, in order where that
// is promised, and then the two ends are still (CXM-10).
func TestEverythingAtOnce(t *testing.T) {
	for _, path := range []netsim.Path{
		{},
		{Delay: 25 * time.Millisecond, Rate: 10_000_000, Queue: 256 << 10, Overhead: 28},
		{Delay: 25 * time.Millisecond, Loss: 5, Duplicate: 5, Reorder: 10, Jitter: 5 * time.Millisecond},
		{Delay: 40 * time.Millisecond, Loss: 30},
	} {
		for _, mode := range []session.Mode{session.CRC, session.MAC, session.AEAD} {
			t.Run(fmt.Sprintf("%v %v%%", mode, path.Loss), func(t *testing.T) { everythingAtOnce(t, path, mode) })
		}
	}
}

func everythingAtOnce(t *testing.T, path netsim.Path, mode session.Mode) {
	const messages = 200
	a, b := pairOf(mode, plenty, connection.Config{}, connection.Config{})
	w := newWorld(path, 1, a, b)
	ends := [2]*connection.Conn{a, b}
	for i := range messages {
		w.At(ms*10*1, func() {
			for _, c := range ends {
				for id := unreliable; id <= unordered; id++ {
					check.Same(t, "refusal", c.Send(w.Now(), id, fmt.Appendf(nil, "%d %d", id, i), 0), nil)
				}
			}
		})
	}
	var chunks [2][]byte
	for i, c := range ends {
		chunks[i] = content(codec.MaxChunkSize-100*i, uint64(i))
		check.Must(c.SendChunk(0, chunks[i]))
	}
	got := [2]map[string]int{{}, {}}
	next := [2]int{}
	var gotChunks [2][]byte
	look := func() bool {
		done := true
		for i, c := range ends {
			for id := unreliable; id <= unordered; id++ {
				for m := read(c, w.Now(), id); m != ""; m = read(c, w.Now(), id) {
					got[i][m]++
					if id == ordered {
						check.Equal(t, "ordered message", m, fmt.Sprintf("%d %d", ordered, next[i]))
						next[i]++
					}
				}
			}
			if chunk, ok := c.ReadChunk(w.Now(), nil); ok {
				gotChunks[1-i] = chunk
			}
			done = done && c.Delivered() && gotChunks[1-i] != nil && next[i] == messages
		}
		return done
	}
	check.That(t, w.Run(60*second, look), "all was delivered")
	for i := range ends {
		wantBytes(t, "chunk", gotChunks[i], chunks[i])
		for n := range messages {
			check.Equal(t, "deliveries", got[i][fmt.Sprintf("%d %d", unordered, n)], 1)
			check.That(t, got[i][fmt.Sprintf("%d %d", unreliable, n)] <= 1, "an unreliable message comes once at most")
		}
		if path.Loss == 0 {
			check.Equal(t, "messages", len(got[i]), 3*messages)
		}
		number, ok := ends[i].ChunkDone()
		check.That(t, ok && number == 0, "the chunk was delivered, and said so")
	}
	t.Logf("%v: %d us, %d and %d datagrams", mode, w.Now(), a.Stats().DatagramsSent, b.Stats().DatagramsSent)

	// What is left are keep-alives.
	w.Wait(2 * second)
	before := a.Stats().DatagramsSent
	w.Wait(10 * second)
	check.Equal(t, "datagrams in 10 s of silence", a.Stats().DatagramsSent-before, 8)
	check.Equal(t, "state", a.State(), connection.Open)

	check.Same(t, "error", a.Close(w.Now(), 300, "enough"), nil)
	w.Run(w.Now()+2*second, func() bool { return false })
	check.Equal(t, "state", a.State(), connection.Closed)
	check.Equal(t, "state", b.State(), connection.Closed)
	var closed *connection.ClosedError
	check.That(t, errors.As(b.Err(), &closed) && *closed == connection.ClosedError{Code: 300, Text: "enough", Remote: true}, "the other end heard why")
}
