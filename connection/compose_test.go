package connection_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/statemachine"
)

// reader opens what an end sends, and says which records it has.
type reader struct{ link *session.Link }

// records returns the types of the records of a datagram, in order.
func (r *reader) records(t testing.TB, datagram []byte) (types []int) {
	t.Helper()
	body := check.Must(r.link.Open(nil, datagram))
	p := check.Must(packet.Format{}.Decode(body))
	var record channel.Record
	for at := 0; at < len(p.Data); {
		if format := (connection.Format{Lanes: 16, Repair: r.link.Agreed().Variant == session.VariantRepair, ECN: true}); format.IsRecord(p.Data, at) {
			types = append(types, int(p.Data[at]))
			var own connection.Record
			at = check.Must(format.Decode(p.Data, at, &own))
			continue
		}
		if p.Data[at] == 0 {
			return []int{0}
		}
		types = append(types, int(p.Data[at]))
		at = check.Must(channel.Format{}.Decode(p.Data, at, &record))
	}
	return types
}

// What each type of a record is, in what a reader returns.
const (
	aUnreliable = int(channel.TypeUnreliable)
	aMessage    = int(channel.TypeMessage)
	aSlice      = int(connection.TypeSlice)
	aChunkAck   = int(connection.TypeChunkAck)
	anECN       = int(connection.TypeECN)
)

// quietClient returns a client that has ticked and said its pad, and who reads what it sends.
func quietClient(t testing.TB, cfg connection.Config) (*connection.Conn, *reader, *pen) {
	t.Helper()
	client, server := links(session.CRC, plenty)
	_, forPen := links(session.CRC, plenty)
	a := check.Must(connection.NewConn(cfg, client, connection.ClientSide, 0))
	r := &reader{server}
	check.Same(t, "error", a.Send(0, unreliable, []byte("x"), 0), nil)
	for _, d := range poll(a, 0) {
		r.records(t, d)
	}
	return a, r, newPen(forPen)
}

// A message that was sent between two ticks waits for the next one, unless a packet goes for
// another reason: then it goes along. The deadline names each of these times (CXM-1, CXM-2, CXM-9).
func TestWhatWaitsRides(t *testing.T) {
	a, r, p := quietClient(t, connection.Config{})
	check.Same(t, "error", a.Send(10*ms, ordered, []byte("waits"), 0), nil)
	check.Equal(t, "datagrams", len(poll(a, 10*ms)), 0)
	check.Same(t, "deadline", a.Deadline(), connection.BadTick) // the mode is BAD at first
	asks := check.Must(channel.Format{}.Append(nil, &channel.Record{Type: channel.TypeUnreliable, Channel: unreliable, Data: []byte("?")}))
	check.Same(t, "refusal", give(a, 11*ms, p.write(asks...)), nil)
	check.Same(t, "deadline", a.Deadline(), 31*ms) // an ack is owed by then
	out := poll(a, 31*ms)
	check.Equal(t, "datagrams", len(out), 1)
	check.Equal(t, "records", r.records(t, out[0]), []int{aMessage})
	check.Equal(t, "datagrams at the tick", len(poll(a, 100*ms)), 0)
}

// Beside a slice there is room for 128 bytes: what is small goes along, what is larger waits for
// its tick, and takes no slice's place.
func TestBesideASlice(t *testing.T) {
	a, r, _ := quietClient(t, connection.Config{})
	check.Same(t, "error", a.Send(ms, unreliable, make([]byte, 100), 0), nil)
	check.Same(t, "error", a.Send(ms, unreliable, make([]byte, 125), 0), nil)
	check.Must(a.SendChunk(ms, make([]byte, 4*codec.SliceSize)))
	var got [][]int
	for now := core.Micros(ms); now < 100*ms; now += 10 {
		for _, d := range poll(a, now) {
			got = append(got, r.records(t, d))
			check.That(t, len(d) <= packet.MaxHeader+1160+session.CRC.Overhead(), "it fits")
		}
	}
	check.Equal(t, "records before the tick", got, [][]int{{aUnreliable, aSlice}, {aSlice}, {aSlice}, {aSlice}})
	out := poll(a, 100*ms)
	check.Equal(t, "records at the tick", r.records(t, out[0]), []int{aUnreliable})
}

