package oracle

import (
	"crypto/sha256"

	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// Generator makes random packets (appendix B, "Random packets").
type Generator struct{ stream.Random }

// NewGenerator returns a Generator that begins with a seed other than 0.
func NewGenerator(seed uint32) *Generator { return &Generator{stream.Random(seed)} }

// Packet takes a protocol id and a packet (ACC-2).
func (x *Generator) Packet() (protocolID uint32, p Packet) {
	protocolID = x.Next()
	p.Type = "slice"
	if x.Next()%2 == 1 {
		p.Type = "ack"
	}
	p.ChunkID = int64(x.Next() % 65536)
	p.NumSlices = int64(x.Next()%256 + 1)
	if p.Type == "ack" {
		p.Acked = x.acked(int(p.NumSlices))
		return protocolID, p
	}
	p.SliceID = int64(x.Next()) % p.NumSlices
	size := sliceSize
	if p.SliceID == p.NumSlices-1 {
		size = int(x.Next()%1024 + 1)
	}
	fill := x.Next()
	p.Data = make([]byte, size)
	for i := range p.Data {
		p.Data[i] = byte(fill + uint32(i))
	}
	return protocolID, p
}

func (x *Generator) acked(n int) []bool {
	acked := make([]bool, n)
	var w uint32
	for k := range acked {
		if k%32 == 0 {
			w = x.Next()
		}
		acked[k] = w>>(k%32)&1 == 1
	}
	return acked
}

// Flip returns the datagram with one random bit behind the crc flipped, and the
// crc made right again (ACC-3).
func (x *Generator) Flip(protocolID uint32, datagram []byte) []byte {
	m := x.Next()%uint32(8*len(datagram)-32) + 32
	s := stream.Unpack(datagram)
	s[m] ^= 1
	return seal(protocolID, s.Pack()[4:])
}

// seal returns the datagram whose bytes after the crc are rest: with the right crc in front (FRM-2).
func seal(protocolID uint32, rest []byte) []byte {
	var covered, crc stream.Stream
	covered.Bits(uint64(protocolID), 32)
	covered.Bits(0, 32)
	crc.Bits(uint64(stream.CRC32(append(covered.Pack(), rest...))), 32)
	return append(crc.Pack(), rest...)
}

// Accumulate is the hash of a run of random packets (ACC-3).
func Accumulate(seed uint32, packets int) [sha256.Size]byte {
	x, h := NewGenerator(seed), sha256.New()
	for range packets {
		protocolID, p := x.Packet()
		in := layout.Parameters{"PROTOCOL_ID": int64(protocolID)}
		datagram, refused := layout.Encode("chunk-datagram", layout.Names{}.Get(p), in)
		if refused != nil {
			panic(refused) // the generator makes valid packets only
		}
		h.Write(datagram)
		line := "ok"
		if _, refused = layout.Decode("chunk-datagram", x.Flip(protocolID, datagram), in, nil); refused != nil {
			line = refused.Code
		}
		h.Write([]byte(line + "\n"))
	}
	return [sha256.Size]byte(h.Sum(nil))
}
