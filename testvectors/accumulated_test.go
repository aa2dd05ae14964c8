package testvectors_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

// The runs' hashes come from the oracle; here the codec makes them again. The
// generator is written a second time too, so that its text is tested.
func TestAccumulated(t *testing.T) {
	runs, err := testvectors.LoadAccumulated()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		t.Run(run.Name, func(t *testing.T) {
			if run.Packets > 10_000 && testing.Short() {
				t.Skip("takes long")
			}
			t.Parallel()
			if got := accumulate(t, uint32(run.Seed), run.Packets); got != run.SHA256 {
				t.Errorf("got %s, want %s", got, run.SHA256)
			}
		})
	}
}

func accumulate(t *testing.T, seed uint32, packets int) string {
	x := xorshift(seed)
	h := sha256.New()
	var out []byte
	for range packets {
		id, p := x.packet()
		framer := codec.NewFramer(id)
		var err error
		if out, err = framer.Append(out[:0], p); err != nil {
			t.Fatal(err)
		}
		h.Write(out)
		m := x.next()%uint32(8*len(out)-32) + 32
		out[m/8] ^= 1 << (m % 8)
		binary.LittleEndian.PutUint32(out, sealOf(id, out[4:]))
		_, err = framer.Decode(out)
		line := "ok\n"
		var refused *codec.Error
		if errors.As(err, &refused) {
			line = string(refused.Code()) + "\n"
		}
		h.Write([]byte(line))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func sealOf(id uint32, rest []byte) uint32 {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], id)
	return crc32.Update(crc32.ChecksumIEEE(head[:]), crc32.IEEETable, rest)
}

type xorshift uint32

func (x *xorshift) next() uint32 {
	v := uint32(*x)
	v ^= v << 13
	v ^= v >> 17
	v ^= v << 5
	*x = xorshift(v)
	return v
}

func (x *xorshift) packet() (id uint32, p codec.Packet) {
	id = x.next()
	isAck := x.next()%2 == 1
	chunkID, n := uint16(x.next()), int(x.next()%256+1)
	if isAck {
		p = codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: chunkID, NumSlices: n}}
		var w uint32
		for k := range n {
			if k%32 == 0 {
				w = x.next()
			}
			if w&(1<<(k%32)) != 0 {
				p.Ack.Acked.Set(k)
			}
		}
		return id, p
	}
	s := codec.Slice{ChunkID: chunkID, SliceID: int(x.next() % uint32(n)), NumSlices: n}
	size := codec.SliceSize
	if s.SliceID == n-1 {
		size = int(x.next()%1024) + 1
	}
	fill := x.next()
	s.Data = make([]byte, size)
	for i := range s.Data {
		s.Data[i] = byte(fill) + byte(i)
	}
	return id, codec.Packet{Slice: s}
}
