package connection_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// What a log has of a message, a packet that is lost on the way, a chunk, a datagram that was
// changed, and the end. Both ends have the number of the link.
func TestLog(t *testing.T) {
	var atA, atB logtest.Text
	client, server := links(session.CRC, plenty)
	a := check.Must(connection.NewConn(connection.Config{Log: atA.Add}, client, connection.ClientSide, 0))
	b := check.Must(connection.NewConn(connection.Config{Log: atB.Add}, server, connection.ServerSide, 0))
	exchange(a, b, 0)
	check.Same(t, "send", a.Send(20*ms, ordered, []byte("hello"), 0), nil)
	exchange(a, b, 20*ms)
	check.Equal(t, "read", read(b, 21*ms, ordered), "hello")
	check.Must(a.SendChunk(40*ms, make([]byte, 100)))
	exchange(a, b, 40*ms)
	_, _ = b.ReadChunk(41*ms, nil)
	exchange(a, b, 50*ms)
	check.Same(t, "send", a.Send(80*ms, unreliable, []byte("jump"), 0), nil)
	changed := poll(a, 130*ms)[0]
	changed[len(changed)-1] ^= 1
	check.That(t, b.Receive(131*ms, changed) != nil, "a changed datagram is refused")
	check.Same(t, "close", a.Close(150*ms, 300, "bye"), nil)
	exchange(a, b, 150*ms)

	check.Equal(t, "at the client", strings.Join(atA.Lines, "\n"), strings.TrimSpace(`
0.000 client 287454020 connection_started role=client mode=crc variant=slices lanes=2 protocol_id=0000000000000000
0.000 client 287454020 packet_sent number=0 bytes=1
0.000 client 287454020 packet_received number=0 bytes=1
20.000 client 287454020 message_sent channel=1 bytes=5
20.000 client 287454020 packet_sent number=1 bytes=11
40.000 client 287454020 chunk_started lane=0 chunk=0 bytes=100 slices=1 direction=out
40.000 client 287454020 state machine=sender lane=0 from=IDLE to=SENDING row=S1
40.000 client 287454020 metrics limit=16 in_flight=1 mode=opening
40.000 client 287454020 slice_sent lane=0 chunk=0 slice=0 bytes=114 times=1 why=first
40.000 client 287454020 state machine=sender lane=0 from=SENDING to=SENDING row=S13
40.000 client 287454020 packet_sent number=2 bytes=108
40.000 client 287454020 packet_received number=1 bytes=7
40.000 client 287454020 packet_acked number=1
40.000 client 287454020 packet_acked number=0
40.000 client 287454020 packet_received number=2 bytes=7
40.000 client 287454020 ack_received lane=0 chunk=0 have=1 slices=1 complete=true
40.000 client 287454020 slice_acked lane=0 chunk=0 slice=0
40.000 client 287454020 rtt_sampled lane=0 chunk=0 slice=0 rtt_ms=0.000
40.000 client 287454020 chunk_completed lane=0 chunk=0 bytes=100 direction=out elapsed_ms=0.000
40.000 client 287454020 state machine=sender lane=0 from=SENDING to=IDLE row=S10
40.000 client 287454020 packet_acked number=2
80.000 client 287454020 message_sent channel=0 bytes=4
130.000 client 287454020 packet_sent number=3 bytes=8
150.000 client 287454020 state machine=connection from=OPEN to=CLOSING row=K4
150.000 client 287454020 packet_sent number=4 bytes=7
150.000 client 287454020 packet_received number=3 bytes=4
150.000 client 287454020 state machine=connection from=CLOSING to=CLOSED row=K10
150.000 client 287454020 connection_ended why=closed code=300 text=bye
150.000 client 287454020 packet_acked number=4
`))
	check.Equal(t, "at the server", strings.Join(atB.Lines, "\n"), strings.TrimSpace(`
0.000 server 287454020 connection_started role=server mode=crc variant=slices lanes=2 protocol_id=0000000000000000
0.000 server 287454020 packet_sent number=0 bytes=1
0.000 server 287454020 packet_received number=0 bytes=1
20.000 server 287454020 packet_received number=1 bytes=11
20.000 server 287454020 packet_acked number=0
21.000 server 287454020 message_delivered channel=1 sequence=0 bytes=5
40.000 server 287454020 packet_sent number=1 bytes=7
40.000 server 287454020 packet_received number=2 bytes=108
40.000 server 287454020 slice_received lane=0 chunk=0 slice=0 bytes=114 as=new
40.000 server 287454020 chunk_started lane=0 chunk=0 slices=1 direction=in
40.000 server 287454020 chunk_completed lane=0 chunk=0 bytes=100 direction=in elapsed_ms=0.000
40.000 server 287454020 state machine=receiver lane=0 from=WAITING to=READY row=R1
40.000 server 287454020 ack_sent lane=0 chunk=0 have=1 slices=1 complete=true
40.000 server 287454020 state machine=receiver lane=0 from=READY to=READY row=R24
40.000 server 287454020 packet_sent number=2 bytes=7
41.000 server 287454020 state machine=receiver lane=0 from=READY to=WAITING row=R16
131.000 server 287454020 datagram_refused code=tag sentence=CXE-25 size=29
150.000 server 287454020 packet_received number=4 bytes=7
150.000 server 287454020 state machine=connection from=OPEN to=CLOSED row=K2
150.000 server 287454020 connection_ended why=closed_by_peer code=300 text=bye
150.000 server 287454020 packet_acked number=2
150.000 server 287454020 packet_acked number=1
150.000 server 287454020 packet_sent number=3 bytes=4
`))
}

