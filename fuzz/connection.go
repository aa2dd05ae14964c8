package fuzz

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/sim/connectionsim"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Both ends of a connection, each beside its oracle, over a network that keeps everything that was ever
// sent. At last the network is good, and each service delivers what it promises.
//
// An input is a byte for how the two are set up, and the events of a conform.Talk.
var targetConnection = newTarget("Connection", "both ends of a connection are their oracles, and each service delivers as it promises, whatever comes", runConnection, seedConnections)

// connected is both ends of a connection that talk.
type connected struct {
	conform.Talk
	channels []connections.Channel
	marked   map[conform.Bytes]bool // datagrams that were sent with ECT(0)
	judge    deliveries
}

// channelsOf are the channels of a connection: the usual ones; some of one priority, which take turns,
// among others; and windows, messages and groups that are small.
var channelsOf = [][]connections.Channel{
	connections.Usual().Channels,
	{reliable(0, "ordered", 64, 1024, 16, 1), {ID: 1, Kind: "unreliable"}, reliable(2, "unordered", 32, 1024, 4, 1), reliable(3, "ordered", 128, 100, 32, 2)},
	{reliable(0, "unordered", 32, 40, 64, 0), reliable(1, "ordered", 32, 4, 4, 0), reliable(2, "ordered", 32, 40, 2, 0), {ID: 3, Kind: "unreliable"}},
	{reliable(0, "ordered", 32, 1, 32, 0), {ID: 1, Kind: "latest", Priority: 1}, {ID: 2, Kind: "unreliable", Priority: 1}, reliable(3, "unordered", 32, 200, 2, 1)},
}

// reliable is a channel that keeps little, and gives up soon.
func reliable(id int64, kind string, window, data, group, priority int64) connections.Channel {
	some := conform.Some[int64]
	return connections.Channel{ID: id, Kind: kind, Window: some(window), Data: some(data), Group: some(group), SendQueue: some(40), GiveUp: some(10_000_000), Priority: priority}
}

// newConnected returns new ends, whose machines a function makes. Of the first byte of an input bit 0 and
// bit 5 are the mode, bits 1 and 2 the lanes, bit 3 the variant, bit 4 whether there are marks, and bits 6
// and 7 the channels.
func newConnected(setup byte, machine func(op *conform.Op, config any) conform.Oracle) *connected {
	cfg := connections.Usual()
	cfg.Mode, cfg.Lanes, cfg.Extensions = []string{"crc", "mac", "aead", "aead"}[setup&1|setup>>4&2], int64(setup>>1&3), int64(setup>>4&1)
	cfg.Channels = channelsOf[setup>>6]
	if setup>>3&1 == 1 {
		cfg.Variant, cfg.Profile = 2, connections.Profile{Rule: conform.Some(connections.Rule{})}
	}
	h := &connected{channels: cfg.Channels, marked: map[conform.Bytes]bool{}}
	for _, side := range []string{connections.Client, connections.Server} {
		cfg := cfg.Sided(side, firstByte(32, 1), firstByte(32, 2))
		h.Ends = append(h.Ends, &conform.End{
			Name: side, Op: connections.Op, Config: cfg, Machine: machine(connections.Op, cfg), Poll: connections.Poll{},
			Sent: h.sent, Arrives: h.arrives,
		})
	}
	return h
}

// sent notes which datagrams are to be sent with ECT(0).
func (h *connected) sent(s conform.Step) []conform.Bytes {
	step := s.(connections.Step)
	for i, b := range step.Datagrams {
		h.marked[b] = step.ECN.Is && step.ECN.V.ECT[i]
	}
	return step.Datagrams
}

func (h *connected) arrives(b conform.Bytes) conform.Event {
	if h.marked[b] {
		return connections.Receive{Hex: b, ECN: "ect0"}
	}
	return connections.Receive{Hex: b}
}

func runConnection(t T, data []byte) {
	s := script{data}
	h := newConnected(s.byte(), func(op *conform.Op, config any) conform.Oracle { return op.Pair(t, config) })
	h.judge.talk, h.judge.Judge = &h.Talk, connectionsim.NewJudge(connections.ProductChannels(h.channels))
	for i, end := range h.Ends {
		end.Machine.(*conform.Pair).Judges = []conform.Judge{delivery{&h.judge, connectionsim.Side(i)}}
	}
	h.finish(t, h.Play(&conform.Input{Left: s.left}, 300))
}

// deliveries judges what both ends deliver. Once an end has got what the other one did not send, anything
// may be there.
type deliveries struct {
	*connectionsim.Judge
	talk *conform.Talk
	lies bool
}

