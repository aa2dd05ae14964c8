package fuzz

import (
	"bytes"
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/sim/connectionsim"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is the number of lanes, from 17 on with the variant of repair slices, and from 34 on
// the same with marks, a byte, and a payload: the codec of records 7 to 10, with those of channels
// between them, says what its oracle says.
var targetConnectionRecords = newTarget("ConnectionRecords", "the records of a connection are those of the oracle: values, or code and byte; canonical both ways", runConnectionRecords, seedConnectionRecords)

func runConnectionRecords(t T, data []byte) {
	s := script{data}
	how := int(s.byte())
	f, payload := connection.Format{Lanes: how % 17, Repair: how/17%2 == 1, ECN: how/34%2 == 1}, s.left
	before := bytes.Clone(payload)
	again, err := recode(f, payload)
	list, wantErr := connectionoracle.Decode(connectionoracle.Format{Lanes: int64(f.Lanes), Repair: f.Repair, ECN: f.ECN}, before)
	if verbose() {
		t.Logf("%+v, %x: %v", f, before, err)
	}
	compareConnectionCodes(t, err, wantErr)
	if !bytes.Equal(before, payload) {
		t.Fatalf("decoding changed the payload")
	}
	if err != nil {
		return
	}
	if !bytes.Equal(again, payload) {
		t.Fatalf("accepted, but it encodes to %x", again)
	}
	if theirs, err := connectionoracle.Encode(connectionoracle.Format{Lanes: int64(f.Lanes), Repair: f.Repair, ECN: f.ECN}, list); err != nil || !bytes.Equal(theirs, payload) {
		t.Fatalf("the oracle encodes what it decoded to %x, %v", theirs, err)
	}
}

// anyWindow takes what any channel takes.
var anyWindow = channel.Format{Window: 16384, Data: channel.DefaultData, Group: channel.DefaultGroup}

// recode decodes a payload to its end, and encodes what it holds.
func recode(f connection.Format, payload []byte) (again []byte, err error) {
	for at, more := 0, true; more; more = at < len(payload) {
		var ours connection.Record
		var theirs channel.Record
		if !f.IsRecord(payload, at) {
			if at, err = anyWindow.Decode(payload, at, &theirs); err == nil {
				again, err = anyWindow.Append(again, &theirs)
			}
		} else if at, err = f.Decode(payload, at, &ours); err == nil {
			again, err = f.Append(again, &ours)
		}
		if err != nil {
			return nil, err
		}
	}
	return again, nil
}

func compareConnectionCodes(t T, err, want error) {
	t.Helper()
	if err == nil && want == nil {
		return
	}
	code, at := connectionoracle.RefusalOf(want)
	var got *core.Error
	if !errors.As(err, &got) || want == nil || string(got.Code()) != code || got.Place() != at {
		t.Fatalf("connection says %v, the oracle %v", err, want)
	}
}

func seedConnectionRecords(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.ConnectionDecodeRequest](files, contract.OpConnectionDecode) {
		seeds = append(seeds, append([]byte{byte(q.Lanes)}, bytesOf(&q.Hex)...), append([]byte{byte(q.Lanes + 17)}, bytesOf(&q.Hex)...), append([]byte{byte(q.Lanes + 34)}, bytesOf(&q.Hex)...))
	}
	return seeds
}

// Two ends of a connection, each beside its model, over a network that loses, doubles, delays and
// changes; a peer that has the keys says anything. What is read was sent, each once where that
// is promised. At last everything arrives, if nobody has said what is not true: both fall silent
// with nothing left, or have closed.
//
// An input is a byte for how they are set up, and a script of operations, each a byte, of which
// bit 7 is the end, and what op reads.
var targetConnection = newTarget("Connection", "both ends of a connection are their models, and each service delivers as it promises, whatever comes", runConnection, seedConnections)