// A log costs no allocation in a connection.
func TestLogAllocatesNothing(t *testing.T) {
	events := 0
	l := newLine(session.CRC, session.VariantSlices, 1, connection.Config{Log: func(eventlog.Event) { events++ }})
	message, into := make([]byte, 100), make([]byte, 0, 1024)
	l.sendMessages(message, into)
	check.Equal(t, "allocations of three messages", testing.AllocsPerRun(100, func() { l.sendMessages(message, into) }), 0)
	check.That(t, events > 500, "it was on")
}

// What strangers send, and what somebody sends from a client's address under its link, is logged in an amount that
// does not grow with its number (CXA-5): 20,000 datagrams in 10 s are some 300 events of a code, with the number
// of the others.
func TestAFloodIsNotLogged(t *testing.T) {
	events, omitted := map[string]int{}, int64(0)
	server := anyone
	server.Log = func(e eventlog.Event) {
		if e.Kind == eventlog.DatagramRefused {
			events[e.Code]++
			omitted += e.Count
		}
	}
	n := newNetwork(t, 1, 1, server)
	_, p := n.open(0, connection.ClientConfig{})
	forged := make([]byte, 40)
	forged[0] = byte(session.AEAD)
	start := n.Now()
	for i := range 20_000 {
		now := start + core.Micros(i)*500
		link := uint32(i) | 1<<31
		if i%2 == 0 {
			link = p.Link().ID()
		}
		binary.LittleEndian.PutUint32(forged[1:], link)
		binary.LittleEndian.PutUint32(forged[5:], uint32(i)+100)
		from := address(i % 256)
		if i%2 == 0 {
			from = p.Address()
		}
		_, err := n.server.Receive(now, from, forged, nil)
		check.That(t, err != nil, "a forged datagram was taken")
	}
	t.Logf("%v, and %d left out", events, omitted)
	check.That(t, events["tag"] >= 16 && events["tag"] <= 17, "there are events of one source")
	check.That(t, events["unknown_link"] >= 256 && events["unknown_link"] <= 267, "there are events of all strangers")
	check.That(t, omitted > 0, "what was left out is counted")
}
