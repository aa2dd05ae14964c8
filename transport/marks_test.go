package transport_test

import (
	"bytes"
	"net"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// carries sends chunks from a client to a server, and returns what both did.
func carries(t *testing.T, client, server *transport.Peer, chunks int) (sent, received transport.Stats) {
	t.Helper()
	for range chunks {
		data := bytes.Repeat([]byte("slice"), 20_000)
		if err := client.Chunks().Send(background, data); err != nil {
			t.Fatal(err)
		}
		if got, err := server.Chunks().Recv(background); err != nil || !bytes.Equal(got, data) {
			t.Fatal(len(got), err)
		}
	}
	if err := client.Flush(background); err != nil {
		t.Fatal(err)
	}
	return client.Stats(), server.Stats()
}

// bleached is a socket whose path takes the field ECN away.
type bleached struct{ netsim.ECNConn }

func (c bleached) WriteToECN(b []byte, to net.Addr, _ uint8) (int, error) { return c.WriteTo(b, to) }

// Both ends' sockets have the field: slices go with it, and a link that marks them is heard. If
// one end has not, or does not want it, or the path takes it away, all goes without (CXM-12).
func TestMarksOfALink(t *testing.T) {
	path := netsim.Path{Delay: 10 * ms, Rate: 20e6, MarkAbove: 5000, Overhead: 28}
	for _, c := range []struct {
		name   string
		cfg    transport.Config
		wrap   func(netsim.ECNConn) net.PacketConn
		agreed uint16
	}{
		{"both have it", transport.Config{}, func(c netsim.ECNConn) net.PacketConn { return c }, session.ExtensionECN},
		{"one does not want it", transport.Config{NoECN: true}, func(c netsim.ECNConn) net.PacketConn { return c }, 0},
		{"one has it not", transport.Config{}, func(c netsim.ECNConn) net.PacketConn { return c.Conn }, 0},
		{"the path has it not", transport.Config{}, func(c netsim.ECNConn) net.PacketConn { return bleached{c} }, session.ExtensionECN},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, net: netsim.NewNetwork(1)}
			w.net.SetDefault(path)
			var err error
			if w.server, err = transport.New(netsim.ECNConn{Conn: w.listen("s").(*netsim.Conn)}, transport.Config{}); err != nil {
				t.Fatal(err)
			}
			defer w.server.Close()
			client, err := transport.Over(background, c.wrap(netsim.ECNConn{Conn: w.listen("c").(*netsim.Conn)}), netsim.Addr("s"), c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close(0, "")
			server, err := w.server.Accept(background)
			if err != nil {
				t.Fatal(err)
			}
			sent, received := carries(t, client, server, 3)
			marked := w.net.Stats("c", "s").Marked
			if sent.Agreed.Extensions != c.agreed|session.ExtensionClock || marked == 0 {
				t.Errorf("%s: the extensions are %d, the link has marked %d", c.name, sent.Agreed.Extensions, marked)
			}
			if c.name == "both have it" {
				if sent.CEReported < 30 || sent.CEReported > received.CEReceived || sent.CEReported+10 < received.CEReceived {
					t.Errorf("%s: %d were marked, %d came so, %d were told", c.name, marked, received.CEReceived, sent.CEReported)
				}
			} else if sent.CEReported != 0 || sent.ECTSent > 100 || c.agreed == 0 && sent.ECTSent > 0 {
				t.Errorf("%s: %d went with ECT, %d marks were told", c.name, sent.ECTSent, sent.CEReported)
			}
		})
	}
}

// Sockets of Linux have the field; the loopback interface leaves it as it is.
func TestMarksOverUDP(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the field is read and set on Linux only")
	}
	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{})
	if err != nil {
		t.Skipf("no loopback: %v", err)
	}
	defer server.Close()
	client, err := transport.Dial(background, "udp", server.Addr().String(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(0, "")
	peer, err := server.Accept(background)
	if err != nil {
		t.Fatal(err)
	}
	there, _ := carries(t, client, peer, 3)
	back, _ := carries(t, peer, client, 3)
	for _, st := range []transport.Stats{there, back} {
		if st.ECTSent < 250 || st.CEReported != 0 {
			t.Errorf("%d slices went with ECT, %d marks were told", st.ECTSent, st.CEReported)
		}
	}
}
