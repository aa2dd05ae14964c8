package fuzz

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"time"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

// An input is a byte that says as which protocol datagrams are taken, 0 for any; and datagrams, each
// behind its size, 2 bytes. Its sender is the lowest bit of the size.
var targetInspect = newTarget("Inspect", "any bytes have a tree that covers each bit once; a story and JSON can be made of them", runInspect, seedInspect)

func runInspect(t T, data []byte) {
	s := script{data}
	protocols := append([]inspect.Protocol{inspect.Auto}, inspect.Protocols()...)
	in := inspect.New(inspect.Options{As: pick(&s, protocols), ProtocolIDs: []uint32{0x11223344}})
	ends := [2]netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("192.0.2.2:2")}
	var list []inspect.Captured
	for len(s.left) > 0 {
		n := int(s.uint16())
		from := n & 1
		joined := s.take(n / 2)
		before := bytes.Clone(joined)
		for _, b := range inspect.Cut(joined) {
			c := inspect.Captured{At: time.UnixMicro(int64(7919 * len(list))), From: ends[from], To: ends[1-from], Result: in.Datagram(ends[from], ends[1-from], b)}
			checkTree(t, &c.Result, b)
			list = append(list, c)
		}
		if !bytes.Equal(joined, before) {
			t.Fatalf("inspecting changed the datagram")
		}
	}
	if _, err := json.Marshal(inspect.Stories(list)); err != nil {
		t.Fatalf("%v", err)
	}
}

// checkTree makes sure that the leaves of a tree are all bits, once each.
func checkTree(t T, r *inspect.Result, b []byte) {
	t.Helper()
	at := 0
	for i := range r.Fields {
		r.Fields[i].Leaves(func(f *inspect.Field) {
			if f.Bit != at || f.Bits < 1 || f.Value == nil {
				t.Fatalf("%x as %s: %s has %d bits from %d on, after %d", b, r.Protocol, f.Name, f.Bits, f.Bit, at)
			}
			at += f.Bits
		})
	}
	if at != 8*len(b) {
		t.Fatalf("%x as %s: the tree has %d of %d bits", b, r.Protocol, at, 8*len(b))
	}
	if _, err := json.Marshal(r); err != nil {
		t.Fatalf("%v", err)
	}
}

func seedInspect(files []testvectors.File) (seeds [][]byte) {
	add := func(as byte, b []byte) {
		seeds = append(seeds, append([]byte{as, byte(2 * len(b)), byte(len(b) >> 7)}, b...))
	}
	for _, b := range bytesIn(files, contract.OpDecodePacket, contract.OpSessionDecode) {
		add(0, b)
	}
	for _, b := range bytesIn(files, contract.OpRecordsDecode) {
		add(9, b)
	}
	for _, b := range bytesIn(files, contract.OpConnectionDecode) {
		add(10, b)
	}
	return seeds
}
