package connection_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/statemachine"
)

// marking is what ends agree on that have marks.
var marking = session.Agreed{Lanes: 2, Variant: session.VariantSlices, Extensions: session.ExtensionECN, Timeout: 10 * second}

// road is two ends, and a path that does something to the field ECN. A round trip is 20 ms.
type road struct {
	a, b   *connection.Conn
	now    core.Micros
	onPath func(connection.ECN) connection.ECN // from a to b
	lost   func(connection.ECN) bool           // from a to b
	ect    int                                 // datagrams of a that were marked
	marked []int                               // what a's scheduler was told, each time
}

// markedScheduler says what it was told.
type markedScheduler struct {
	statemachine.Scheduler
	road *road
}

func (s markedScheduler) Marked(_ core.Micros, n int) { s.road.marked = append(s.road.marked, n) }

func newRoad(agreed session.Agreed, onPath func(connection.ECN) connection.ECN) *road {
	r := &road{onPath: onPath, lost: func(connection.ECN) bool { return false }}
	cfg := connection.Config{Chunks: lanes.Config{NewScheduler: func() (statemachine.Scheduler, error) {
		s, err := lanes.Adaptive.NewScheduler(codec.Named, 0)
		return markedScheduler{s, r}, err
	}}}
	r.a, r.b = pairOf(session.CRC, agreed, cfg, connection.Config{})
	return r
}

// run lets time pass.
func (r *road) run(time core.Micros) {
	for end := r.now + time; r.now < end; r.now += 10 * ms {
		var back [][]byte
		for {
			d, ok := r.a.Poll(r.now, nil)
			if !ok {
				break
			}
			ecn := connection.NotECT
			if r.a.ECT() {
				ecn = connection.ECT0
				r.ect++
			}
			if !r.lost(ecn) {
				_ = r.b.ReceiveECN(r.now, d, r.onPath(ecn))
			}
			back = append(back, poll(r.b, r.now)...)
		}
		r.now += 10 * ms
		give(r.a, r.now, append(back, poll(r.b, r.now)...)...)
		r.b.ReadChunk(r.now, nil)
	}
}

// send gives a chunk of so many slices, and waits for it.
func (r *road) send(t *testing.T, slices int) {
	t.Helper()
	check.Must(r.a.SendChunk(r.now, make([]byte, slices*codec.SliceSize)))
	for range 100 {
		r.run(20 * ms)
		if _, ok := r.a.ChunkDone(); ok {
			return
		}
	}
	t.Fatal("the chunk does not arrive")
}

func asSent(e connection.ECN) connection.ECN { return e }

// congested is a path that marks what can be marked.
func congested(e connection.ECN) connection.ECN {
	if e == connection.ECT0 {
		return connection.CE
	}
	return e
}

func bleached(connection.ECN) connection.ECN { return connection.NotECT }

// Datagrams with slices go with ECT, and no others; without agreement none (CXM-15).
func TestOnlySlicesGoWithECT(t *testing.T) {
	for _, agreed := range []session.Agreed{plenty, marking} {
		client, server := links(session.CRC, agreed)
		a, r := check.Must(connection.NewConn(connection.Config{}, client, connection.ClientSide, 0)), &reader{server}
		check.Same(t, "error", a.Send(0, ordered, make([]byte, 5000), 0), nil)
		check.Must(a.SendChunk(0, make([]byte, 3*codec.SliceSize)))
		seen := 0
		for now := core.Micros(0); now < 100*ms; now += ms {
			for d, ok := a.Poll(now, nil); ok; d, ok = a.Poll(now, nil) {
				types := r.records(t, d)
				isSlice := types[len(types)-1] == aSlice
				check.Equal(t, "ECT", a.ECT(), isSlice && agreed.Extensions != 0)
				if isSlice {
					seen++
				}
			}
			check.That(t, !a.ECT(), "a poll that gives nothing marks nothing")
		}
		check.That(t, seen >= 3, "slices go")
	}
}

