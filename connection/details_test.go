package connection_test

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// serverAlone returns a server's end that has said its pad, and who reads what it sends.
func serverAlone(cfg connection.Config) (*connection.Conn, *reader, *pen) {
	client, server := links(session.CRC, plenty)
	forPen, _ := links(session.CRC, plenty)
	b := check.Must(connection.NewConn(cfg, server, connection.ServerSide, 0))
	poll(b, 0)
	return b, &reader{client}, newPen(forPen)
}

// once polls a connection that has something to send, and returns that.
func once(c *connection.Conn, now core.Micros) []byte {
	d, ok := c.Poll(now, nil)
	if !ok {
		panic("nothing is due")
	}
	return d
}

// sizeOf is what a datagram costs.
func sizeOf(datagrams ...[]byte) (size int) {
	for _, d := range datagrams {
		size += len(d) + codec.HeaderBytes
	}
	return size
}

// The budget is charged with all bytes of packets of messages, those of fragments, too, and with
// those of messages in others; when it is overdrawn the next goes at the exact time (CXM-4).
func TestWhatMessagesPay(t *testing.T) {
	const rate, at = 640_000, 5 * second // the budget was full long before
	slice := check.Must(twoLanes.Append(nil, &connection.Record{Type: connection.TypeSlice, Slice: codec.Slice{NumSlices: 2, Data: make([]byte, codec.SliceSize)}}))
	for _, c := range []struct {
		name   string
		before func(b *connection.Conn, p *pen)
		count  int
		size   int // of each message
		free   int // bytes of the first datagrams that are not charged
	}{
		{"small messages", func(*connection.Conn, *pen) {}, 40, 900, 0},
		{"large messages", func(*connection.Conn, *pen) {}, 5, 5000, 0},
		{"beside an ack of a chunk", func(b *connection.Conn, p *pen) { give(b, at, p.write(slice...)) }, 40, 900, 3 + 4},
	} {
		b, r, p := serverAlone(connection.Config{MessageRate: rate})
		poll(b, 4*second)
		c.before(b, p)
		for range c.count {
			check.Same(t, c.name, b.Send(at, unreliable, make([]byte, c.size), 0), nil)
		}
		out := poll(b, at)
		if c.free > 0 {
			check.Equal(t, c.name, r.records(t, out[0]), []int{aChunkAck, aUnreliable})
		}
		left := connection.MessageBurst - sizeOf(out...) + c.free
		check.That(t, left < 0, "the budget is overdrawn")
		due := at + core.Micros(-left*8*int(second)/(rate/4))
		check.Same(t, c.name+": deadline", b.Deadline(), due)
		check.Equal(t, c.name+": datagrams before", len(poll(b, due-1)), 0)
		check.That(t, len(poll(b, due)) > 0, "messages go on")
	}
}

// Messages ride beside slices until what they cost has used the budget up (CXM-4).
func TestTheBudgetBesideSlices(t *testing.T) {
	b, r, _ := serverAlone(connection.Config{MessageRate: 64_000})
	at := core.Micros(5 * second)
	send := func(now core.Micros, count, size int) {
		for range count {
			check.Same(t, "error", b.Send(now, unreliable, make([]byte, size), 0), nil)
		}
	}
	send(second, 1, 900)
	one := sizeOf(poll(b, second)...) // paid back by then
	send(at, connection.MessageBurst/one, 900)
	left := connection.MessageBurst - sizeOf(poll(b, at)...)
	send(at, 30, 100)
	check.Must(b.SendChunk(at, make([]byte, 30*codec.SliceSize)))
	riding, alone, each := 0, 0, 0
	for now := at; now < at+90*ms; now += 10 {
		for _, d := range poll(b, now) {
			if types := r.records(t, d); len(types) == 2 {
				riding, each = riding+1, len(d)
			} else {
				check.Equal(t, "records", types, []int{aSlice})
				each, alone = each-len(d), alone+1
			}
		}
		if alone > 0 {
			break
		}
	}
	check.Equal(t, "messages beside slices", riding, left/each+1)
}

