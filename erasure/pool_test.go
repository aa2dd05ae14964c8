package erasure_test

import "github.com/chunkwire/chunkwire/erasure"

// blocks is a pool that counts what is taken, and gives out blocks that are not empty.
type blocks struct {
	free  []*[erasure.SliceSize]byte
	taken int
	most  int
}

func (p *blocks) Take() *[erasure.SliceSize]byte {
	p.taken++
	p.most = max(p.most, p.taken)
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	b := new([erasure.SliceSize]byte)
	for i := range b {
		b[i] = 0xA5
	}
	return b
}

func (p *blocks) Put(b *[erasure.SliceSize]byte) {
	p.taken--
	p.free = append(p.free, b)
}