// What was counted goes beside acks of chunks: the datagrams that were opened, each once, with
// ECT(0) or CE (CXM-13, CXM-14).
func TestCountsGoBesideChunkAcks(t *testing.T) {
	agreed := marking
	client, server := links(session.CRC, agreed)
	a, b := check.Must(connection.NewConn(connection.Config{}, client, connection.ClientSide, 0)), check.Must(connection.NewConn(connection.Config{}, server, connection.ServerSide, 0))
	again, _ := links(session.CRC, agreed)
	r := &reader{again}
	give(a, 0, poll(b, 0)...)
	check.Must(a.SendChunk(0, make([]byte, 4*codec.SliceSize)))
	out := poll(a, 0)
	for now := core.Micros(0); len(out) < 4; now += ms {
		out = append(out, poll(a, now)...)
	}
	for i, ecn := range []connection.ECN{connection.ECT0, connection.CE, connection.ECT1, connection.NotECT} {
		check.Same(t, "refusal", b.ReceiveECN(50*ms, out[i], ecn), nil)
		check.That(t, b.ReceiveECN(50*ms, out[i], ecn) != nil, "a copy is refused")
	}
	check.Equal(t, "counted", b.Counts().CEReceived, 1)
	said := poll(b, 100*ms)
	check.Equal(t, "records", r.records(t, said[0]), []int{aChunkAck, anECN})
	check.Equal(t, "what it says", hexTail(t, again, said[0], 5), []byte{10, 2, 0, 1, 0})
}

// hexTail returns the last bytes of what a datagram holds.
func hexTail(t *testing.T, link *session.Link, datagram []byte, n int) []byte {
	t.Helper()
	end := len(datagram) - link.Overhead() + 9
	return datagram[end-n : end]
}

// Each mark is told once to the scheduler of the lanes; a path that marks nothing says nothing
// (CXM-16).
func TestMarksReachTheScheduler(t *testing.T) {
	quiet := newRoad(marking, asSent)
	quiet.send(t, 100)
	check.That(t, quiet.ect >= 100, "what arrives is marked")
	check.Equal(t, "told", len(quiet.marked), 0)

	busy := newRoad(marking, congested)
	busy.send(t, 100)
	sum := 0
	for _, n := range busy.marked {
		sum += n
	}
	check.Equal(t, "told", sum, busy.ect)
	check.Equal(t, "counted", int(busy.a.Counts().CEReported), sum)
	check.Equal(t, "arrived", busy.b.Counts().CEReceived, busy.a.Counts().ECTSent)
}

// A path that takes the mark away, all or one of ten, or makes another of it, is not trusted: at
// the first ack of a chunk that shows it nothing is marked any more, and the connection goes on
// (CXM-16, CXA-41).
func TestABleachedPathIsNotTrusted(t *testing.T) {
	count := 0
	for name, onPath := range map[string]func(connection.ECN) connection.ECN{
		"all": bleached,
		"one of ten": func(e connection.ECN) connection.ECN {
			if count++; count%10 == 0 {
				return connection.NotECT
			}
			return e
		},
		"to L4S": func(e connection.ECN) connection.ECN {
			if e == connection.ECT0 {
				return connection.ECT1
			}
			return e
		},
	} {
		r := newRoad(marking, onPath)
		r.send(t, 200)
		before := r.ect
		check.That(t, before > 0 && before < 100, name)
		r.send(t, 200)
		check.Equal(t, name+": marked after", r.ect, before)
	}
}

// A mark on what was not sent so, counts that fall, and more arrivals than there were datagrams
// cannot be: no mark is told, and none is asked for (CXM-16, CXA-41).
func TestCountsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name string
		said []connection.Marks
	}{
		{"marks beyond arrivals", []connection.Marks{{Arrived: 1, Congested: 2}}},
		{"a mark and no arrival", []connection.Marks{{Arrived: 3}, {Arrived: 3, Congested: 1}}},
		{"arrivals beyond what went", []connection.Marks{{Arrived: 5}}},
		{"arrivals that fall", []connection.Marks{{Arrived: 3}, {Arrived: 2}}},
		{"marks that fall", []connection.Marks{{Arrived: 2, Congested: 1}, {Arrived: 3}}},
	} {
		r := newRoad(marking, asSent)
		_, server := links(session.CRC, marking)
		p := newPen(server)
		check.Must(r.a.SendChunk(0, make([]byte, 4*codec.SliceSize)))
		sent := 0
		for ; sent < 4; r.now += ms {
			for _, ok := r.a.Poll(r.now, nil); ok; _, ok = r.a.Poll(r.now, nil) {
				sent++
			}
		}
		for _, m := range c.said {
			record := check.Must(marked.Append(nil, &connection.Record{Type: connection.TypeECN, Marks: m}))
			check.Same(t, "refusal", give(r.a, r.now, p.write(record...)), nil)
		}
		before := len(r.marked)
		ect := r.a.Counts().ECTSent
		for range 5 * 100 {
			r.now += 10 * ms
			poll(r.a, r.now)
		}
		check.Equal(t, c.name+": marked after", r.a.Counts().ECTSent, ect)
		check.That(t, before <= 1, c.name)
	}
}

