package plain

import (
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
)

// No two lanes share a protocol id, whatever their number, and ids wrap (LAN-2).
func TestLaneIDs(t *testing.T) {
	for _, first := range []uint32{0, 0x11223344, math.MaxUint32 - 5} {
		seen := map[uint32]string{}
		for n := 1; n <= MaxLanes; n++ {
			for k, f := range laneFramers(first, n) {
				name := fmt.Sprintf("lane %d of %d", k, n)
				if other := seen[f.ProtocolID()]; other != "" {
					t.Errorf("%s has the id of %s", name, other)
				}
				seen[f.ProtocolID()] = name
				if want := uint32((uint64(first) + 16*uint64(n-1) + uint64(k)) % (1 << 32)); f.ProtocolID() != want {
					t.Errorf("%s of %#x has id %#x, want %#x", name, first, f.ProtocolID(), want)
				}
			}
		}
	}
}

// When slices of two lanes are due, those of the earlier chunk go first, also when
// the earlier one is on the later lane (LAN-8).
func TestTheEarlierChunkGoesFirst(t *testing.T) {
	e := silentEndpoint(t, Config{Lanes: 2, NewScheduler: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }})
	c, err := e.newConn(udp.UDPPeer(netip.MustParseAddrPort("192.0.2.1:9000")))
	if err != nil {
		t.Fatal(err)
	}
	e.driver.AddLocked(&c.slot, (*polled)(c))
	poll := func(now machine.Micros) *driver.Batch {
		b := driver.NewBatch(codec.MaxDatagramSize)
		c.pollLocked(now, b)
		return b
	}
	for now, first := range []int{0, 1, 0} {
		at := machine.Micros(now) * 10 * machine.Second
		for len(c.queue) < 2 {
			c.queue = append(c.queue, driver.NewDelivery((*deliverer)(c), make([]byte, 10)))
		}
		c.nextOut = first
		c.advanceSendingLocked(at)
		poll(at) // lets the second chunk begin
		poll(at + 1)
		at += 5 * machine.Second // both timers have run out
		lanes := lanesOf(e, poll(at))
		if fmt.Sprint(lanes) != fmt.Sprint([]int{first, 1 - first}) {
			t.Errorf("slices went out by lanes %v, want lane %d first", lanes, first)
		}
		for k := range c.lanes {
			s := c.lanes[k].sender
			s.HandleAck(at, codec.Ack{ChunkID: s.Vars().ChunkID, NumSlices: 1, Acked: bitset.FirstN(1)})
		}
		c.advanceSendingLocked(at)
	}
}

// lanesOf returns by which lanes the datagrams of a batch go.
func lanesOf(e *Endpoint, b *driver.Batch) (lanes []int) {
	for _, run := range b.Runs() {
		for datagram := range run.Datagrams() {
			if p, err := e.decode(datagram); err == nil {
				lanes = append(lanes, p.lane)
			}
		}
	}
	return lanes
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
	for _, lanes := range []int{1, 8, 16} {
		e := silentEndpoint(b, Config{Lanes: lanes})
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
			b.Run(fmt.Sprintf("%d lanes, %s", lanes, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					_, _ = e.decode(c.choose(i))
				}
			})
		}
	}
}
