package transport_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/transport"
)

// Connections are counted by how they ended.
func TestEndsAreCounted(t *testing.T) {
	bubble(t, short, transport.Config{Keys: keys, Anonymous: true, Timeout: 2 * time.Second}, func(w *world) {
		cfg := transport.Config{}
		remote, _ := w.connect("a", cfg)
		remote.Close(0, "")
		_, here := w.connect("b", cfg)
		here.Close(0, "")
		w.connect("c", cfg)
		known := withKey(identity, key)
		w.connect("d", known)
		w.connect("e", known) // takes the place of d
		_, canceled := w.connect("f", cfg)
		w.setPath("f", outage)
		d, err := canceled.Chunks().Enqueue(background, content(5000, 1))
		if err != nil {
			t.Fatal(err)
		}
		d.Cancel(nil)
		w.setPath("c", outage)
		time.Sleep(5 * time.Second)

		st := w.server.Stats()
		want := map[transport.End]int64{
			transport.EndClosedRemotely: 1, transport.EndClosed: 1, transport.EndTimeout: 1,
			transport.EndReplaced: 1, transport.EndCanceled: 1,
		}
		for _, end := range transport.Ends {
			if n, ok := st.Ended[end]; !ok || n != want[end] {
				t.Errorf("%s: %d, want %d", end, n, want[end])
			}
		}
		if st.Accepted != 6 || st.Peers != 1 {
			t.Errorf("%d accepted, %d are there", st.Accepted, st.Peers)
		}
	})
}

// Times are in the buckets that virtual time says, and what a connection did stays counted when it has ended.
func TestMeasures(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		chunk := content(5000, 1)
		for range 3 {
			if err := client.Chunks().Send(background, chunk); err != nil {
				t.Fatal(err)
			}
			if err := server.Chunks().Send(background, chunk); err != nil {
				t.Fatal(err)
			}
			for _, p := range []*transport.Peer{client, server} {
				if _, err := p.Chunks().Recv(background); err != nil {
					t.Fatal(err)
				}
			}
		}
		check := func(when string) {
			t.Helper()
			st := w.server.Stats()
			if st.Sender.Chunks != 3 || st.Sender.ChunkBytes != 15000 || st.Receiver.Chunks != 3 || st.Sender.SlicesSent < 15 || st.PacketsSent == 0 {
				t.Errorf("%s: %+v", when, st.Totals)
			}
			// 20 ms there and back, and an ack may wait for 20 ms more.
			for name, h := range map[string]transport.Histogram{"out": st.ChunkOut, "in": st.ChunkIn, "round trip": st.RoundTrip} {
				least, most := core.Micros(20_000), core.Micros(50_000)
				if name == "in" {
					least, most = 0, 10_000
				}
				n := h.Count()
				for i, count := range h.Counts {
					if count > 0 && (i == len(transport.HistogramBounds) || transport.HistogramBounds[i] < least || transport.HistogramBounds[i] > most) {
						t.Errorf("%s: %s: %d in bucket %d", when, name, count, i)
					}
				}
				if name != "round trip" && n != 3 || n == 0 || h.Sum < core.Micros(n)*least || h.Sum > core.Micros(n)*most {
					t.Errorf("%s: %s: %+v", when, name, h)
				}
			}
		}
		check("while there is the connection")
		client.Close(0, "")
		time.Sleep(5 * time.Second)
		if n := w.server.Stats().Peers; n != 0 {
			t.Fatalf("%d are there", n)
		}
		check("when it has ended")
	})
}
