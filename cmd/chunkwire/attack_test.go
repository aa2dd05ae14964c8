package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport"
)

// The attacks on send and recv: what they do with --plain, and what to connections. Those on
// the protocols are in transport/attack.

// kindsOfSend are the protocols of send and recv, by their flags: connections are not encrypted, so that what is
// forged would make sense if its tag were not compared.
var kindsOfSend = []struct {
	name  string
	flags []string
}{{"plain", []string{"--plain"}}, {"connections", []string{"--mode", "mac"}}}

// blindDatagrams are what somebody can send to a recv who has seen nothing: each kind of
// message of a connection, and what begins a chunk or is a whole one.
func blindDatagrams(t *testing.T, chunk []byte) (all [][]byte) {
	t.Helper()
	offer := session.Offer{Mode: session.MAC, Protocol: defaultProtocolID, Lanes: 8, Variants: 1, Timeout: session.DefaultTimeout}
	agreed := session.Agreed{Link: 7, Lanes: 8, Variant: 1, Timeout: session.DefaultTimeout}
	for _, m := range []session.Message{
		{Kind: session.KindLink, Offer: offer}, {Kind: session.KindProof, Offer: offer}, {Kind: session.KindLinked, Offer: offer, Agreed: agreed},
		{Kind: session.KindRefused, Offer: offer, Reason: session.ConnectionClosed}, {Kind: session.KindChallenge, Offer: offer},
		{Kind: session.KindMAC, Agreed: agreed, Body: chunk, Tag: make([]byte, 8)},
	} {
		d, err := m.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return append(all, chunkOf(t, 0, chunk), chunkOf(t, 1, withHash(nil)), sliceOf(t, 0, 255, 256))
}

// chunkOf is the datagram of a chunk of one slice with --plain.
func chunkOf(t *testing.T, id uint16, chunk []byte) []byte {
	t.Helper()
	d, err := codec.NewFramer(defaultProtocolID).AppendSlice(nil, codec.Slice{ChunkID: id, NumSlices: 1, Data: chunk})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// anonymousClient is an anonymous client that owns its address, as a send is one.
func anonymousClient(t *testing.T, addr string, maxRate int64, mode ...session.Mode) *transport.Peer {
	t.Helper()
	p, err := transport.Dial(t.Context(), "udp", addr, transport.Config{
		Mode: append(mode, 0)[0], ProtocolID: defaultProtocolID, Channels: []channel.Config{}, MaxRate: maxRate,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(0, "") })
	return p
}

// A3: recv serves strays one at a time. Those who forge, one that sends a chunk of 256 KiB at 64
// kbit/s, and one that says nothing, hold up no file, move no timeout, and fill no terminal.
func TestA3(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfSend {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			strays := func(addr string) {
				conn := from(t, addr)
				for range 100 {
					for _, d := range blindDatagrams(t, []byte("hello")) {
						_, _ = conn.Write(d)
					}
				}
				if kind.name == "connections" {
					anonymousClient(t, addr, 0, session.MAC)
					if err := anonymousClient(t, addr, 0, session.MAC).Chunks().Send(t.Context(), headerOf(make([]byte, 1_000_000))); err != nil { // and nothing more
						t.Fatal(err)
					}
					if _, err := anonymousClient(t, addr, 64_000, session.MAC).Chunks().Enqueue(t.Context(), make([]byte, 262_144)); err != nil {
						t.Fatal(err)
					}
					return
				}
				go func() { // a slice now and then
					for id := range 100 {
						_, _ = conn.Write(sliceOf(t, 0, id, 256))
						time.Sleep(100 * time.Millisecond)
					}
				}()
			}
			want := simulate.Pattern(3_000_000, 1)
			out := filepath.Join(t.TempDir(), "out")
			addr, ended := startRecv(t, append(kind.flags, "--give-up", "60s", "--out", out)...) // for which a silent client could hold it up
			strays(addr)
			time.Sleep(300 * time.Millisecond)
			start := time.Now()
			sent := runCommand(t, nil, append([]string{"send", "--to", addr, inputFile(t, want)}, kind.flags...)...)
			took := time.Since(start)
			received := <-ended
			wantStored(t, out, want, sent, received)
			lines := strings.Count(received.stderr, "\n")
			t.Logf("%s: 3 MB beside strays: %v, recv prints %d lines", kind.name, took, lines)
			if took > 25*time.Second || lines > 15 {
				t.Errorf("it took %v, and recv says: %s\nsend: %s", took, received.stderr, sent.stderr)
			}

			addr, ended = startRecv(t, append(kind.flags, "--wait", "5s", "--out", out)...)
			start = time.Now()
			strays(addr)
			received = <-ended
			t.Logf("%s: --wait 5s beside strays: exit %d after %v", kind.name, received.code, time.Since(start))
			if took := time.Since(start); received.code != exitTimeout || took > 12*time.Second {
				t.Errorf("after %v: %+v", took, received)
			}

			addr, ended = startRecv(t, append(kind.flags, "--timeout", "5s", "--out", out)...)
			strays(addr)
			time.Sleep(5500 * time.Millisecond)
			want = want[:30_000] // in 5 s on a machine that does much else: it is the beginning of the timeout that counts
			sent = runCommand(t, nil, append([]string{"send", "--to", addr, inputFile(t, want)}, kind.flags...)...)
			wantStored(t, out, want, sent, <-ended)
		})
	}
}

