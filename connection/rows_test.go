package connection_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/statemachine"
)

// pen writes datagrams of an end of a connection that says whatever a test wants.
type pen struct {
	link    *session.Link
	packets *packet.Endpoint
}

// newPen returns the pen of the other end of a client.
func newPen(server *session.Link) *pen {
	return &pen{server, check.Must(packet.NewEndpoint(packet.Config{}))}
}

// write returns the datagram of a payload.
func (p *pen) write(payload ...byte) []byte {
	bodies, _, err := p.packets.Send(0, payload)
	check.Must(bodies, err)
	return p.link.Seal(nil, bodies[0])
}

// reads takes what the other end sent, so that the next packet acks it, and returns the payloads.
func (p *pen) reads(datagrams ...[]byte) (payloads [][]byte) {
	for _, d := range datagrams {
		body := check.Must(p.link.Open(nil, d))
		err := p.packets.Receive(0, body, func(d packet.Delivery) packet.Verdict {
			payloads = append(payloads, slices.Clone(d.Payload))
			return packet.TakeQuietly
		})
		if err != nil {
			panic(err)
		}
	}
	return payloads
}

// alone returns a client and the pen of its server.
func alone(cfg connection.Config) (*connection.Conn, *pen) {
	client, server := links(session.MAC, plenty)
	return check.Must(connection.NewConn(cfg, client, connection.ClientSide, 0)), newPen(server)
}

func wantRow(t testing.TB, c *connection.Conn, row core.Row, state connection.State) {
	t.Helper()
	check.Same(t, "row", c.Row(), row)
	check.Same(t, "state", c.State(), state)
}

// K1: what the envelope refuses is counted, and is no sign of life: the end times out as if it
// had not come (K5). K3: what the layers above refuse is one (CXL-3, CXL-4, CXL-11).
func TestSignsOfLife(t *testing.T) {
	unknown := []byte{0x0a}
	for _, c := range []struct {
		name  string
		makes func(p *pen) []byte
		row   core.Row
		alive bool
	}{
		{"a pad", func(p *pen) []byte { return p.write(0) }, "K3", true},
		{"a record that is refused", func(p *pen) []byte { return p.write(unknown...) }, "K3", true},
		{"another packet of the same number", func(p *pen) []byte {
			p.write(0)
			p.packets = check.Must(packet.NewEndpoint(packet.Config{}))
			return p.write(0)
		}, "K3", true},
		{"a body that is no packet", func(p *pen) []byte { return p.link.Seal(nil, []byte{0xff}) }, "K3", true},
		{"a wrong tag", func(p *pen) []byte {
			d := p.write(0)
			d[len(d)-1] ^= 1
			return d
		}, "K1", false},
		{"another link", func(p *pen) []byte {
			d := p.write(0)
			d[1] ^= 1
			return d
		}, "K1", false},
	} {
		a, p := alone(connection.Config{})
		poll(a, 0)
		refused := give(a, 9*second, c.makes(p)) != nil
		wantRow(t, a, c.row, connection.Open)
		poll(a, 10*second)
		if c.alive {
			wantRow(t, a, "K8", connection.Open)
			poll(a, 19*second-1)
			check.Same(t, "state", a.State(), connection.Open)
			poll(a, 19*second)
		}
		check.Same(t, "state", a.State(), connection.Closed)
		check.That(t, errors.Is(a.Err(), session.ErrTimeout), "it timed out")
		check.Equal(t, c.name+": refused", a.Stats().Refused > 0, refused)
	}
}

// A datagram that came before is refused, whatever it is.
func TestADatagramCountsOnce(t *testing.T) {
	a, b := pair(connection.Config{})
	check.Same(t, "error", a.Send(0, unordered, []byte("once"), 0), nil)
	sent := poll(a, 0)
	check.Same(t, "refusal", give(b, ms, sent...), nil)
	check.That(t, errors.Is(give(b, ms, sent...), session.ErrDuplicate), "a copy is refused")
	wantRow(t, b, "K1", connection.Open)
	check.Equal(t, "message", read(b, ms, unordered), "once")
	check.Equal(t, "message", read(b, ms, unordered), "")
}

