package statemachine

import "github.com/chunkwire/chunkwire/codec"

// spare is a slice that adds nothing to the chunk, but is an equation that the chunk must
// fulfill. If it does not, some slice was forged or broken. Nobody can know which one, so
// this only counts (RPR-11).
type spare struct {
	data *[codec.SliceSize]byte // none: nil
	id   int
	size int
}

// keep keeps a slice until the chunk is rebuilt.
func (p *spare) keep(s *codec.Slice, memory *Memory) {
	p.data = memory.Take()
	p.id, p.size = s.SliceID, copy(p.data[:], s.Data)
}

// forget gives the memory back.
func (p *spare) forget(memory *Memory) {
	if p.data != nil {
		memory.Put(p.data)
	}
	*p = spare{}
}
