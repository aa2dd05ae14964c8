package connection_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
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

// A connection begins with nothing sent and nothing known, and says so at once (K7, CXL-13).
func TestANewConnection(t *testing.T) {
	a, b := pair(connection.Config{})
	for _, c := range []*connection.Conn{a, b} {
		wantRow(t, c, "", connection.Open)
		check.Same(t, "error", c.Err(), nil)
		check.Same(t, "mode", c.Mode(), packet.Bad)
		check.That(t, c.Delivered() && c.Readable() == 0 && c.ChunkSize() == 0 && !c.Estimates(0).Measured, "nothing was sent, nothing came")
		check.Same(t, "deadline", c.Deadline(), 0)
		d, ok := c.Poll(0, []byte("before"))
		check.That(t, ok && string(d[:6]) == "before", "a pad goes, behind what was given")
		wantRow(t, c, "K7", connection.Open)
		_, ok = c.Poll(0, nil)
		check.That(t, !ok, "and nothing else")
		wantRow(t, c, "K8", connection.Open)
		check.Equal(t, "sent", c.Counts().DatagramsSent, 1)
		check.Equal(t, "bytes", c.Counts().BytesSent, int64(len(d)-6))
		check.Equal(t, "messages", c.SenderStats(ordered).Messages+c.ReceiverStats(ordered).Received, 0)
	}
}

// A configuration that is not allowed is refused, with what is wrong of which layer.
func TestConfig(t *testing.T) {
	client, _ := links(session.CRC, plenty)
	bad := map[string]connection.Config{
		"lanes":      {Terms: session.Terms{Lanes: 17}},
		"no lanes":   {Terms: session.Terms{Lanes: -2}},
		"tick":       {Tick: 4 * ms},
		"long tick":  {Tick: 101 * ms},
		"rate":       {MessageRate: 63_999},
		"high rate":  {MessageRate: 8_000_000_001},
		"packets":    {Packets: packet.Format{FragmentSize: 1161}},
		"channels":   {Channels: []channel.Config{{ID: 1}, {ID: 1}}},
		"slice rate": {Chunks: lanes.Config{MaxRate: 1}},
	}
	for name, cfg := range bad {
		_, err := connection.NewConn(cfg, client, connection.ClientSide, 0)
		check.That(t, errors.Is(err, core.ErrConfig), name)
		_, err = connection.NewClient(connection.ClientConfig{Config: cfg, Random: rand.NewChaCha8([32]byte{})}, 0)
		check.That(t, errors.Is(err, core.ErrConfig), name)
		_, err = connection.NewServer(connection.ServerConfig{Config: cfg, Anonymous: true, Random: rand.NewChaCha8([32]byte{})})
		check.That(t, errors.Is(err, core.ErrConfig), name)
	}
	_, err := connection.NewClient(connection.ClientConfig{}, 0)
	check.That(t, errors.Is(err, core.ErrConfig), "a client without randomness")
	_, err = connection.NewServer(connection.ServerConfig{Anonymous: true})
	check.That(t, errors.Is(err, core.ErrConfig), "a server without randomness")

	for _, lanes := range []int{connection.NoLanes, 0, 16} {
		cfg := check.Must(connection.Config{Terms: session.Terms{Lanes: lanes}, Channels: []channel.Config{}}.Complete())
		check.That(t, len(cfg.Channels) == 0 && cfg.Tick == 16_667 && cfg.MessageRate == 1_000_000, "the defaults")
	}
}