// K4, K13, K2, K18, K10: an end closes, the other hears it, answers once, and both have closed
// (CXL-6, CXL-14).
func TestCloseIsHeard(t *testing.T) {
	a, b := pair(connection.Config{})
	exchange(a, b, 0)
	check.Same(t, "error", a.Close(ms, 65535, "good-bye"), nil)
	wantRow(t, a, "K4", connection.Closing)
	check.Same(t, "deadline", a.Deadline(), ms)
	said := poll(a, ms)
	check.Equal(t, "datagrams", len(said), 1)
	wantRow(t, a, "K14", connection.Closing)
	check.Same(t, "refusal", give(b, 2*ms, said...), nil)
	wantRow(t, b, "K2", connection.Closed)
	check.Same(t, "deadline", b.Deadline(), 2*ms)
	answer := poll(b, 2*ms)
	check.Equal(t, "datagrams", len(answer), 1)
	wantRow(t, b, "K19", connection.Closed)
	check.Same(t, "deadline", b.Deadline(), core.Never)
	check.Same(t, "refusal", give(a, 3*ms, answer...), nil)
	wantRow(t, a, "K10", connection.Closed)
	check.Equal(t, "datagrams", len(poll(a, 25*ms)), 0)
	wantRow(t, a, "K19", connection.Closed)
	check.Same(t, "deadline", a.Deadline(), core.Never)
	check.Equal(t, "what a says", a.Err().Error(), `connection: closed here, code 65535: "good-bye"`)
	check.Equal(t, "what b says", b.Err().Error(), `connection: closed by the other end, code 65535: "good-bye"`)

	// What comes now changes nothing: K16, K17, K22, K19.
	check.Same(t, "error", give(b, 4*ms, said...), b.Err())
	wantRow(t, b, "K16", connection.Closed)
	check.Same(t, "error", b.Close(4*ms, 300, ""), nil)
	wantRow(t, b, "K17", connection.Closed)
	check.Equal(t, "datagrams", len(poll(b, 4*ms)), 0)
	wantRow(t, b, "K19", connection.Closed)
}

// K13, K12: nobody answers. CLOSE goes six times, and a second later it is over (CXL-5).
func TestCloseThatNobodyHears(t *testing.T) {
	a, b := pair(connection.Config{})
	exchange(a, b, 0)
	at := second
	check.Same(t, "error", a.Close(at, connection.CodeDone, ""), nil)
	var times []core.Micros
	for now := at; a.State() != connection.Closed; now = max(now+1, a.Deadline()) {
		for range poll(a, now) {
			times = append(times, now-at)
		}
		if a.State() == connection.Closed {
			check.Same(t, "time of the end", now-at, connection.CloseTime)
		}
	}
	check.Equal(t, "times", times, []core.Micros{0, 20 * ms, 60 * ms, 140 * ms, 300 * ms, 620 * ms})
	check.Equal(t, "what it says", a.Err().Error(), "connection: closed here, code 0")
}

// K11, K9: what comes from an end that has not heard the CLOSE draws another, at most one each 20
// ms; what is refused draws none. A poll that comes late sends one CLOSE.
func TestCloseIsSaidAgain(t *testing.T) {
	a, p := alone(connection.Config{})
	poll(a, 0)
	check.Same(t, "error", a.Close(second, 300, ""), nil)
	at := func(d core.Micros) core.Micros { return second + d }
	check.Equal(t, "datagrams", len(poll(a, at(400*ms))), 1)
	check.Same(t, "deadline", a.Deadline(), at(620*ms))
	for _, d := range [][]byte{p.write(0), p.write(0)} {
		check.Same(t, "refusal", give(a, at(405*ms), d), nil)
		wantRow(t, a, "K11", connection.Closing)
	}
	check.Same(t, "deadline", a.Deadline(), at(420*ms))
	check.Equal(t, "datagrams", len(poll(a, at(419*ms))), 0)
	check.Equal(t, "datagrams", len(poll(a, at(420*ms))), 1)
	check.Same(t, "deadline", a.Deadline(), at(620*ms))
	give(a, at(430*ms), []byte("?"))
	wantRow(t, a, "K9", connection.Closing)
	check.Equal(t, "datagrams", len(poll(a, at(500*ms))), 0)
	check.Same(t, "refusal", give(a, at(700*ms), p.write(0)), nil)
	check.Equal(t, "datagrams", len(poll(a, at(700*ms))), 1)
	check.Same(t, "deadline", a.Deadline(), at(second))
	check.Same(t, "error", a.Close(at(800*ms), 500, "another"), nil)
	wantRow(t, a, "K15", connection.Closing)
	check.Equal(t, "what it says", a.Err().Error(), "connection: closed here, code 300")
}