var fuzzChannels = []channel.Config{
	{ID: 0, Kind: channel.Unreliable, Priority: 2},
	{ID: 1, Format: channel.Format{Window: 32, Group: 4}, SendQueue: 40},
	{ID: 2, Kind: channel.Unordered, Format: channel.Format{Window: 64}},
}

// fuzzPaths are paths that leave the field ECN as it is, mark, take it away, and make another of it.
var fuzzPaths = [...][4]connection.ECN{
	{0, connection.ECT1, connection.ECT0, connection.CE}, {0, connection.ECT1, connection.CE, connection.CE}, {}, {0, 0, connection.ECT1, connection.CE},
}

type connectionBench struct {
	T
	script
	clock  core.Micros
	ends   [2]*connectionsim.CheckedConn
	keys   [2]session.Key // with which each seals
	agreed session.Agreed
	mode   session.Mode
	flight [2][][]byte       // to each end: the field ECN, and the datagram
	path   [4]connection.ECN // what comes of a field
	said   [2]map[string]int // by each end, and not read yet: channel and message
	chunks [2][][]byte       // that each end sent, and the other has not read
	lies   bool              // a peer said what is not true
	serial byte
}

func runConnection(t T, data []byte) {
	b := &connectionBench{T: t, script: script{data}, keys: [2]session.Key{{1}, {2}}}
	setup := b.byte()
	b.mode = []session.Mode{session.CRC, session.MAC}[setup&1]
	b.agreed = session.Agreed{Link: fuzzLink, Lanes: int(setup >> 1 & 3), Extensions: uint16(setup >> 4 & 1), Timeout: 10 * core.Second}
	b.path = fuzzPaths[setup>>5&3]
	if b.agreed.Lanes > 0 {
		b.agreed.Variant = session.VariantSlices + setup>>3&1
	}
	lanes := b.agreed.Lanes
	if lanes == 0 {
		lanes = connection.NoLanes
	}
	cfg := connection.Config{Terms: session.Terms{Lanes: lanes}, Channels: fuzzChannels}
	cfg, err := cfg.Complete()
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i := range b.ends {
		link := session.LinkConfig{Mode: b.mode, Agreed: b.agreed, Seal: b.keys[i], Open: b.keys[1-i]}
		if b.ends[i], err = connectionsim.NewCheckedConn(cfg, link, connectionsim.Side(i), 0, t.Fatalf); err != nil {
			t.Fatalf("%v", err)
		}
		b.said[i] = map[string]int{}
	}
	for n := 0; b.more() && n < 300; n++ {
		b.op()
	}
	b.finish()
}

func (b *connectionBench) op() {
	b.Helper()
	code := b.byte()
	end := int(code >> 7)
	if verbose() {
		b.Logf("at %d, end %d, operation %d: %v, Row:%s", b.clock, end, code&15, b.ends[end].Conn.State(), b.ends[end].Conn.Row())
	}
	switch op := code & 15; op {
	case 0, 1:
		b.poll(end)
	case 2, 3, 4:
		b.arrive(end, int(b.byte()), 0)
	case 5: // lost, or doubled
		b.either(end, int(b.byte()))
	case 6: // changed
		b.arrive(end, int(b.byte()), 1+b.uint16())
	case 7, 8:
		b.send(end, b.byte()%3, 1+int(b.byte()), 0)
	case 9:
		b.send(end, b.byte()%3, 1+int(b.uint16())%5000, core.Micros(b.byte())*10*core.Millisecond)
	case 10:
		b.chunk(end, 1+int(b.uint16())%9000)
	case 11:
		b.read(end)
	case 12:
		b.clock += core.Micros(b.byte()) * core.Millisecond
	case 13:
		if at := b.ends[end].Conn.Deadline(); at != core.Never {
			b.clock = max(b.clock, at)
		}
		b.poll(end)
	case 14:
		b.lie(end, b.take(int(b.byte())))
	case 15:
		if what := b.byte(); what > 0xf0 {
			_ = b.ends[end].Close(b.clock, uint16(what)<<8, "text")
		}
	}
}

