package plain_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// BenchmarkLoopback sends large chunks over real sockets, as fast as possible and
// as fast as the default allows. An operation is a chunk; there are some 290
// datagrams to it at either end.
func BenchmarkLoopback(b *testing.B) {
	for name, profile := range map[string]base.Profile{
		"unlimited": base.Fixed(0),
		"burst":     base.Burst(),
	} {
		b.Run(name, func(b *testing.B) {
			client, server := loopback(b, with(func(cfg *plain.Config) {
				cfg.NewScheduler = func() (statemachine.Scheduler, error) { return base.New(profile) }
			}))
			chunk := content(codec.MaxChunkSize, 1)
			b.SetBytes(codec.MaxChunkSize)
			b.ReportAllocs()
			before := client.Stats().Traffic
			received := during(func() error {
				for range b.N {
					if _, err := server.Recv(background); err != nil {
						return err
					}
				}
				return nil
			})
			b.ResetTimer()
			for range b.N {
				if _, err := client.Enqueue(background, chunk); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-received; err != nil {
				b.Fatal(err)
			}
			after := client.Stats().Traffic
			b.ReportMetric(float64(after.DatagramsOut-before.DatagramsOut)/float64(b.N), "slices/op")
			b.ReportMetric(float64(after.DatagramsIn-before.DatagramsIn)/float64(b.N), "acks/op")
		})
	}
}