// What rides beside a slice pays for its own bytes; the rate of slices counts the rest (CXM-5).
func TestWhatASlicePays(t *testing.T) {
	const rate = 1_000_000
	b, r, _ := serverAlone(connection.Config{Chunks: lanes.Config{MaxRate: rate, NewScheduler: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }}})
	at := second
	check.Same(t, "error", b.Send(at, unreliable, make([]byte, 124), 0), nil) // as much as fits
	check.Must(b.SendChunk(at, make([]byte, 5*codec.SliceSize)))
	check.Same(t, "deadline", b.Deadline(), at)
	out := poll(b, at)
	check.Equal(t, "datagrams", len(out), 1)
	check.Equal(t, "records", r.records(t, out[0]), []int{aUnreliable, aSlice})
	check.Same(t, "deadline", b.Deadline(), at+core.Micros((sizeOf(out...)-128)*8*int(second)/rate))
	out = poll(b, b.Deadline())
	check.Equal(t, "records", r.records(t, out[0]), []int{aSlice})
}

// All that waits at a tick goes, in as many packets as it takes; then the tick is over, also when
// it was one packet only (CXM-3).
func TestATickSendsAll(t *testing.T) {
	b, r, _ := serverAlone(connection.Config{})
	for range 3 {
		check.Same(t, "error", b.Send(0, unreliable, make([]byte, 900), 0), nil)
	}
	check.Equal(t, "records", r.records(t, once(b, 0)), []int{aUnreliable})
	check.Same(t, "deadline", b.Deadline(), 0)
	check.Equal(t, "datagrams", len(poll(b, 0)), 2)
	check.Same(t, "error", b.Send(second, unreliable, []byte("x"), 0), nil)
	once(b, second)
	check.Same(t, "error", b.Send(second+ms, unreliable, []byte("y"), 0), nil)
	check.Equal(t, "datagrams between two ticks", len(poll(b, second+2*ms)), 0)
}

// When something else than a slice makes a packet due, what waits goes with that, and the slice
// goes alone (CXM-1).
func TestMessagesGoWithAnAck(t *testing.T) {
	b, r, p := serverAlone(connection.Config{})
	check.Same(t, "error", b.Send(0, unreliable, []byte("the tick"), 0), nil)
	poll(b, 0)
	slice := connection.Record{Type: connection.TypeSlice, Slice: codec.Slice{NumSlices: 1, Data: []byte("x")}}
	check.Same(t, "refusal", give(b, ms, p.write(check.Must(twoLanes.Append(nil, &slice))...)), nil)
	check.Same(t, "error", b.Send(ms, unreliable, make([]byte, 200), 0), nil)
	check.Must(b.SendChunk(ms, make([]byte, codec.SliceSize)))
	check.Equal(t, "the first packet", r.records(t, once(b, ms)), []int{aChunkAck, aUnreliable})
	check.Equal(t, "the second", r.records(t, once(b, ms)), []int{aSlice})
}

// Pads draw no acks, and are one byte. A large message comes whole.
func TestSmallThings(t *testing.T) {
	a, b := pair(connection.Config{})
	exchange(a, b, 0)
	check.Equal(t, "acks of pads", len(poll(a, 200*ms))+len(poll(b, 200*ms)), 0)
	before := b.Counts()
	check.Same(t, "error", a.Send(second, unreliable, content(5000, 1), 0), nil)
	check.Same(t, "refusal", give(b, second, once(a, second)), nil)
	check.That(t, !a.Delivered(), "fragments wait")
	check.Same(t, "deadline", a.Deadline(), second)
	out := poll(a, second)
	check.Same(t, "refusal", give(b, second, out...), nil)
	wantBytes(t, "message", []byte(read(b, second, unreliable)), content(5000, 1))
	check.Equal(t, "received", b.Counts().DatagramsReceived-before.DatagramsReceived, int64(1+len(out)))
	check.Equal(t, "bytes received", b.Counts().BytesReceived, a.Counts().BytesSent)
	check.That(t, a.Delivered(), "all was sent")
	check.Same(t, "error", a.Send(second, ordered, []byte("x"), 0), nil)
	poll(a, 2*second)
	check.That(t, !a.Delivered(), "what is reliable did not come yet")
}

