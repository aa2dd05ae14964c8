package inspect_test

import (
	"encoding/json"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

// Results without fields, which a capture of any length can keep, have the same stories.
func TestBriefResultsHaveTheSameStories(t *testing.T) {
	for _, c := range conversations {
		k := newTaps(t, lossy, 1)
		c.run(t, k)
		opts := worldOptions
		whole := check.Must(json.Marshal(k.story(t, 0, opts)))
		opts.Brief = true
		check.Same(t, c.name, string(check.Must(json.Marshal(k.story(t, 0, opts)))), string(whole))
	}
	ack := check.Must(framer.AppendAck(nil, codec.Ack{NumSlices: 256}))
	check.Same(t, "fields", len(inspect.Datagram(ack, inspect.Options{ProtocolIDs: []uint32{protocolID}, Brief: true}).Fields), 0)
}

// The protocol id that no candidate is, is found with its lanes and for either variant.
func TestProtocolIDsAreFound(t *testing.T) {
	for _, c := range []struct{ lanes, said int }{{1, 0}, {8, 0}, {3, 8}, {8, 8}} {
		for _, repaired := range []bool{false, true} {
			lanes := max(c.lanes, c.said)
			first := uint32(7 + 16*(lanes-1))
			in := inspect.New(inspect.Options{ProtocolIDs: []uint32{protocolID}, Lanes: c.said})
			for lane := range uint32(c.lanes) {
				data := make([]byte, codec.SliceSize)
				b := check.Must(codec.NewFramer(first+lane).AppendSlice(nil, codec.Slice{NumSlices: 9, Data: data}))
				if repaired {
					p := codec.Packet{Slice: codec.Slice{NumSlices: 9, LastBytes: 5, Data: data}}
					b = check.Must(codec.Repair.Framer(first+256+lane).Append(nil, p))
				}
				in.Datagram(alice, bob, b)
				in.Datagram(alice, bob, b)
			}
			check.Equal(t, "found", in.ProtocolIDs(), []uint32{7})
		}
	}
}

// Datagrams of many protocol ids do not make each one be compared with all of them.
func TestFewProtocolIDsAreFound(t *testing.T) {
	in := inspect.New(inspect.Options{ProtocolIDs: []uint32{protocolID}})
	for i := range uint32(2000) {
		b := check.Must(codec.NewFramer(1000*(i/2)).AppendAck(nil, codec.Ack{NumSlices: 9}))
		in.Datagram(alice, bob, b)
	}
	often := check.Must(codec.NewFramer(77_000_000).AppendAck(nil, codec.Ack{NumSlices: 9}))
	for range 3 {
		in.Datagram(alice, bob, often)
	}
	found := in.ProtocolIDs()
	check.Same(t, "found", len(found), 64)
	check.Same(t, "the first has most datagrams", found[0], 77_000_000)
}

// What is joined of more datagrams than a system joins is one.
func TestCutOfTooMany(t *testing.T) {
	ack := check.Must(framer.AppendAck(nil, codec.Ack{NumSlices: 64}))
	for n, want := range map[int]int{127: 127, 131: 1} {
		var joined []byte
		for range n {
			joined = append(joined, ack...)
		}
		check.Same(t, "datagrams", len(inspect.Cut(joined)), want)
	}
}

// A capture without datagrams has an empty list of stories.
func TestNoStories(t *testing.T) {
	check.Same(t, "JSON", string(check.Must(json.Marshal(inspect.Stories(nil)))), "[]")
}