// An application that sends all that it can keeps its rate, and does not stop a chunk; nor does
// the chunk stop it (CXM-4, CXM-5).
func TestMessagesAndSlicesShare(t *testing.T) {
	for _, rate := range []int64{64_000, 8_000_000, 24_000_000} {
		path := netsim.Path{Delay: 20 * time.Millisecond, Rate: 100e6, Queue: 1 << 20, Overhead: codec.HeaderBytes}
		a, b := pair(connection.Config{MessageRate: rate})
		w := newWorld(path, 1, a, b)
		read, chunkAt := int64(0), core.Micros(0)
		var next func()
		next = func() {
			for a.Send(w.Now(), unreliable, make([]byte, 1000), 0) == nil {
			}
			for m, ok := b.Read(w.Now(), unreliable, nil); ok; m, ok = b.Read(w.Now(), unreliable, nil) {
				if w.Now() >= begins {
					read += int64(len(m.Data))
				}
			}
			w.At(w.Now()+ms, next)
		}
		w.At(0, next)
		w.At(begins, func() { check.Must(a.SendChunk(w.Now(), make([]byte, codec.MaxChunkSize))) })
		w.Run(begins+second, func() bool {
			if chunkAt == 0 && b.ChunkSize() > 0 {
				chunkAt = w.Now() - begins
			}
			return false
		})
		used := read * 8
		t.Logf("%d bit/s: messages %d bit/s, chunk after %d us", rate, used, chunkAt)
		check.Same(t, "mode", a.Mode(), packet.Good)
		check.That(t, used <= rate+8*connection.MessageBurst, "messages keep their rate")
		check.That(t, used >= rate*80/100, "messages have their rate")
		check.That(t, chunkAt > 0 && chunkAt < 400*ms, "the chunk goes on")
	}
}

// While the mode is BAD messages have a quarter of their rate, and each is charged with all
// headers; a report, an ack and a pad need no budget.
func TestTheBudgetInBad(t *testing.T) {
	const rate = 64_000
	a, r, p := quietClient(t, connection.Config{MessageRate: rate})
	sent := 0
	for now := core.Micros(0); now < 9*second; now += 10 * ms {
		for a.Send(now, unreliable, make([]byte, 1000), 0) == nil {
		}
		for _, d := range poll(a, now) {
			if types := r.records(t, d); types[0] == aUnreliable {
				sent += len(d) + codec.HeaderBytes
			}
		}
		give(a, now, p.write(0)) // no sample: the mode stays BAD
	}
	check.Same(t, "mode", a.Mode(), packet.Bad)
	most := connection.MessageBurst + rate/4/8*9 + 1200
	t.Logf("%d bytes, at most %d", sent, most)
	check.That(t, sent <= most && sent > most-2400, "the rate is a quarter, and used")

	// The budget is spent: only what needs none goes.
	now := 9*second + ms
	poll(a, now)
	data := check.Must(channel.Format{}.Append(nil, &channel.Record{Type: channel.TypeMessage, Channel: ordered, Sequence: 1, Data: []byte("x")}))
	check.Same(t, "refusal", give(a, now, p.write(data...)), nil)
	out := poll(a, now)
	check.Equal(t, "datagrams", len(out), 1)
	check.Equal(t, "records", r.records(t, out[0]), []int{int(channel.TypeReport)})
}

// A message that goes alone finds its packet, larger than any other, while acks of chunks go all
// the time (CXM-1, CXM-11).
func TestALargeMessageWhileAChunkArrives(t *testing.T) {
	for seed := range uint64(20) {
		a, b := pair(connection.Config{})
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond, Rate: 20e6, Queue: 1 << 20}, seed, a, b)
		check.Must(b.SendChunk(0, make([]byte, codec.MaxChunkSize)))
		w.Wait(30 * ms)
		large := content(5000, seed)
		check.Same(t, "error", a.Send(w.Now(), unreliable, large, 0), nil)
		check.Same(t, "error", a.Send(w.Now(), unreliable, []byte("small"), 0), nil)
		var got [][]byte
		check.That(t, w.Run(w.Now()+200*ms, func() bool {
			for m, ok := b.Read(w.Now(), unreliable, nil); ok; m, ok = b.Read(w.Now(), unreliable, nil) {
				got = append(got, m.Data)
			}
			return len(got) == 2
		}), "both come")
		check.That(t, bytes.Equal(got[0], large) || bytes.Equal(got[1], large), "whole")
	}
}