// A CLOSE that is lost again and again is heard in the end, as long as one of the six comes.
func TestCloseUnderLoss(t *testing.T) {
	heard := 0
	const seeds = 200
	for seed := range uint64(seeds) {
		n := newNetwork(t, seed, 1, anyone)
		c, p := n.open(0, connection.ClientConfig{})
		n.loss = 30
		check.Same(t, "error", p.Close(n.Now(), 400, "over"), nil)
		at := n.Now()
		n.until("both have closed", 11*second, func() bool { return c.State() == session.Closed && p.State() == connection.Closed })
		if errors.Is(c.Err(), connection.ErrClosed) {
			heard++
			check.That(t, n.Now()-at <= connection.CloseTime+c.Conn().Estimates(n.Now()).SRTT, "soon")
		}
	}
	t.Logf("heard %d times of %d", heard, seeds)
	check.That(t, heard >= seeds-1, "six times 30 % of loss is rare")
}

// Both ends close at once: each hears the other's CLOSE, and that is all.
func TestBothClose(t *testing.T) {
	a, b := pair(connection.Config{})
	exchange(a, b, 0)
	check.Same(t, "error", a.Close(ms, 300, "a"), nil)
	check.Same(t, "error", b.Close(ms, 400, "b"), nil)
	exchange(a, b, ms)
	wantRow(t, a, "K19", connection.Closed)
	wantRow(t, b, "K19", connection.Closed)
	check.Equal(t, "what a says", a.Err().Error(), `connection: closed here, code 300: "a"`)
	check.Equal(t, "what b says", b.Err().Error(), `connection: closed here, code 400: "b"`)
}

// An application has the code 0, those from 256 on, and a short text (CXR-4).
func TestCloseRefuses(t *testing.T) {
	a, _ := alone(connection.Config{})
	for _, c := range []struct {
		code uint16
		text string
		want error
	}{{1, "", connection.ErrReserved}, {255, "", connection.ErrReserved}, {0, strings.Repeat("x", 129), connection.ErrLength}, {256, "\xff", connection.ErrText}} {
		check.That(t, errors.Is(a.Close(0, c.code, c.text), c.want), c.want.Error())
		check.Same(t, "state", a.State(), connection.Open)
	}
	check.Same(t, "error", a.Close(0, 256, strings.Repeat("x", 128)), nil)
}

// A channel that is given up is reported, at the end where it failed; the connection and its other
// channels go on (CXL-17, CHC-6).
func TestAChannelFails(t *testing.T) {
	var log logtest.Text
	cfg := connection.Config{Log: log.Add, Channels: []channel.Config{{ID: 0, Kind: channel.Ordered, GiveUp: 2 * second}, {ID: 1, Kind: channel.Ordered}}}
	a, b := pair(cfg)
	check.Same(t, "error", a.Send(0, 0, []byte("x"), 0), nil)
	p, now := newPen(b.Link()), core.Micros(0)
	for ; a.Failed() == 0; now += 500 * ms {
		poll(a, now)
		give(a, now, p.write(0)) // the other end is there, but reports nothing of this channel
		check.That(t, now < 5*second, "it fails")
	}
	check.Equal(t, "failed", a.Failed(), 1)
	check.That(t, errors.Is(a.ChannelErr(0), channel.ErrFailed) && a.ChannelErr(1) == nil, "it says which, and why")
	check.That(t, errors.Is(a.Send(now, 0, []byte("y"), 0), channel.ErrFailed), "it takes no more")
	check.That(t, a.State() == connection.Open && a.Err() == nil && !a.Delivered(), "the connection stays")
	check.Same(t, "error", a.Send(now, 1, []byte("z"), 0), nil)
	check.Equal(t, "the other", p.reads(poll(a, now)...), [][]byte{{2, 1, 0, 0, 1, 0, 'z'}})
	check.That(t, a.Deadline() > now, "nothing is due for ever")
	poll(a, now+second)
	logged := slices.DeleteFunc(log.Lines, func(line string) bool { return !strings.Contains(line, "channel_failed") })
	check.Equal(t, "log", logged, []string{"2000.000 client 287454020 channel_failed channel=0 why=gave_up"})
}

// K6: a chunk machine that is given up ends the connection, and the other end hears that it failed
// (CXL-7).
func TestALaneFails(t *testing.T) {
	a, b := pair(connection.Config{Chunks: lanes.Config{GiveUp: 2 * second}})
	exchange(a, b, 0)
	check.Must(a.SendChunk(0, make([]byte, 5000)))
	p, now := newPen(b.Link()), core.Micros(0)
	for ; a.State() == connection.Open; now += 500 * ms {
		poll(a, now)
		give(a, now, p.write(0))
		if now > 5*second {
			t.Fatal("it does not fail")
		}
	}
	check.That(t, errors.Is(a.Err(), connection.ErrFailed) && errors.Is(a.Err(), statemachine.ErrGaveUp), a.Err().Error())
	check.Equal(t, "CLOSE", p.reads(poll(a, now)...), [][]byte{{7, byte(connection.CodeFailed), 0, 0}})
}