// An end that closes sends nothing that waited: neither fragments nor what it sent before.
func TestCloseComesFirst(t *testing.T) {
	for _, size := range []int{5, 5000} {
		b, r, p := serverAlone(connection.Config{})
		check.Same(t, "error", b.Send(second, unreliable, make([]byte, size), 0), nil)
		once(b, second)
		check.Same(t, "error", b.Close(second, 300, ""), nil)
		check.Equal(t, "records", r.records(t, once(b, second)), []int{int(connection.TypeClose)})
		message := check.Must(channel.Format{}.Append(nil, &channel.Record{Type: channel.TypeMessage, Channel: ordered, Data: []byte("x")}))
		check.Same(t, "refusal", give(b, second, p.write(message...)), nil)
		check.Equal(t, "message", read(b, second, ordered), "")

		b, r, p = serverAlone(connection.Config{})
		check.Same(t, "error", b.Send(second, unreliable, make([]byte, size), 0), nil)
		once(b, second)
		check.Same(t, "refusal", give(b, second, p.write(7, 0, 1, 0)), nil)
		check.Equal(t, "records of the answer", r.records(t, once(b, second)), []int{int(connection.TypeClose)})
		check.Equal(t, "datagrams", len(poll(b, second)), 0)
	}
}

// What happens after a poll can be due at the same time; what is due a microsecond later is so.
func TestDeadlinesAfterAPoll(t *testing.T) {
	for name, event := range map[string]func(c *connection.Conn, now core.Micros){
		"Send":      func(c *connection.Conn, now core.Micros) { _ = c.Send(now, ordered, []byte("x"), 0) },
		"SendChunk": func(c *connection.Conn, now core.Micros) { check.Must(c.SendChunk(now, []byte("x"))) },
		"Close":     func(c *connection.Conn, now core.Micros) { _ = c.Close(now, 0, "") },
	} {
		b, _, _ := serverAlone(connection.Config{})
		check.Equal(t, name, len(poll(b, second)), 0)
		check.Same(t, name+": keep-alive", b.Deadline(), 1250*ms)
		check.Equal(t, name, len(poll(b, 1250*ms-1)), 0)
		check.Same(t, name+": keep-alive", b.Deadline(), 1250*ms)
		event(b, 1250*ms-1)
		check.Same(t, name+": deadline", b.Deadline(), 1250*ms-1)
		check.Equal(t, name, len(poll(b, 1250*ms-1)), 1)
	}
}

// A message that expires does so after its lifetime, from when it was sent.
func TestALifetimeBeginsWithSend(t *testing.T) {
	b, r, _ := serverAlone(connection.Config{})
	check.Same(t, "error", b.Send(second, ordered, []byte("x"), 50*ms), nil)
	check.Equal(t, "records", r.records(t, once(b, second+40*ms)), []int{aMessage})
}

// One who withdraws is told whether that was in time.
func TestWithdrawAChunk(t *testing.T) {
	a, b := pair(connection.Config{})
	for i := range int64(3) {
		check.Same(t, "number", check.Must(a.SendChunk(0, make([]byte, 5000))), i)
	}
	check.That(t, !a.WithdrawChunk(0) && a.WithdrawChunk(2) && !a.WithdrawChunk(2), "only one that waits")
	check.That(t, !b.WithdrawChunk(0), "there is none")
}

// Unless they are set, machines give up after twice the time-out that was agreed (CXP-6).
func TestWhenMachinesGiveUp(t *testing.T) {
	agreed := plenty
	agreed.Timeout = 2 * second
	for name, w := range map[string]struct {
		begin    func(*connection.Conn)
		hasEnded func(*connection.Conn) bool
	}{
		"a channel": {func(a *connection.Conn) { _ = a.Send(0, ordered, []byte("x"), 0) }, func(a *connection.Conn) bool { return a.Failed() == 1<<ordered }},
		"a lane":    {func(a *connection.Conn) { check.Must(a.SendChunk(0, []byte("x"))) }, func(a *connection.Conn) bool { return errors.Is(a.Err(), connection.ErrFailed) }},
	} {
		a, b := pairOf(session.CRC, agreed, connection.Config{}, connection.Config{})
		w.begin(a)
		p, now := newPen(b.Link()), core.Micros(0)
		for ; now < 4*second; now += 100 * ms {
			p.reads(poll(a, now)...)
			give(a, now, p.write(0))
			check.That(t, !w.hasEnded(a), name)
		}
		poll(a, now+100*ms)
		check.That(t, w.hasEnded(a), name+" fails")
	}
}

