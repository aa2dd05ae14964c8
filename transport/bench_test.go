package transport_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport"
)

// BenchmarkLoopback sends large chunks over real sockets, as fast as possible, in each
// strength of the envelope. An operation is a chunk.
func BenchmarkLoopback(b *testing.B) {
	for _, mode := range []session.Mode{session.CRC, session.MAC, session.AEAD} {
		b.Run(mode.String(), func(b *testing.B) {
			unlimited := func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }
			s := listen(b, transport.Config{Keys: keys, Mode: mode, NewScheduler: unlimited})
			client, server := connect(b, s, transport.Config{Identity: identity, Key: key, Mode: mode, NewScheduler: unlimited})
			chunk := content(transport.MaxChunkSize, 1)
			b.SetBytes(transport.MaxChunkSize)
			b.ReportAllocs()
			received := make(chan error, 1)
			go func() {
				for range b.N {
					if _, err := server.Chunks().Recv(background); err != nil {
						received <- err
						return
					}
				}
				received <- nil
			}()
			before, beforeCPU := client.Stats().Traffic, cpu()
			b.ResetTimer()
			for range b.N {
				if _, err := client.Chunks().Enqueue(background, chunk); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-received; err != nil {
				b.Fatal(err)
			}
			after := client.Stats().Traffic
			out, in := after.DatagramsOut-before.DatagramsOut, after.DatagramsIn-before.DatagramsIn
			b.ReportMetric(float64(out)/float64(b.N), "out/op")
			b.ReportMetric(float64(in)/float64(b.N), "in/op")
			b.ReportMetric(float64((cpu()-beforeCPU).Nanoseconds())/float64(in+out), "cpu-ns/datagram")
		})
	}
}