// What both ends must agree on above the session is summed up, whatever the order and what is
// left to its default (CXP-4).
func TestFormat(t *testing.T) {
	sum := func(cfg connection.Config) [8]byte { return check.Must(cfg.Complete()).Format }
	standard := sum(connection.Config{})
	same := connection.DefaultChannels()
	slices.Reverse(same)
	same[1].Format = channel.Format{Window: 1024, Data: 1024, Group: 64}
	same[2].Format.Window = 64 // of an unreliable channel: not used
	same[0].Priority, same[0].SendQueue = 200, 100
	check.Equal(t, "format", sum(connection.Config{Channels: same, Packets: packet.Format{FragmentSize: 1024}, Tick: 5 * ms}), standard)
	for i, change := range []func(*connection.Config){
		func(cfg *connection.Config) { cfg.Packets.FragmentSize = 1023 },
		func(cfg *connection.Config) { cfg.Packets.MaxFragments = 17 },
		func(cfg *connection.Config) { cfg.Channels = connection.DefaultChannels()[1:] },
		func(cfg *connection.Config) { cfg.Channels[0].ID = 9 },
		func(cfg *connection.Config) { cfg.Channels[1].Kind = channel.Unordered },
		func(cfg *connection.Config) { cfg.Channels[1].Window = 512 },
		func(cfg *connection.Config) { cfg.Channels[1].Data = 1023 },
		func(cfg *connection.Config) { cfg.Channels[1].Group = 63 },
	} {
		cfg := connection.Config{Channels: connection.DefaultChannels()}
		change(&cfg)
		check.That(t, sum(cfg) != standard, fmt.Sprint("change ", i, " is seen"))
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

// A link of 100 Mbit/s on which one datagram in 20 is late by 100 ms, which are a thousand others: each
// slice that arrives is taken, however late, and messages arrive (CXP-6, CXM-26, CXE-7).
func TestSlicesThatAreLate(t *testing.T) {
	for name, bit := range variants {
		agreed := with(plenty, bit)
		agreed.Lanes = 8
		a, b := pairOf(session.MAC, agreed, connection.Config{}, connection.Config{})
		path := netsim.Path{Delay: 5 * time.Millisecond, Rate: 100_000_000, Queue: 1 << 20, Reorder: 5, ReorderDelay: 100 * time.Millisecond}
		w := newWorld(path, 1, a, b)
		chunk, chunks, messages := make([]byte, codec.MaxChunkSize), 0, 0
		w.Run(4*second, func() bool {
			for err := error(nil); err == nil; {
				_, err = a.SendChunk(w.Now(), chunk)
			}
			if int(w.Now()/second) == messages {
				messages++
				check.Same(t, "a message", a.Send(w.Now(), ordered, []byte("m"), 0), nil)
			}
			for ok := true; ok; {
				if _, ok = b.ReadChunk(w.Now(), nil); ok {
					chunks++
				}
			}
			return a.Err() != nil
		})
		read := 0
		for ok := true; ok; {
			if _, ok = b.Read(w.Now(), ordered, nil); ok {
				read++
			}
		}
		st := b.Stats()
		t.Logf("%s: %d chunks, %.1f Mbit/s; %d datagrams, %d refused; %d of %d messages", name, chunks, float64(chunks*codec.MaxChunkSize)*8/4e6, st.DatagramsReceived, st.Refused, read, messages)
		check.That(t, a.Err() == nil, "nobody lies")
		check.That(t, st.DatagramsReceived > 10_000 && st.Refused <= int64(messages), "each datagram is taken, but for late ones with a message")
		check.That(t, read >= messages-1, "messages arrive")
	}
}

// Two connections are the same that live through the same, though one is asked at each step for what it
// knows, and for its deadline (CXM-27, E9).
func TestAskingChangesNothing(t *testing.T) {
	for name, bit := range variants {
		live := func(ask func(c *connection.Conn, now core.Micros)) (sent [2][][]byte) {
			a, b := pairOf(session.MAC, with(plenty, bit), connection.Config{}, connection.Config{})
			path := netsim.Path{Delay: 10 * time.Millisecond, Rate: 5_000_000, Queue: 16 << 10, Loss: 3, Reorder: 3}
			w := newWorld(path, 1, a, b)
			for range 6 {
				check.Must(a.SendChunk(0, make([]byte, 100_000)))
			}
			w.Run(3*second, func() bool {
				for i, c := range []*connection.Conn{a, b} {
					ask(c, w.Now())
					if id := uint8(i); w.Now()%(7*ms) == 0 {
						_ = c.Send(w.Now(), ordered+id, []byte("m"), 0)
					}
					c.ReadChunk(w.Now(), nil)
				}
				return false
			})
			st := [2]connection.Stats{a.Stats(), b.Stats()}
			return [2][][]byte{{fmt.Append(nil, st[0], a.Estimates(w.Now()))}, {fmt.Append(nil, st[1], b.Estimates(w.Now()))}}
		}
		asked := live(func(c *connection.Conn, now core.Micros) {
			for range 3 {
				c.Deadline()
			}
			c.Stats()
			c.Mode()
			c.Readable()
			c.Delivered()
			c.ChunkSize()
			c.ECT()
			c.Failed()
		})
		check.Equal(t, name, asked, live(func(*connection.Conn, core.Micros) {}))
	}
}
