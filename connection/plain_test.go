package connection_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// No two lanes share a protocol id, whatever their number and variant, ids wrap, and 512 are
// enough (LAN-2, RPI-1, RPI-2).
func TestPlainFormatIDs(t *testing.T) {
	for _, first := range []uint32{0, 0x11223344, math.MaxUint32 - 5} {
		seen := map[uint32]bool{}
		for n := 1; n <= lanes.Most; n++ {
			for k := range n {
				named := first + uint32(16*(n-1)+k)
				slice, _ := codec.NewFramer(named).AppendSlice(nil, codec.Slice{NumSlices: 1, Data: []byte("x")})
				wantLane(t, connection.NewPlainFormat(first, n, false), slice, k)
				repaired := named + 256
				slice, _ = codec.Repair.Framer(repaired).AppendSlice(nil, codec.Slice{NumSlices: 1, LastBytes: 1, Data: []byte("x")})
				wantLane(t, connection.NewPlainFormat(first, n, true), slice, k)
				for _, id := range []uint32{named, repaired} {
					if seen[id] || id-first >= 512 {
						t.Errorf("lane %d of %d from %#x on has the id %#x", k, n, first, id)
					}
					seen[id] = true
				}
			}
		}
	}
}

// wantLane checks by which lane a slice comes.
func wantLane(t *testing.T, f *connection.PlainFormat, slice []byte, k int) {
	t.Helper()
	if p, err := f.Decode(slice); err != nil || p.Lane != k || p.Type != codec.TypeSlice {
		t.Errorf("lane %d of %d: decoded as %+v, %v", k, f.Lanes(), p, err)
	}
}

// A datagram that is too long is refused without its crc.
func TestOversizeIsRefusedBeforeTheCRC(t *testing.T) {
	f := connection.NewPlainFormat(1, 1, false)
	if _, err := f.Decode(make([]byte, codec.MaxDatagramSize+1)); !errors.Is(err, codec.ErrTrailingData) {
		t.Errorf("the refusal is %v", err)
	}
	if _, err := f.Decode(make([]byte, codec.MaxDatagramSize)); !errors.Is(err, codec.ErrCRCMismatch) {
		t.Errorf("the refusal is %v", err)
	}
}

// A decoded slice's data has no room behind it: to append to it must not write
// into the datagram.
func TestDecodedDataHasNoRoomBehindIt(t *testing.T) {
	f := connection.NewPlainFormat(1, 2, false)
	for _, n := range []int{1, 1000, codec.SliceSize} {
		datagram, err := f.AppendSlice(nil, 1, codec.Slice{NumSlices: 1, Data: make([]byte, n)})
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Decode(append(datagram, "behind"...)[:len(datagram)])
		if err != nil || len(p.Slice.Data) != n || cap(p.Slice.Data) != n {
			t.Errorf("%d bytes: %d with room for %d, %v", n, len(p.Slice.Data), cap(p.Slice.Data), err)
		}
	}
}

// newPlain returns a connection that its peer began, with the slowest base scheduler.
func newPlain(t *testing.T, header int, change func(*connection.PlainConfig)) *connection.Plain {
	t.Helper()
	cfg := connection.PlainConfig{Format: connection.NewPlainFormat(1, 1, false), Chunks: lanes.Config{
		GiveUp: 10 * core.Second, NewScheduler: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }}}
	change(&cfg)
	p, err := connection.NewPlain(&cfg, connection.ServerSide, header, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The rate counts the headers of IP and UDP (LAN-12).
func TestPlainRateCountsHeaders(t *testing.T) {
	for _, header := range []int{28, 48} {
		p := newPlain(t, header, func(cfg *connection.PlainConfig) { cfg.Chunks.MaxRate = 1_000_000 })
		if _, err := p.SendEncoded(core.Second, erasure.EncodeForOne(make([]byte, 2048))); err != nil {
			t.Fatal(err)
		}
		datagram, ok := p.Poll(core.Second, nil)
		if !ok {
			t.Fatal("no slice is sent")
		}
		if got, want := p.Deadline()-core.Second, core.Micros(8*(len(datagram)+header)); got != want {
			t.Errorf("%d bytes before each: the next slice after %d us, want %d", header, got, want)
		}
	}
}

// Without a word from the peer a connection ends, at its deadline (CON-6).
func TestPlainIdle(t *testing.T) {
	p := newPlain(t, 28, func(cfg *connection.PlainConfig) { cfg.IdleTimeout = core.Second })
	if _, ok := p.Poll(core.Second-1, nil); ok || p.Err() != nil || p.Deadline() != core.Second {
		t.Fatalf("%v, due at %d", p.Err(), p.Deadline())
	}
	if p.Poll(core.Second, nil); !errors.Is(p.Err(), session.ErrTimeout) {
		t.Error(p.Err())
	}
}

// What it costs to find the lane: the crc of the latest lane is tried first.
func BenchmarkPlainDecode(b *testing.B) {
	for _, n := range []int{1, 8, 16} {
		f := connection.NewPlainFormat(1, n, false)
		same, _ := f.AppendSlice(nil, 0, codec.Slice{NumSlices: 256, Data: make([]byte, codec.SliceSize)})
		garbage := append([]byte(nil), same...)
		garbage[500] ^= 1
		for name, datagram := range map[string][]byte{"in a row": same, "garbage": garbage} {
			b.Run(fmt.Sprintf("%d lanes, %s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = f.Decode(datagram)
				}
			})
		}
	}
}