// The acks of sixteen lanes do not fit one payload; all go all the same (CXM-1, CXM-10).
func TestAcksOfManyLanes(t *testing.T) {
	for name, variant := range variants {
		t.Run(name, func(t *testing.T) { acksOfManyLanes(t, variant) })
	}
}

func acksOfManyLanes(t *testing.T, variant uint8) {
	agreed := with(plenty, variant)
	agreed.Lanes = lanes.Most
	format := connection.Format{Lanes: lanes.Most, Repair: variant == session.VariantRepair}
	a, b := pairOf(session.CRC, agreed, connection.Config{}, connection.Config{})
	p := newPen(func() *session.Link { _, server := links(session.CRC, agreed); return server }())
	for k := range lanes.Most {
		for id := range 3 {
			r := connection.Record{Type: connection.TypeSlice, Lane: k}
			if data := make([]byte, codec.SliceSize); format.Repair {
				r.Slice = codec.Slice{SliceID: id, NumSlices: 256, LastBytes: codec.SliceSize, Data: data}
			} else {
				r.Slice = codec.Slice{SliceID: id, NumSlices: 256, Data: data}
			}
			check.Same(t, "refusal", give(a, 0, p.write(check.Must(format.Append(nil, &r))...)), nil)
		}
	}
	reads, acks := &reader{b.Link()}, 0
	for _, d := range poll(a, 5*ms) {
		for _, kind := range reads.records(t, d) {
			if kind == aChunkAck {
				acks++
			}
		}
	}
	check.Equal(t, "acks", acks, lanes.Most)
}

// A rate for slices holds, with all headers (CXM-5).
func TestMaxRateOfAConnection(t *testing.T) {
	const rate = 2_000_000
	a, b := pair(connection.Config{Chunks: lanes.Config{MaxRate: rate}})
	w := newWorld(netsim.Path{Delay: 5 * time.Millisecond}, 1, a, b)
	check.Must(a.SendChunk(0, make([]byte, codec.MaxChunkSize)))
	check.That(t, w.Run(10*second, func() bool { return b.ChunkSize() > 0 }), "it comes")
	st := a.Stats()
	used := (st.BytesSent + codec.HeaderBytes*st.DatagramsSent) * 8 * int64(second) / int64(w.Now())
	t.Logf("%d bit/s", used)
	check.That(t, used <= rate*102/100 && used > rate*9/10, "the rate is kept, and used")
}

// A chunk that goes while messages do yields, and one that goes alone a second after the last
// message does not (CXM-5).
func TestSlicesYield(t *testing.T) {
	for wait, want := range map[core.Micros]bool{500 * ms: true, second + ms: false} {
		told := !want
		a, _, _ := quietClient(t, connection.Config{Chunks: watching(&told)})
		check.Must(a.SendChunk(wait, make([]byte, codec.MaxChunkSize)))
		poll(a, wait)
		check.Equal(t, fmt.Sprint("it yields, ", wait, " us after a message"), told, want)
	}
}

// watched is a scheduler of which it is known whether it yields.
type watched struct {
	statemachine.Scheduler
	yields *bool
}

func (w watched) Yield(yields bool) { *w.yields = yields }

// watching makes such schedulers.
func watching(yields *bool) lanes.Config {
	return lanes.Config{
		NewScheduler: func() (statemachine.Scheduler, error) {
			s, err := lanes.Adaptive.NewScheduler(codec.Named, 0)
			return watched{s, yields}, err
		},
		NewRepairScheduler: func() (statemachine.Scheduler, error) {
			s, err := lanes.Adaptive.NewScheduler(codec.Repair, 0)
			return watched{s, yields}, err
		},
	}
}

// Nothing is lost by a move that the client was told of: what is sent right after it waits until
// the server knows where the client is, and then goes at once (CXL-16).
func TestSentRightAfterAMove(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{})
	n.Wait(200 * ms)
	c.at = address(8)
	c.Move(n.Now())
	at := n.Now()
	check.Same(t, "error", c.Conn().Send(at, ordered, []byte("here I am"), 0), nil)
	n.until("the server reads", second, func() bool { return p.Readable() != 0 })
	check.Same(t, "time", n.Now()-at, 100*ms) // two round trips, and half of one
	check.Equal(t, "message", read(p.Conn, n.Now(), ordered), "here I am")
	st := n.server.Stats()
	check.Equal(t, "refused for their address", st.Session.Silent(session.CodeAddress), 0)
}