// Unless they are set, machines give up later than the connection times out (CXP-6).
func TestAnOutageEndsByTimeout(t *testing.T) {
	a, b := pair(connection.Config{})
	exchange(a, b, 0)
	check.Same(t, "error", a.Send(0, ordered, []byte("x"), 0), nil)
	check.Must(a.SendChunk(0, make([]byte, 5000)))
	for now := core.Micros(0); a.State() == connection.Open; now = max(now+1, a.Deadline()) {
		poll(a, now)
	}
	check.That(t, errors.Is(a.Err(), session.ErrTimeout), a.Err().Error())
}

// After the end nothing can be sent, and what came before can be read (CXL-12).
func TestReadAfterTheEnd(t *testing.T) {
	a, b := pair(connection.Config{})
	check.Same(t, "error", a.Send(0, ordered, []byte("last words"), 0), nil)
	check.Must(a.SendChunk(0, content(100, 1)))
	exchange(a, b, 0)
	check.Same(t, "error", a.Close(ms, 0, ""), nil)
	exchange(a, b, ms)
	for _, c := range []*connection.Conn{a, b} {
		check.Same(t, "refusal", c.Send(2*ms, ordered, []byte("more"), 0), c.Err())
		_, err := c.SendChunk(2*ms, []byte("more"))
		check.Same(t, "refusal", err, c.Err())
	}
	check.Equal(t, "message", read(b, 2*ms, ordered), "last words")
	check.Equal(t, "size", b.ChunkSize(), 100)
	chunk, ok := b.ReadChunk(2*ms, []byte("before "))
	check.That(t, ok, "a chunk can be read")
	wantBytes(t, "chunk", chunk, append([]byte("before "), content(100, 1)...))
}

// With no lanes agreed there are no chunks.
func TestNoLanes(t *testing.T) {
	client, server := links(session.CRC, session.Agreed{Timeout: 10 * second})
	a := check.Must(connection.NewConn(connection.Config{}, client, connection.ClientSide, 0))
	_, err := a.SendChunk(0, []byte("x"))
	check.Same(t, "refusal", err, connection.ErrNoLanes)
	_, done := a.ChunkDone()
	_, got := a.ReadChunk(0, nil)
	check.That(t, !done && !got && !a.WithdrawChunk(0) && a.ChunkSize() == 0, "there is none")
	slice := check.Must(connection.Format{Lanes: 1}.Append(nil, &connection.Record{Type: connection.TypeSlice, Slice: codec.Slice{NumSlices: 1, Data: []byte("x")}}))
	check.That(t, errors.Is(give(a, 0, newPen(server).write(slice...)), connection.ErrLane), "no slice is taken")
	check.Equal(t, "counted", func() int64 { s := a.Stats(); return s.RefusedRecords(connection.CodeLane) }(), 1)
	poll(a, second)
	check.That(t, a.Delivered(), "there is nothing to deliver")
}

// A payload is checked whole before anything of it counts (CXR-5).
func TestNothingIsHalfApplied(t *testing.T) {
	message := check.Must(channel.Format{}.Append(nil, &channel.Record{Type: channel.TypeMessage, Channel: ordered, Data: []byte("x")}))
	for name, bad := range map[string][]byte{
		"unknown":              {0x0a},
		"pad":                  {0},
		"close":                {7, 0, 0, 0},
		"slice of no lane":     {8, 9, 0},
		"ack that ends":        {9, 0, 4, 0},
		"channel that is none": {2, 60, 0, 0, 1, 0, 1},
	} {
		a, p := alone(connection.Config{})
		poll(a, 0)
		err := give(a, ms, p.write(append(message[:len(message):len(message)], bad...)...))
		check.That(t, err != nil, name)
		check.Equal(t, name, read(a, ms, ordered), "")
		check.Same(t, "state", a.State(), connection.Open)
		check.Equal(t, "received", a.Stats().Packets.Received, 0)
		check.Same(t, "refusal", give(a, ms, p.write(message...)), nil)
		check.Equal(t, name, read(a, ms, ordered), "x")
	}
}

// A CLOSE that is not alone closes nothing.
func TestACloseThatIsNotAlone(t *testing.T) {
	a, p := alone(connection.Config{})
	poll(a, 0)
	check.That(t, errors.Is(give(a, 0, p.write(7, 0, 1, 0, 0)), connection.ErrNotAlone), "it is refused")
	wantRow(t, a, "K3", connection.Open)
	check.Same(t, "refusal", give(a, 0, p.write(7, 0, 1, 0)), nil)
	wantRow(t, a, "K2", connection.Closed)
}