// A4: a forged receipt. Whoever is between the ends forges it, all that can be forged, and lets nothing through but the
// handshake: send does not end well. The file is one slice, since a receipt that comes before all were sent is an error.
func TestA4(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfSend {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			addr, ended := startRecv(t, append(kind.flags, "--give-up", "2s", "--wait", "4s", "--out", out)...)
			between := newForger(t, addr, true, blindDatagrams(t, []byte("CWR1\x00")), nil, []byte("CWR1\x00"))
			sent := runCommand(t, nil, append([]string{"send", "--give-up", "2s", "--to", between.addr(), inputFile(t, simulate.Pattern(1000, 1))}, kind.flags...)...)
			received := <-ended
			t.Logf("%s: forged receipts: send exit %d, recv exit %d", kind.name, sent.code, received.code)
			if sent.code == exitOK || received.code == exitOK {
				t.Errorf("send: %+v\nrecv: %+v", sent, received)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a file is there")
			}
		})
	}
}

// A6: two blind datagrams, the header and the hash of an empty file, replace what is there; with
// connections nothing blind does, with keys nothing of who has none, and --max-size bounds
// what anyone can store.
func TestA6(t *testing.T) {
	t.Parallel()
	before := simulate.Pattern(200_000, 7)
	victim := func(t *testing.T) string { return inputFile(t, before) }
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		out := victim(t)
		addr, ended := startRecv(t, "--plain", "--out", out)
		blind := from(t, addr)
		for i, chunk := range [][]byte{headerOf(nil), withHash(nil)} {
			_, _ = blind.Write(chunkOf(t, uint16(i), chunk))
		}
		received := <-ended
		got, err := os.ReadFile(out)
		t.Logf("plain: two datagrams: recv exit %d, %d of %d bytes are left", received.code, len(got), len(before))
		if err != nil || len(got) != 0 || received.code != exitOK {
			t.Error("the test tests nothing")
		}
	})
	for _, flags := range [][]string{{"--mode", "mac"}, {"--key"}} {
		t.Run(fmt.Sprint("connections", flags), func(t *testing.T) {
			t.Parallel()
			keyed := flags[0] == "--key"
			if keyed {
				key := filepath.Join(t.TempDir(), "key")
				if r := runCommand(t, nil, "keygen", "--out", key); r.code != exitOK {
					t.Fatal(r)
				}
				flags = append(flags, key)
			}
			out := victim(t)
			addr, ended := startRecv(t, append(flags, "--out", out)...)
			conn := from(t, addr)
			for range 50 {
				for _, d := range blindDatagrams(t, headerOf(nil)) {
					_, _ = conn.Write(d)
				}
			}
			if !keyed { // in the connection of another, who says nothing
				between := newForger(t, addr, false, nil, headerOf(nil), nil)
				anonymousClient(t, between.addr(), 0, session.MAC)
				time.Sleep(time.Second)
				between.near.Close()
				between.far.Close()
			}
			if keyed { // one with an address, and without the key
				r := runCommand(t, nil, "send", "--to", addr, inputFile(t, nil))
				if r.code == exitOK {
					t.Errorf("a send without the key: %+v", r)
				}
			}
			time.Sleep(200 * time.Millisecond)
			if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, before) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			want := simulate.Pattern(100_000, 3)
			sent := runCommand(t, nil, append([]string{"send", "--to", addr, inputFile(t, want)}, flags...)...)
			wantStored(t, out, want, sent, <-ended)
			t.Logf("connections %v: after 450 blind datagrams all %d bytes were there, and the next file is stored", keyed, len(before))
		})
	}
	t.Run("a header of 1 TiB", func(t *testing.T) {
		t.Parallel()
		out := victim(t)
		addr, ended := startRecv(t, "--max-size", "1M", "--out", out)
		header := binary.LittleEndian.AppendUint64([]byte("CWF2"), 1<<40)
		p := anonymousClient(t, addr, 0)
		if err := p.Chunks().Send(t.Context(), header); err != nil {
			t.Fatal(err)
		}
		if answer, err := p.Chunks().Recv(t.Context()); err != nil || string(answer) != "CWR1\x02" {
			t.Errorf("it is answered by %q, %v", answer, err)
		}
		got, _ := os.ReadFile(out)
		t.Logf("a header of 1 TiB with --max-size 1M: refused, %d bytes are there", len(got))
		if !bytes.Equal(got, before) {
			t.Error("they are others")
		}
		want := simulate.Pattern(100_000, 3)
		wantStored(t, out, want, runCommand(t, nil, "send", "--to", addr, inputFile(t, want)), <-ended)
		if parts, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*.part")); len(parts) > 0 {
			t.Errorf("%v is left", parts)
		}
	})
}

