package packet

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// partial is a packet of which fragments are missing.
type partial struct {
	number core.Number
	since  core.Micros // when its first fragment came
	header Header      // once fragment 0 is here
	parts  [][]byte    // by fragment id; nil: missing
	here   int         // how many are here
	bytes  int         // of those that are here
}

// reassembly is all packets in reassembly, the smallest number first. There are a few at
// most, so a list is searched from its start.
type reassembly struct {
	list  []*partial
	bytes int // of all fragments
}

// find returns the packet of a number, or nil.
func (r *reassembly) find(n core.Number) *partial {
	for _, p := range r.list {
		if p.number == n {
			return p
		}
	}
	return nil
}

// remove ends the reassembly at a place of the list.
func (r *reassembly) remove(i int) {
	r.bytes -= r.list[i].bytes
	r.list = slices.Delete(r.list, i, i+1)
}

// end ends the reassembly of a number, if there is one.
func (r *reassembly) end(n core.Number) {
	for i, p := range r.list {
		if p.number == n {
			r.remove(i)
			return
		}
	}
}

// begin adds an empty packet of so many fragments at its place in the list.
func (r *reassembly) begin(n core.Number, fragments int, now core.Micros) *partial {
	p := &partial{number: n, since: now, parts: make([][]byte, fragments)}
	r.list = append(r.list, p)
	for i := len(r.list) - 1; i > 0 && r.list[i-1].number > n; i-- {
		r.list[i], r.list[i-1] = r.list[i-1], r.list[i]
	}
	return p
}

// store copies a fragment to memory of its own size (PKX-1).
func (r *reassembly) store(p *partial, f *Packet) {
	data := make([]byte, len(f.Data))
	copy(data, f.Data)
	p.parts[f.FragmentID] = data
	if f.FragmentID == 0 {
		p.header = f.Header
	}
	p.here++
	p.bytes += len(data)
	r.bytes += len(data)
}

// fits reports whether there would be room for size more bytes of a packet if all older
// ones were dropped (PKX-3).
func (r *reassembly) fits(n core.Number, size, packets, bytes int) bool {
	for _, p := range r.list {
		if p.number >= n {
			size += p.bytes
		}
		if p.number > n {
			packets--
		}
	}
	return packets > 0 && size <= bytes
}

// full reports whether there is no room yet for size more bytes, of a new packet or of one
// that has begun.
func (r *reassembly) full(isNew bool, size, packets, bytes int) bool {
	return isNew && len(r.list) >= packets || r.bytes+size > bytes
}

// payload returns all fragments in order, of which the last to come is not stored. Its size
// follows from theirs (PKX-4).
func (p *partial) payload(last *Packet) []byte {
	payload := make([]byte, 0, p.bytes+len(last.Data))
	for id, part := range p.parts {
		if id == last.FragmentID {
			part = last.Data
		}
		payload = append(payload, part...)
	}
	return payload
}