func (b *connectionBench) poll(end int) {
	b.Helper()
	for range 1000 {
		d, ok := b.ends[end].Poll(b.clock)
		if !ok {
			return
		}
		if len(d) > session.LargestDatagram {
			b.Fatalf("a datagram of %d bytes", len(d))
		}
		field := connection.NotECT
		if b.ends[end].Conn.ECT() {
			field = connection.ECT0
		}
		b.flight[1-end] = append(b.flight[1-end], append([]byte{byte(field)}, d...))
	}
	b.Fatalf("end %d never stops sending", end)
}

// arrive lets a datagram arrive, with a bit changed if change is not 0. With a checksum alone a
// change can be one that the sum does not find only by more bits than one.
func (b *connectionBench) arrive(end, which int, change uint16) {
	b.Helper()
	if len(b.flight[end]) == 0 {
		return
	}
	which %= len(b.flight[end])
	field, d := connection.ECN(b.flight[end][which][0]), bytes.Clone(b.flight[end][which][1:])
	b.flight[end] = slices.Delete(b.flight[end], which, which+1)
	field = b.path[field]
	if change > 0 {
		at := int(change) % (8 * len(d))
		d[at/8] ^= 1 << (at % 8)
	}
	err := b.ends[end].Receive(b.clock, d, field)
	if change > 0 && err == nil && b.ends[end].Conn.State() == connection.Open {
		b.Fatalf("a changed datagram is taken: %x", d)
	}
}

func (b *connectionBench) either(end, which int) {
	if len(b.flight[end]) == 0 {
		return
	}
	at := which >> 1 % len(b.flight[end])
	if which&1 == 0 {
		b.flight[end] = slices.Delete(b.flight[end], at, at+1)
	} else {
		b.flight[end] = append(b.flight[end], b.flight[end][at])
	}
}

func (b *connectionBench) send(end int, id uint8, size int, lifetime core.Micros) {
	b.Helper()
	b.serial++
	m := append([]byte{id, b.serial}, slice(size)...)
	if err := b.ends[end].Send(b.clock, id, m, lifetime); err == nil {
		b.said[end][string(m)]++
	}
}

func (b *connectionBench) chunk(end, size int) {
	b.Helper()
	b.serial++
	c := append([]byte{b.serial}, slice(size)...)
	if err := b.ends[end].SendChunk(b.clock, c); err == nil {
		b.chunks[end] = append(b.chunks[end], c)
	}
}

// read reads all that an end has. After a lie anything may be there.
func (b *connectionBench) read(end int) {
	b.Helper()
	from := 1 - end
	for _, c := range fuzzChannels {
		for {
			m, ok := b.ends[end].Read(b.clock, c.ID)
			if !ok {
				break
			}
			if m.Skipped || b.lies {
				continue
			}
			if b.said[from][string(m.Data)]--; b.said[from][string(m.Data)] < 0 || m.Data[0] != c.ID {
				b.Fatalf("%x... is read on channel %d, and was not sent so often", m.Data[:2], c.ID)
			}
		}
	}
	for {
		chunk, ok := b.ends[end].ReadChunk(b.clock)
		if !ok {
			return
		}
		if b.lies {
			continue
		}
		if len(b.chunks[from]) == 0 || !bytes.Equal(chunk, b.chunks[from][0]) {
			b.Fatalf("a chunk of %d bytes is read that was not the next", len(chunk))
		}
		b.chunks[from] = b.chunks[from][1:]
	}
}

// lie lets who has the keys send any payload in a packet of its own (CXA-40).
func (b *connectionBench) lie(end int, payload []byte) {
	b.Helper()
	if len(payload) == 0 {
		return
	}
	b.lies = true
	liar := session.NewLink(session.LinkConfig{Mode: b.mode, Agreed: b.agreed, Seal: b.keys[1-end], Next: b.ends[1-end].Conn.Link().Sent() + 7})
	e, err := packet.NewEndpoint(packet.Config{NextToSend: 3})
	if err != nil {
		b.Fatalf("%v", err)
	}
	datagrams, _, err := e.Send(b.clock, payload)
	if err != nil {
		return
	}
	for _, d := range datagrams {
		_ = b.ends[end].Receive(b.clock, liar.Seal(nil, d), connection.CE)
	}
}