// A chunk that goes when no message ever did does not yield (CXM-5).
func TestWithoutMessagesSlicesDoNotYield(t *testing.T) {
	yields := false
	b, _, _ := serverAlone(connection.Config{Chunks: watching(&yields)})
	check.Must(b.SendChunk(0, make([]byte, codec.MaxChunkSize)))
	poll(b, 0)
	check.That(t, !yields, "it does not")
}

// What is just allowed is; what is left out has its default (CXP-2, CXP-4).
func TestWhatConfigAllows(t *testing.T) {
	cfg := check.Must(connection.Config{Tick: 100 * ms, MessageRate: 8_000_000_000}.Complete())
	check.Same(t, "time-out", cfg.Timeout, session.DefaultTimeout)
	check.Same(t, "lanes", cfg.Lanes, lanes.Most)
	check.Must(connection.Config{Tick: 5 * ms, MessageRate: 64_000}.Complete())
	check.Must(connection.Config{Terms: session.Terms{Lanes: connection.NoLanes}, Chunks: lanes.Config{MaxRate: 1}}.Complete())
	check.Equal(t, "channels", connection.DefaultChannels(), []channel.Config{
		{ID: 0, Kind: channel.Unreliable, Priority: 2}, {ID: 1, Kind: channel.Ordered, Priority: 1}, {ID: 2, Kind: channel.Unordered, Priority: 1},
	})
	sum := sha256.Sum256([]byte{
		0, 4, 16, 0, 3, // 1,024 bytes, 16 fragments, three channels
		0, byte(channel.Unreliable), 0, 0, 0, 0, 0,
		1, byte(channel.Ordered), 0, 4, 0, 4, 64,
		2, byte(channel.Unordered), 0, 4, 0, 4, 64,
	})
	check.Equal(t, "format", cfg.Format, [8]byte(sum[:]))
}

// A client that wants no chunks offers no lanes.
func TestAClientWithoutLanes(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{Config: connection.Config{Terms: session.Terms{Lanes: connection.NoLanes}}})
	for _, end := range []*connection.Conn{c.Conn(), p.Conn} {
		_, err := end.SendChunk(n.Now(), []byte("x"))
		check.Same(t, "refusal", err, connection.ErrNoLanes)
	}
}

// Records have limits, and a decoder forgets what it decoded before (CXR-1 to CXR-5).
func TestRecordsAtTheirLimits(t *testing.T) {
	text := []byte(strings.Repeat("x", connection.MaxText))
	closes := check.Must(twoLanes.Append(nil, &connection.Record{Type: connection.TypeClose, Code: 300, Text: text}))
	r := connection.Record{Lane: 1, Slice: codec.Slice{NumSlices: 7}}
	check.Equal(t, "next", check.Must(twoLanes.Decode(closes, 0, &r)), len(closes))
	check.Equal(t, "record", r, connection.Record{Type: connection.TypeClose, Code: 300, Text: text})
	check.That(t, !twoLanes.IsRecord(closes, len(closes)), "the payload has ended")
	var refusal *connection.Error
	_, err := twoLanes.Decode([]byte{0, 7, 0, 0, 0}, 1, &r)
	check.That(t, errors.As(err, &refusal) && errors.Is(err, connection.ErrNotAlone) && refusal.Place() == 1, "a close is the first record")
	_, err = twoLanes.Append([]byte{0}, &connection.Record{Type: connection.TypeClose})
	check.That(t, errors.Is(err, connection.ErrNotAlone), "a close is the only record")
}

// Refusals are counted by their code.
func TestCountsOfRefusedRecords(t *testing.T) {
	b, _, p := serverAlone(connection.Config{})
	check.That(t, errors.Is(give(b, 0, p.write(8)), connection.ErrTruncated), "it is refused")
	counts := b.Counts()
	check.Equal(t, "counted", counts.RefusedRecords(connection.CodeTruncated), 1)
	check.Equal(t, "of another code", counts.RefusedRecords(connection.CodeLane), 0)
	check.Equal(t, "of no code", counts.RefusedRecords("?"), 0)
}
