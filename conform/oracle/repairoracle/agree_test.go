package repairoracle_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// anyChunk is a chunk of few slices, or of as many as there may be.
func anyChunk(t *rapid.T) []byte {
	k := rapid.SampledFrom([]int{1, 1, 2, 2, 3, 3, 4, 8, 9, 17}).Draw(t, "slices")
	b := make([]byte, 1024*(k-1)+rapid.SampledFrom([]int{1, 7, 8, 500, 1023, 1024}).Draw(t, "last"))
	x := stream.Random(rapid.Uint32Range(1, 1<<32-1).Draw(t, "content"))
	for i := range b {
		b[i] = byte(x.Next())
	}
	return b
}

func TestCodersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunk := anyChunk(t)
		e := erasure.Encode(chunk)
		k := int64(e.NumSlices())
		d := repairoracle.NewDecoder(k, int64(e.LastBytes()))
		var p erasure.Decoder
		p.Begin(e.NumSlices(), e.LastBytes(), new(statemachine.Memory))
		for range rapid.IntRange(0, int(2*k+4)).Draw(t, "arrive") {
			id := rapid.OneOf(rapid.Int64Range(0, 2*k+2), rapid.Int64Range(0, repairoracle.MaxIDs-1)).Draw(t, "id")
			data := repairoracle.Slice(chunk, id)
			if got := e.Slice(int(id)); !bytes.Equal(got, data) {
				t.Fatalf("slice %d of %d differs", id, k)
			}
			if d.Rank() == k {
				break
			}
			if got, want := p.Add(int(id), data), d.Add(id, data); got != want || int64(p.Rank()) != d.Rank() {
				t.Fatalf("slice %d of %d: added %t, rank %d, the oracle %t, %d", id, k, got, p.Rank(), want, d.Rank())
			}
		}
		if d.Rank() < k {
			return
		}
		want, _ := d.Rebuild()
		if got := bytes.Join(blocks(p.Rebuild()), nil); !bytes.Equal(got[:len(chunk)], want) || !bytes.Equal(want, chunk) {
			t.Fatalf("%d slices are rebuilt as something else", k)
		}
	})
}

func blocks(list []*[erasure.SliceSize]byte) (b [][]byte) {
	for _, s := range list {
		b = append(b, s[:])
	}
	return b
}

func toPackage(p repairoracle.Packet) codec.Packet {
	if p.Type == repairoracle.TypeAck {
		return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: uint16(p.ChunkID), NumSlices: int(p.NumSlices), Have: int(p.Have), Top: int(p.Top)}}
	}
	return codec.Packet{Slice: codec.Slice{ChunkID: uint16(p.ChunkID), SliceID: int(p.SliceID), NumSlices: int(p.NumSlices), LastBytes: int(p.LastBytes), Data: p.Data}}
}

// shapes are what slices of a receiver's trace come from: chunks of few slices, so that
// conflicts, dependent slices and complete chunks are common.
var shapes = [][2]int64{{1, 5}, {2, 9}, {2, 9}, {2, 10}, {3, 7}, {3, 7}, {6, 1024}}

func TestReceiversAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom([]int64{0, 65535}).Draw(t, "first")
		o := repairoracle.NewReceiver(first, 1_000_000)
		p, err := statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.Repair, FirstChunkID: uint16(first), GiveUp: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		now, shape := int64(0), shapes[0]
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			now += rapid.SampledFrom([]int64{0, 0, 1, 700, 2000, 40_000, 500_000, -50, 1_000_000}).Draw(t, "step")
			switch rapid.SampledFrom([]string{"slice", "slice", "slice", "slice", "poll", "read"}).Draw(t, "event") {
			case "slice":
				if rapid.IntRange(0, 7).Draw(t, "another") == 0 {
					shape = rapid.SampledFrom(shapes).Draw(t, "shape")
				}
				s := wildSlice(t, o.ChunkID()+rapid.SampledFrom([]int64{0, 0, 0, 0, 0, -1, -1, 1}).Draw(t, "chunk"), shape)
				o.Slice(now, s)
				p.HandleSlice(core.Micros(now), toPackage(s).Slice)
			case "poll":
				for more := true; more; {
					_, want := o.Poll(now)
					got, ok := p.Poll(core.Micros(now))
					if ok != (want != nil) || ok && got != toPackage(*want).Ack {
						t.Fatalf("ack %+v, %t, the oracle %+v", got, ok, want)
					}
					more = ok
				}
			case "read":
				_, want := o.Read(now)
				if got, err := p.Read(core.Micros(now), nil); (err == nil) != (want != nil) || !bytes.Equal(got, want) {
					t.Fatalf("%d bytes, %v, the oracle %d", len(got), err, len(want))
				}
			}
			v := p.Vars()
			at, some := o.Deadline()
			if !some {
				at = int64(core.Never)
			}
			if v.State.String() != o.State() || int64(v.Have) != o.Have() || int64(v.Top) != o.Top() || int64(v.ChunkID) != o.ChunkID() ||
				int64(p.Deadline()) != at || p.Stats().Inconsistent != o.Inconsistent() {
				t.Fatalf("%+v, deadline %d, inconsistent %d; the oracle %s, have %d, top %d, deadline %d, inconsistent %d",
					v, p.Deadline(), p.Stats().Inconsistent, o.State(), o.Have(), o.Top(), at, o.Inconsistent())
			}
		}
	})
}