// delivery sees one end.
type delivery struct {
	*deliveries
	end connectionsim.Side
}

// theLink is the connection, of which there is one.
const theLink = 1

func (d delivery) Saw(_ int64, e conform.Event, s conform.Step) error {
	step, from := s.(connections.Step), 1-d.end
	if e, is := e.(connections.Receive); is && !step.Refused.Is && !slices.Contains(d.talk.Ends[from].Went, e.Hex) {
		d.lies = true
	}
	if d.lies || step.Refused.Is {
		return nil
	}
	switch e := e.(type) {
	case connections.Send:
		d.Sent(theLink, d.end, uint8(e.Channel), []byte(e.Data), e.Lifetime.Is)
	case connections.SendChunk: // whose content its size stands for
		d.SentChunk(theLink, d.end, fmt.Append(nil, e.Size))
	case connections.Read:
		if m := step.Read.V; step.Read.Is {
			return d.Read(theLink, from, uint8(e.Channel), channel.Message{Sequence: core.Number(m.Sequence), Data: []byte(m.Data.V), Skipped: m.Skipped})
		}
	case connections.ReadChunk:
		if step.Chunk.Is {
			return d.ReadChunk(theLink, from, fmt.Append(nil, step.Chunk.V.Size))
		}
	}
	return nil
}

// finish lets everything arrive that is sent from now on.
func (h *connected) finish(t T, now int64) {
	t.Helper()
	h.Mend(20_000)
	for range 600 {
		for _, end := range h.Ends {
			h.Do(now, end, connections.Poll{})
		}
		now += 100_000
		h.Run(now, nil)
		for _, end := range h.Ends {
			h.readAll(now, end)
		}
		if h.isOver(t) {
			return
		}
	}
	if !h.judge.lies {
		t.Fatalf("the ends are %v and %v, and something is left", h.conn(0).State(), h.conn(1).State())
	}
}

func (h *connected) conn(i int) *connections.Product {
	return h.Ends[i].Machine.(*conform.Pair).Product.(*connections.Product)
}

// readAll reads all that an end has.
func (h *connected) readAll(now int64, end *conform.End) {
	for _, c := range h.channels {
		for h.Do(now, end, connections.Read{Channel: c.ID}).(connections.Step).Read.Is {
		}
	}
	for h.Do(now, end, connections.ReadChunk{}).(connections.Step).Chunk.Is {
	}
}

// isOver reports whether both ends have nothing left, or have closed.
func (h *connected) isOver(t T) bool {
	t.Helper()
	if h.conn(0).State() != connection.Open || h.conn(1).State() != connection.Open {
		return h.conn(0).State() == connection.Closed && h.conn(1).State() == connection.Closed
	}
	if !h.conn(0).Delivered() || !h.conn(1).Delivered() {
		return false
	}
	for side := range h.Ends {
		if err := h.judge.Settled(theLink, connectionsim.Side(side), h.conn(side).Failed()); err != nil && !h.judge.lies {
			t.Fatalf("all is delivered: %v", err)
		}
	}
	return true
}

// seedConnections are talks on networks that lose some datagrams or none, with all channels.
func seedConnections([]testvectors.File) (seeds [][]byte) {
	for setup := range byte(32) {
		for every := range 4 {
			setup := setup | byte(every)<<6 | setup%3/2<<5
			h := newConnected(setup, oracleOf)
			h.Lose(20_000, func(n int) bool { return every > 0 && n%(2+every) == 0 })
			h.talks(int(setup) + every)
			seeds = append(seeds, newConnected(setup, oracleOf).Encode([]byte{setup}, trace(h.Ends[0]), trace(h.Ends[1])))
		}
	}
	return seeds
}

// talks lets both ends send a few messages and chunks, read them, and close.
func (h *connected) talks(how int) {
	now := int64(0)
	for i := range 5 {
		for n, end := range h.Ends {
			h.Do(now, end, connections.Send{Channel: int64((how + i + n) % len(h.channels)), Data: conform.Bytes(conform.Content(i, []int{40, 1000, 3000, 1, 300}[(i+how)%5]))})
			if (i+how+n)%3 == 0 {
				h.Do(now, end, connections.SendChunk{Size: []int64{1, 1024, 5000}[(how+n)%3]})
			}
		}
		now += 60_000
		h.Run(now, nil)
		for _, end := range h.Ends {
			h.Do(now, end, connections.Read{Channel: int64(i % len(h.channels))})
			h.Do(now, end, connections.ReadChunk{})
		}
	}
	if how%3 == 0 {
		h.Do(now, h.Ends[how%2], connections.Close{Code: 256, Text: "xx"})
		h.Run(now+300_000, nil)
	}
}