// A client that closes right after a move says so when the server knows where it is, and not before
// (CXL-16).
func TestCloseRightAfterAMove(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{})
	n.Wait(200 * ms)
	c.at = address(8)
	c.Move(n.Now())
	at := n.Now()
	check.Same(t, "error", c.Close(at, 256, "bye"), nil)
	n.until("the server hears it", second, func() bool { return p.State() == connection.Closed })
	check.Same(t, "time", n.Now()-at, 100*ms) // two round trips, and half of one
	st := n.server.Stats()
	check.Equal(t, "refused for their address", st.Session.Silent(session.CodeAddress), 0)
	n.until("the client has closed", second, func() bool { return c.Conn().State() == connection.Closed })
	check.That(t, n.Now()-at < 200*ms, "it was answered")
}

// Whatever payload a peer with the key sends: nothing panics, a refused one changes nothing that
// can be seen, and what is held stays bounded.
func TestAnyPayload(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, p := alone(connection.Config{})
		now := core.Micros(0)
		for range rapid.IntRange(1, 20).Draw(t, "payloads") {
			now += core.Micros(rapid.IntRange(0, 50_000).Draw(t, "pause"))
			before := a.Readable()
			err := give(a, now, p.write(drawPayload(t)...))
			if err != nil {
				check.Equal(t, "readable", a.Readable(), before)
			}
			for range poll(a, now) {
			}
			deadline := a.Deadline()
			check.That(t, deadline > now, "nothing is due that was polled")
			if a.State() == connection.Closed {
				return
			}
		}
	})
}

// drawPayload draws a payload: records, whole or damaged, or any bytes.
func drawPayload(t *rapid.T) (b []byte) {
	for range rapid.IntRange(0, 4).Draw(t, "records") {
		switch rapid.IntRange(0, 5).Draw(t, "record") {
		case 0:
			b = append(b, rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "bytes")...)
		case 1, 2:
			r := drawRecord(t, twoLanes)
			b, _ = twoLanes.Append(b, &r)
		default:
			r := channel.Record{
				Type: channel.Type(rapid.IntRange(1, 6).Draw(t, "type")), Channel: rapid.Uint8Range(0, 3).Draw(t, "channel"),
				Sequence: rapid.Uint16().Draw(t, "sequence"), Count: rapid.IntRange(1, 64).Draw(t, "count"),
				Room: rapid.IntRange(0, 1024).Draw(t, "room"), Data: []byte("data"),
			}
			b, _ = channel.Format{}.Append(b, &r)
		}
	}
	if len(b) == 0 {
		return []byte{0}
	}
	if rapid.IntRange(0, 3).Draw(t, "damage") == 0 {
		b[rapid.IntRange(0, len(b)-1).Draw(t, "place")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
	}
	return b[:min(len(b), 1160)]
}

// What the packet layer knows of the path the channels know, too: a message that is lost is
// repeated soon after a round trip of 40 ms, and not after 250 ms, as on a path of which nothing
// is known (CXM-6).
func TestChannelsKnowThePath(t *testing.T) {
	a, b := pair(connection.Config{})
	w := newWorld(netsim.Path{Delay: 20 * time.Millisecond}, 1, a, b)
	for _, known := range []bool{false, true} {
		if known {
			w.Wait(5 * second)
			for range 10 {
				check.Same(t, "error", a.Send(w.Now(), ordered, []byte("x"), 0), nil)
				w.Wait(200 * ms)
				check.Equal(t, "message", read(b, w.Now(), ordered), "x")
			}
		}
		check.Same(t, "error", w.down.SetPath(netsim.Path{Loss: 100}), nil)
		at := w.Now()
		check.Same(t, "error", a.Send(at, ordered, []byte("lost"), 0), nil)
		w.Wait(30 * ms)
		check.Same(t, "error", w.down.SetPath(netsim.Path{Delay: 20 * time.Millisecond}), nil)
		check.That(t, w.Run(at+second, func() bool { return b.Readable() != 0 }), "it comes")
		check.Equal(t, "message", read(b, w.Now(), ordered), "lost")
		t.Logf("known %v: after %d us", known, w.Now()-at)
		check.Equal(t, "soon", w.Now()-at < 200*ms, known)
		w.Wait(second)
	}
}
