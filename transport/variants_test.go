package transport_test

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// relayed returns the address of a relay before a server, which loses some datagrams.
func relayed(t *testing.T, s *transport.Server, percent float64) string {
	t.Helper()
	front, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := netsim.Path{Delay: 5 * time.Millisecond, Loss: percent}
	relay, err := netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: s.Addr(), Up: path, Down: path, Seed: 1,
		Dial: func() (net.PacketConn, error) { return net.ListenPacket("udp4", "127.0.0.1:0") },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { relay.Close() })
	return front.LocalAddr().String()
}

// A server sends one chunk to clients of either variant, over sockets that lose datagrams; each
// has the variant that it knows, and all of them the bytes.
func TestOneChunkForClientsOfBothVariants(t *testing.T) {
	s := listen(t, transport.Config{Lanes: 2})
	address, ctx := relayed(t, s, 10), soon(t)
	world := erasure.Encode(content(transport.MaxChunkSize, 1))
	var all sync.WaitGroup
	for i, variants := range []uint8{0, session.VariantSlices, session.VariantRepair, session.DefaultVariants} {
		client, err := transport.Dial(ctx, "udp4", address, transport.Config{Variants: variants, Lanes: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close(0, "") })
		server, err := s.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := uint8(session.VariantRepair)
		if variants == session.VariantSlices {
			want = session.VariantSlices
		}
		if a, b := client.Stats().Agreed.Variant, server.Stats().Agreed.Variant; a != want || b != want {
			t.Errorf("client %d: agreed on %d and %d, not %d", i, a, b, want)
		}
		all.Go(func() {
			for range 3 {
				if err := server.Chunks().SendEncoded(ctx, world); err != nil {
					t.Errorf("client %d: %v", i, err)
				}
			}
			if st := server.Chunks().SenderStats(); st.SlicesRepair > 0 != (want == session.VariantRepair) || st.SlicesResent > 0 != (want == session.VariantSlices) {
				t.Errorf("client %d: %d slices for repair, %d sent again", i, st.SlicesRepair, st.SlicesResent)
			}
		})
		all.Go(func() {
			for range 3 {
				if got, err := client.Chunks().Recv(ctx); err != nil || !bytes.Equal(got, world.Bytes()) {
					t.Errorf("client %d: %d bytes, %v", i, len(got), err)
				}
			}
		})
	}
	all.Wait()
}

// Statistics and observations of either variant say how far a chunk is.
func TestWhatIsSeenOfBothVariants(t *testing.T) {
	for variant, want := range map[uint8][]eventlog.Kind{
		session.VariantSlices: {eventlog.SliceSent, eventlog.SliceAcked, eventlog.RTTSampled},
		session.VariantRepair: {eventlog.SliceSent, eventlog.RTTSampled, eventlog.SlicesCounted},
	} {
		bubble(t, netsim.Path{Delay: 10 * ms}, transport.Config{}, func(w *world) {
			var kinds []eventlog.Kind
			client, server := w.connect("c", transport.Config{Variants: variant, Log: func(e eventlog.Event) {
				if e.Kind == eventlog.SliceSent || e.Kind >= eventlog.SliceAcked && e.Kind <= eventlog.RTTSampled {
					kinds = append(kinds, e.Kind)
				}
			}})
			d, err := client.Chunks().Enqueue(background, content(100_000, 1))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(21 * ms) // the first acks are here
			from, to := client.Stats().Chunks.Sending, server.Chunks().Receiving()
			if from.NumSlices != 98 || from.Have == 0 || from.Sent < from.Have || to.NumSlices != 98 || to.Have < from.Have {
				t.Errorf("%d: sending %+v, receiving %+v", variant, from, to)
			}
			if repairs := variant == session.VariantRepair; (from.Top > 0) != repairs || (to.Top > 0) != repairs {
				t.Errorf("%d: sending %+v, receiving %+v", variant, from, to)
			}
			if err := d.Wait(within(w.t, time.Second)); err != nil {
				t.Error(err)
			}
			slices.Sort(kinds)
			if got := slices.Compact(kinds); !slices.Equal(got, sorted(want)) {
				t.Errorf("%d: %v were seen, not %v", variant, got, want)
			}
			if st := client.Stats().Chunks; st.Sending.NumSlices != 0 || st.Sender.SlicesAcked != 98 {
				t.Errorf("%d: at the end: %+v", variant, st.Sending)
			}
		})
	}
}

func sorted(kinds []eventlog.Kind) []eventlog.Kind {
	slices.Sort(kinds)
	return kinds
}

// Every profile sends in both variants; one that is fixed needs a rate.
func TestProfiles(t *testing.T) {
	for _, variant := range []uint8{session.VariantSlices, session.VariantRepair} {
		for _, p := range []transport.Profile{transport.Adaptive, transport.Redundant, transport.Burst, transport.Fixed} {
			t.Run(fmt.Sprint(p, " ", variant), func(t *testing.T) {
				bubble(t, netsim.Path{Delay: 20 * ms, Loss: 5}, transport.Config{}, func(w *world) {
					cfg := transport.Config{Variants: variant, Profile: p}
					if p == transport.Fixed {
						cfg.MaxRate = 10_000_000
					}
					client, server := w.connect("c", cfg)
					start := time.Now()
					sent := make(chan error, 1)
					go func() { sent <- client.Chunks().Send(background, content(transport.MaxChunkSize, 1)) }()
					if got, err := server.Chunks().Recv(within(w.t, 20*time.Second)); err != nil || len(got) != transport.MaxChunkSize {
						t.Errorf("%d bytes, %v", len(got), err)
					}
					if took := time.Since(start); p == transport.Fixed && took < 200*ms {
						t.Errorf("10 Mbit/s, and 256 KiB took %v", took)
					}
					if err := <-sent; err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}