// wildSlice is a slice of a chunk, which may be forged.
func wildSlice(t *rapid.T, chunkID int64, shape [2]int64) repairoracle.Packet {
	s := repairoracle.Packet{Type: repairoracle.TypeSlice, ChunkID: (chunkID + 65536) % 65536, NumSlices: shape[0], LastBytes: shape[1]}
	s.SliceID = rapid.OneOf(rapid.Int64Range(0, s.NumSlices+3), rapid.SampledFrom([]int64{22, 49, 4000, 4095, 4097, 8000, 8190, 8191})).Draw(t, "id")
	chunk := bytes.Repeat([]byte{byte(s.ChunkID) + 1, 2, 3, 5, 7}, 1400)[:1024*(shape[0]-1)+shape[1]]
	s.Data = repairoracle.Slice(chunk, s.SliceID)
	if rapid.IntRange(0, 15).Draw(t, "forged") == 0 {
		s.Data = bytes.Repeat([]byte{9}, len(s.Data))
	}
	return s
}

// both are a sender of the package and one of the oracle, beside each other.
type both struct {
	*rapid.T
	o   *repairoracle.Sender
	p   *statemachine.Sender
	now int64
}

func (b *both) submit(size int) {
	chunk := bytes.Repeat([]byte{1, 2, 3, 4, 5}, size/5+1)[:size]
	_, refusal := b.o.Submit(b.now, chunk)
	if err := b.p.Submit(core.Micros(b.now), chunk); (err == nil) != (refusal == "") {
		b.Fatalf("submit: %v, the oracle %q", err, refusal)
	}
}

func (b *both) ack(a repairoracle.Packet) {
	b.o.Ack(b.now, a)
	b.p.HandleAck(core.Micros(b.now), toPackage(a).Ack)
}

func (b *both) poll() {
	for more := true; more; {
		_, want := b.o.Poll(b.now)
		got, ok := b.p.Poll(core.Micros(b.now))
		if ok != (want != nil) || ok && (got.SliceID != int(want.SliceID) || !bytes.Equal(got.Data, want.Data)) {
			b.Fatalf("at %d: slice %d, %t, the oracle %+v", b.now, got.SliceID, ok, want)
		}
		more = ok
	}
}

func (b *both) compare() {
	v := b.p.Vars()
	at, some := b.o.Deadline()
	if !some {
		at = int64(core.Never)
	}
	if v.State.String() != b.o.State() || int64(v.Transmissions) != b.o.Sent() || int64(v.Have) != b.o.Have() || int64(v.Top) != b.o.Top() || int64(b.p.Deadline()) != at {
		b.Fatalf("at %d: %+v, deadline %d, the oracle %s, %d, %d, %d, deadline %d", b.now, v, b.p.Deadline(), b.o.State(), b.o.Sent(), b.o.Have(), b.o.Top(), at)
	}
}

// wildAck is an ack of the chunk in flight, mostly one that could be.
func (b *both) wildAck() repairoracle.Packet {
	v := b.p.Vars()
	k := int64(max(v.NumSlices, 1))
	a := repairoracle.Packet{Type: repairoracle.TypeAck, ChunkID: int64(v.ChunkID), NumSlices: k}
	top := rapid.Int64Range(int64(v.Top), int64(v.Transmissions)).Draw(b.T, "top")
	a.Have = min(k, top, rapid.Int64Range(int64(v.Have), k).Draw(b.T, "have"))
	switch rapid.IntRange(0, 12).Draw(b.T, "kind") {
	case 0:
		a.Have, top = 0, 0
	case 1:
		top = rapid.Int64Range(0, 8191).Draw(b.T, "any top")
	case 2:
		a.ChunkID = (a.ChunkID + 65535) % 65536
	}
	a.Top = repairoracle.ID(k, top)
	return a
}

func TestSendersAgree(t *testing.T) {
	profiles := []struct {
		o repairoracle.Profile
		p rateless.Profile
	}{
		{repairoracle.Profile{}, rateless.Default()}, {repairoracle.Profile{}, rateless.Default()}, {repairoracle.Profile{Redundant: true}, rateless.Redundant()},
		{repairoracle.Profile{Burst: true}, rateless.Burst()}, {repairoracle.Profile{Fixed: true, Rate: 20_000_000}, rateless.Fixed(20_000_000)},
	}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SampledFrom(profiles).Draw(t, "profile")
		if rapid.IntRange(0, 4).Draw(t, "limited") == 0 {
			one.o.Rate, one.p.MaxRate = 9_000_000, 9_000_000
		}
		rule, err := rateless.New(one.p)
		if err != nil {
			t.Fatal(err)
		}
		p, err := statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, GiveUp: 30_000_000, Scheduler: rule})
		if err != nil {
			t.Fatal(err)
		}
		b := &both{T: t, o: repairoracle.NewSender(0, 30_000_000, repairoracle.NewRule(one.o)), p: p}
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			switch rapid.SampledFrom([]string{"deadline", "deadline", "deadline", "step", "ack", "ack", "submit"}).Draw(t, "event") {
			case "deadline": // time passes until there is something to do
				if at, some := b.o.Deadline(); some {
					b.now = max(b.now, at)
				}
				b.poll()
			case "step":
				b.now += rapid.SampledFrom([]int64{1, 7, 100, 3_000, 25_000, 90_000, 600_000, 11_000_000}).Draw(t, "time")
				b.poll()
			case "ack":
				b.now++ // no ack takes no time
				b.ack(b.wildAck())
			case "submit":
				b.submit(rapid.SampledFrom([]int{0, 1, 1000, 5000, 20_000, 100_000, 262_144}).Draw(t, "size"))
			}
			b.compare()
		}
	})
}