// finish lets everything arrive.
func (b *connectionBench) finish() {
	b.Helper()
	for range 2000 {
		for end := range b.ends {
			b.poll(end)
		}
		for end := range b.ends {
			for len(b.flight[end]) > 0 {
				b.arrive(end, 0, 0)
			}
			b.read(end)
		}
		if b.isOver() {
			return
		}
		at := min(b.ends[0].Conn.Deadline(), b.ends[1].Conn.Deadline())
		if at == core.Never {
			b.Fatalf("something is left, but nothing is due")
		}
		b.clock = max(b.clock+1, at)
	}
	if !b.lies {
		b.Fatalf("the ends are %v and %v, and something is left", b.ends[0].Conn.State(), b.ends[1].Conn.State())
	}
}

// isOver reports whether both ends have nothing left, or have closed.
func (b *connectionBench) isOver() bool {
	b.Helper()
	states := [2]connection.State{b.ends[0].Conn.State(), b.ends[1].Conn.State()}
	if states[0] != connection.Open || states[1] != connection.Open {
		return states[0] == connection.Closed && states[1] == connection.Closed
	}
	for end := range b.ends {
		if !b.ends[end].Conn.Delivered() {
			return false
		}
	}
	if !b.lies {
		b.missing()
	}
	return true
}

// missing fails if something reliable without a lifetime was delivered and not read.
func (b *connectionBench) missing() {
	b.Helper()
	for end := range b.ends {
		if len(b.chunks[end]) > 0 {
			b.Fatalf("%d chunks of end %d are delivered, and were not read", len(b.chunks[end]), end)
		}
	}
}

func seedConnections([]testvectors.File) (seeds [][]byte) {
	talks := [][]byte{
		{7, 1, 40, 7, 2, 9, 7, 0, 3, 0, 12, 20, 0, 2, 0, 2, 0, 0x80, 0x82, 0, 11, 12, 50, 13, 0x8d, 2, 0, 0x82, 0},
		{10, 0, 16, 0, 2, 0, 2, 0, 5, 0, 2, 0, 0x80, 0x82, 0, 13, 2, 0, 0x8d, 0x82, 0, 12, 200, 13, 0x8d, 11},
		{9, 1, 0, 16, 3, 9, 2, 50, 0, 0, 0, 5, 0, 5, 1, 6, 0, 3, 1, 12, 255, 13, 0x8d, 0x87, 1, 7, 0x80, 2, 0},
		{15, 0xff, 0, 2, 0, 0x80, 0x82, 0, 13, 0x8d, 13, 0x8d},
		{0, 2, 0, 14, 4, 7, 0, 1, 0, 13}, {0, 14, 5, 2, 1, 0, 0, 1, 14, 9, 5, 1, 0, 0, 0, 4, 0, 0, 0, 14, 6, 8, 0, 0, 0, 0, 0, 14, 7, 9, 0, 4, 0, 0, 0, 1},
		{7, 1, 9, 12, 255, 12, 255, 12, 255, 12, 255, 13, 12, 255, 12, 255, 12, 255, 13, 0x8d, 12, 255, 12, 255, 12, 255, 12, 255, 12, 255, 12, 255, 12, 255, 12, 255, 12, 255, 12, 255, 13},
	}
	for _, setup := range []byte{0, 1, 2, 3, 4, 5, 6, 7, 0x0a, 0x12, 0x1c, 0x33, 0x52, 0x7a} {
		for _, talk := range talks {
			seeds = append(seeds, append([]byte{setup}, talk...))
		}
	}
	return seeds
}
