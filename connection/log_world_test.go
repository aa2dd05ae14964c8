package connection_test

import (
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/eventlog"
)

// What a log has of a handshake, an address that changes, a datagram of nobody, and the end; and
// of clients that are refused, that hear nothing, and that are closed before they are open.
func TestLogOfHandshakes(t *testing.T) {
	var log logtest.Text
	cfg := connection.Config{Log: log.Add}
	server := anyone
	server.Config = cfg
	n := newNetwork(t, 1, 1, server)
	c, _ := n.open(0, connection.ClientConfig{Config: cfg})
	c.at = address(7)
	c.Move(n.Now())
	n.until("it has moved", second, func() bool { return len(n.server.moved) > 0 && c.State() == session.Open })
	_, _ = n.server.Receive(n.Now(), address(9), []byte{99}, nil)
	check.Same(t, "close", c.Close(n.Now(), 256, "bye"), nil)
	n.Wait(second)
	other := connection.ClientConfig{Config: cfg}
	other.Protocol = 7
	c = n.link(0, other)
	n.Wait(second)
	check.Same(t, "state", c.State(), session.Closed)
	n.loss = 100
	other.Timeout = 2 * second
	n.link(0, other)
	n.Wait(3 * second)
	c = n.link(0, other)
	check.Same(t, "close", c.Close(n.Now(), 256, "no"), nil)

	lines := log.Without("packet_sent", "packet_received", "packet_acked")
	check.Equal(t, "the log", strings.Join(lines, "\n"), strings.TrimSpace(`
60.000 server 4234204423 state machine=session-server from=FREE to=UNCONFIRMED row=J3
80.000 client state machine=session-client from=LINKING to=OPEN row=I8
80.000 client 4234204423 connection_started role=client mode=aead variant=repair lanes=16 protocol_id=0000000000000000
100.000 server 4234204423 connection_started role=server remote=10.0.0.1:0 mode=aead variant=repair lanes=16 protocol_id=0000000000000000
100.000 server 4234204423 state machine=session-server from=UNCONFIRMED to=CONFIRMED row=J9
100.000 client 4234204423 state machine=session-client from=OPEN to=RELINKING row=I22
160.000 server 4234204423 connection_moved remote=10.0.0.7:0
180.000 client 4234204423 state machine=session-client from=RELINKING to=OPEN row=I30
180.000 server datagram_refused code=unknown_kind sentence=CXH-21 size=1
180.000 client 4234204423 state machine=connection from=OPEN to=CLOSING row=K4
200.000 server 4234204423 state machine=connection from=OPEN to=CLOSED row=K2
200.000 server 4234204423 connection_ended why=closed_by_peer code=256 text=bye
200.000 server 4234204423 state machine=session-server from=CONFIRMED to=ENDED row=J20
220.000 client 4234204423 state machine=connection from=CLOSING to=CLOSED row=K10
220.000 client 4234204423 connection_ended why=closed code=256 text=bye
220.000 client 4234204423 state machine=session-client from=OPEN to=CLOSED row=I23
220.000 server datagram_refused code=ended_link sentence=CXE-20 size=40
1260.000 client state machine=session-client from=LINKING to=CLOSED row=I10
1260.000 client connection_ended why=refused text=protocol
4180.000 client state machine=session-client from=LINKING to=CLOSED row=I1
4180.000 client connection_ended why=timeout
5180.000 client state machine=session-client from=LINKING to=CLOSED row=I14
5180.000 client connection_ended why=closed code=256 text=no
`))
}

// Over any network each kind of event comes as often as the statistics say.
func TestLogCountsAsStatsDo(t *testing.T) {
	for seed := range uint64(20) {
		counts := map[eventlog.End]map[string]int64{eventlog.Client: {}, eventlog.Server: {}}
		log := func(e eventlog.Event) {
			counts[e.End][e.Kind.String()]++
		}
		cfg := connection.Config{Log: log}
		cfg.Lanes = 1 + int(seed%3)
		server := anyone
		server.Config = cfg
		n := newNetwork(t, seed, 1, server)
		c, p := n.open(0, connection.ClientConfig{Config: cfg})
		n.loss, n.copies, n.jitter = 3*int(seed%5), 2*int(seed%7), 20*ms
		for round := range 20 {
			for _, from := range []*connection.Conn{c.Conn(), p.Conn} {
				check.Same(t, "send", from.Send(n.Now(), unordered, content(1+100*round, seed), 0), nil)
				_, _ = from.SendChunk(n.Now(), content(3000, seed))
			}
			if round == 10 {
				c.at = address(5)
			}
			n.Wait(100 * ms)
			for _, at := range []*connection.Conn{c.Conn(), p.Conn} {
				for read(at, n.Now(), unordered) != "" {
				}
				_, _ = at.ReadChunk(n.Now(), nil)
			}
		}
		for end, conn := range map[eventlog.End]*connection.Conn{eventlog.Client: c.Conn(), eventlog.Server: p.Conn} {
			st, n := conn.Stats(), counts[end]
			check.Equal(t, "counts", map[string]int64{
				"slice_sent": n["slice_sent"], "ack_received": n["ack_received"], "slice_received": n["slice_received"], "ack_sent": n["ack_sent"],
			}, map[string]int64{
				"slice_sent": st.Chunks.Sender.SlicesSent, "ack_received": st.Chunks.Sender.AcksReceived,
				"slice_received": st.Chunks.Receiver.SlicesReceived, "ack_sent": st.Chunks.Receiver.AcksSent,
			})
			check.Equal(t, "packets", []int64{n["packet_received"], n["packet_acked"], n["packet_lost"]},
				[]int64{st.Packets.Received, st.Packets.Acked, st.Packets.Lost})
		}
	}
}
