package plain

import (
	"fmt"
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// No two lanes share a protocol id, whatever their number and variant, ids wrap, and 512 are
// enough (LAN-2, RPI-1, RPI-2).
func TestLaneIDs(t *testing.T) {
	for _, first := range []uint32{0, 0x11223344, math.MaxUint32 - 5} {
		seen := map[uint32]string{}
		for n := 1; n <= MaxLanes; n++ {
			for variant, more := range map[string]uint64{"named": 0, "repair": 256} {
				for k, f := range laneFramers(first, n, more > 0) {
					name := fmt.Sprintf("lane %d of %d, %s", k, n, variant)
					if other := seen[f.ProtocolID()]; other != "" {
						t.Errorf("%s has the id of %s", name, other)
					}
					seen[f.ProtocolID()] = name
					if f.ProtocolID()-first >= 512 {
						t.Errorf("%s of %#x has id %#x", name, first, f.ProtocolID())
					}
					if want := uint32((uint64(first) + more + 16*uint64(n-1) + uint64(k)) % (1 << 32)); f.ProtocolID() != want {
						t.Errorf("%s of %#x has id %#x, want %#x", name, first, f.ProtocolID(), want)
					}
				}
			}
		}
	}
}

// silentEndpoint has no goroutines.
func silentEndpoint(t testing.TB, cfg Config) *Endpoint {
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cfg.ProtocolID = 1
	return newEndpoint(udp.New(nowhere{closed: make(chan struct{})}), cfg)
}

// What it costs to find the lane: the crc of the latest lane is tried first.
func BenchmarkDecodeLane(b *testing.B) {
	for _, n := range []int{1, 8, 16} {
		e := silentEndpoint(b, Config{Lanes: n})
		slice := codec.Slice{NumSlices: 256, Data: make([]byte, codec.SliceSize)}
		same, _ := e.framers[0].AppendSlice(nil, slice)
		garbage := append([]byte(nil), same...)
		garbage[500] ^= 1
		for _, c := range []struct {
			name   string
			choose func(i int) []byte
		}{
			{"in a row", func(int) []byte { return same }},
			{"garbage", func(int) []byte { return garbage }},
		} {
			b.Run(fmt.Sprintf("%d lanes, %s", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					_, _ = e.decode(c.choose(i))
				}
			})
		}
	}
}