// forger is between a send and a recv. It sends everything that can be forged to both, all the time, and may cut them off
// from each other once they have done the handshake. Of a connection it knows all but the key: the link, which counter comes next,
// and what a chunk looks like that would end the transfer well.
type forger struct {
	near, far net.PacketConn
	client    atomic.Pointer[net.UDPAddr]
	link      atomic.Uint32
	counters  [2]atomic.Uint32 // the latest of the client, and of the recv
	numbers   int
}

// newForger returns one that forges datagrams to the client, and in connections a chunk in each direction; nil: none.
func newForger(t *testing.T, recv string, cuts bool, forged [][]byte, toRecv, toClient []byte) *forger {
	t.Helper()
	to, err := net.ResolveUDPAddr("udp", recv)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{}
	for _, pc := range []*net.PacketConn{&f.near, &f.far} {
		if *pc, err = net.ListenPacket("udp", loopback); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = (*pc).Close() })
	}
	go f.carry(f.near, 0, func(b []byte, at net.Addr, handshake bool) {
		f.client.Store(at.(*net.UDPAddr))
		if handshake || !cuts {
			_, _ = f.far.WriteTo(b, to)
		}
	})
	go f.carry(f.far, 1, func(b []byte, _ net.Addr, handshake bool) {
		if at := f.client.Load(); at != nil && (handshake || !cuts) {
			_, _ = f.near.WriteTo(b, at)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		for ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
			at := f.client.Load()
			if at == nil {
				continue
			}
			for _, d := range forged {
				_, _ = f.near.WriteTo(d, at)
			}
			if d := f.forges(0, toRecv); d != nil {
				_, _ = f.far.WriteTo(d, to)
			}
			if d := f.forges(1, toClient); d != nil {
				_, _ = f.near.WriteTo(d, at)
			}
		}
	}()
	return f
}