// What an older packet says is over (CXM-16).
func TestWhatAnOlderPacketCountedIsOver(t *testing.T) {
	r := newRoad(marking, asSent)
	_, server := links(session.CRC, marking)
	p := newPen(server)
	check.Must(r.a.SendChunk(0, make([]byte, 4*codec.SliceSize)))
	sendUntil := func(n int64) {
		for r.a.Counts().ECTSent < n && r.now < 5*second {
			poll(r.a, r.now)
			r.now += ms
		}
		check.Equal(t, "sent with ECT", r.a.Counts().ECTSent, n)
	}
	sendUntil(4)
	say := func(m connection.Marks) []byte {
		return p.write(check.Must(marked.Append(nil, &connection.Record{Type: connection.TypeECN, Marks: m}))...)
	}
	first, second := say(connection.Marks{Arrived: 2, Congested: 1}), say(connection.Marks{Arrived: 4, Congested: 3})
	give(r.a, r.now, second, first)
	check.Equal(t, "told", r.marked, []int{3})
	check.Must(r.a.SendChunk(r.now, make([]byte, codec.SliceSize)))
	sendUntil(5)
}

// A path that drops what could be marked costs 10 datagrams, at first or later; then chunks
// arrive without (CXM-15).
func TestAPathThatDropsWhatIsMarked(t *testing.T) {
	drops := func(e connection.ECN) bool { return e == connection.ECT0 }
	r := newRoad(marking, asSent)
	r.lost = drops
	r.send(t, 200)
	check.Equal(t, "marked", r.ect, connection.ECNProbes)

	r = newRoad(marking, asSent)
	r.send(t, 200)
	check.That(t, r.ect >= 200, "marked")
	r.run(2 * second)
	before := r.ect
	r.lost = drops
	r.send(t, 200)
	check.Equal(t, "marked", r.ect-before, connection.ECNProbes)
}

// An end that was told nothing marks after a while no more than at first, and goes on when it is
// told (CXM-15).
func TestMarksAfterSilence(t *testing.T) {
	r := newRoad(marking, asSent)
	r.send(t, 200)
	r.run(5 * second)
	before := r.ect
	r.send(t, 200)
	check.That(t, r.ect-before > 100, "marked again")
}

// Acks of chunks leave room for what was counted: here one more would leave 4 bytes (CXM-1,
// CXM-14).
func TestAcksLeaveRoomForCounts(t *testing.T) {
	agreed := marking
	agreed.Lanes = lanes.Most
	format := connection.Format{Lanes: lanes.Most, ECN: true}
	a, b := pairOf(session.CRC, agreed, connection.Config{}, connection.Config{})
	p := newPen(func() *session.Link { _, server := links(session.CRC, agreed); return server }())
	slice := func(lane int, chunk uint16, id, n int) {
		r := connection.Record{Type: connection.TypeSlice, Lane: lane, Slice: codec.Slice{ChunkID: chunk, SliceID: id, NumSlices: n, Data: make([]byte, codec.SliceSize)}}
		check.Same(t, "refusal", a.ReceiveECN(0, p.write(check.Must(format.Append(nil, &r))...), connection.ECT0), nil)
	}
	for k := range lanes.Most {
		for id := range codec.MaxSlices {
			slice(k, 0, id, codec.MaxSlices)
		}
	}
	for range lanes.Most {
		_, ok := a.ReadChunk(0, nil)
		check.That(t, ok, "a chunk is read")
	}
	for k := range lanes.Most {
		slice(k, 1, 0, map[bool]int{true: 80, false: codec.MaxSlices}[k == 14])
	}
	reads, acks := &reader{b.Link()}, 0
	for i, d := range poll(a, 5*ms) {
		types := reads.records(t, d)
		check.Equal(t, "the last record", types[len(types)-1], anECN)
		check.That(t, len(d) <= packet.MaxHeader+1160+session.CRC.Overhead(), "it fits")
		if acks += len(types) - 1; i == 0 {
			check.Equal(t, "acks in the first", acks, 30)
		}
	}
	check.Equal(t, "acks", acks, 2*lanes.Most)
}