// carry reads what an end says, and notes what is known of its connection.
func (f *forger) carry(from net.PacketConn, end int, each func(b []byte, at net.Addr, handshake bool)) {
	buf := make([]byte, 2048)
	for {
		n, at, err := from.ReadFrom(buf)
		if err != nil {
			return
		}
		m, err := session.Decode(buf[:n])
		data := err == nil && m.Kind == session.KindMAC
		if data {
			f.link.Store(m.Agreed.Link)
			f.counters[end].Store(m.Counter)
		}
		each(buf[:n], at, err == nil && !data)
	}
}

// forges returns a datagram of an end with a chunk, its first, and a tag of zeros.
func (f *forger) forges(end int, chunk []byte) []byte {
	if chunk == nil || f.link.Load() == 0 {
		return nil
	}
	s := codec.Slice{NumSlices: 1, LastBytes: len(chunk), Data: chunk}
	record, _ := connection.Format{Lanes: lanes.Most, Repair: true}.Append(nil, &connection.Record{Type: connection.TypeSlice, Slice: s})
	f.numbers++
	p := packet.Packet{Data: record}
	p.Sequence, p.Ack = uint16(1000+f.numbers), 1<<16-1 // which acks nothing
	body, _ := packet.Format{}.WithDefaults().Append(nil, &p)
	d, _ := (&session.Message{
		Kind: session.KindMAC, Agreed: session.Agreed{Link: f.link.Load()}, Counter: f.counters[end].Load() + uint32(f.numbers), Body: body, Tag: make([]byte, 8),
	}).Append(nil)
	return d
}

func (f *forger) addr() string { return f.near.LocalAddr().String() }

// Anonymous clients that each begin a file and then send next to nothing hold every place of a recv, and one sender
// of a file: the file is stored all the same, once they have been slow for long enough. (R5: one slice in 2 x --give-up
// held a recv without end, and the send ended with exit 1.)
func TestSlowSendersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(300_000, 1)
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--out", out)
	for range mostSenders {
		slow := anonymousClient(t, addr, 64_000)
		if err := slow.Chunks().Send(t.Context(), headerOf(make([]byte, 10_000_000))); err != nil {
			t.Fatal(err)
		}
		if _, err := slow.Chunks().Enqueue(t.Context(), make([]byte, 262_144)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(500 * time.Millisecond)
	start := time.Now()
	sent := runCommand(t, nil, "send", "--to", addr, inputFile(t, want))
	received := <-ended
	t.Logf("the file is stored after %v: %s%s", time.Since(start), sent.stderr, received.stderr)
	wantStored(t, out, want, sent, received)
	if parts, _ := filepath.Glob(out + ".*.part"); len(parts) > 0 {
		t.Errorf("%v is left", parts)
	}
}

// Three senders at once: the first file that is complete is stored, and whoever comes too late tries again until
// there is no recv any more.
func TestTheFirstCompleteFileIsStored(t *testing.T) {
	t.Parallel()
	slow, fast := simulate.Pattern(3_000_000, 1), simulate.Pattern(100_000, 2)
	out := filepath.Join(t.TempDir(), "out")
	addr, stderr, ended := watchRecv(t, t.Context(), "--out", out)
	first := make(chan result, 1)
	go func() {
		first <- runCommand(t, nil, "send", "--profile", "fixed", "--max-rate", "5M", "--to", addr, inputFile(t, slow))
	}()
	eventually(t, "the first transfer begins", func() bool {
		parts, _ := filepath.Glob(out + ".*.part")
		return len(parts) == 1
	})
	sent := runCommand(t, nil, "send", "--to", addr, inputFile(t, fast))
	wantStored(t, out, fast, sent, <-ended)
	if !strings.Contains(stderr.String(), "sends a file, too; the first that is complete is stored") {
		t.Errorf("recv says: %s", stderr.String())
	}
	if late := <-first; late.code == exitOK || !strings.Contains(late.stderr, "another sender was first; trying again") {
		t.Errorf("%+v", late)
	}
	if parts, _ := filepath.Glob(out + ".*.part"); len(parts) > 0 {
		t.Errorf("%v is left", parts)
	}
}
