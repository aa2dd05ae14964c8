package erasure

import (
	"crypto/subtle"

	"github.com/chunkwire/chunkwire/core"
)

// partOf makes a vector what some source slices are of repair slice j.
func (d *Decoder) partOf(dst *[SliceSize]byte, j int, sources core.Set) {
	var b blocks
	copy(b[:], d.slices)
	var a [MaxSlices]byte
	coefficients(a[:d.numSlices], j)
	for i := range a[:d.numSlices] {
		if !sources.Has(i) {
			a[i] = absent
		}
	}
	b.sum(dst, a[:d.numSlices])
}

// work is how far a Decoder is with the slices that are missing.
type work struct {
	done    bool
	taken   int                // rows without the sources that are here
	solved  []*[SliceSize]byte // what each row becomes; empty before the first column, and at the end
	columns int                // that were added to these
}

// mostAtOnce is how many operations on slices a unit of work has at most: to take the sources out of a row, or to add a
// column. A Step can exceed its budget by one unit.
const mostAtOnce = 2*halves + 2*MaxSlices

// Step does some of what [Decoder.Rebuild] has to do, and reports whether nothing is left: never before Rank is the
// number of slices. An operation adds a slice to another one, or multiplies one; a step has at most so many, and mostAtOnce
// more.
func (d *Decoder) Step(operations int) (done bool) {
	if d.numSlices == 0 || d.Rank() < d.numSlices {
		return false
	}
	w, m := &d.work, &d.matrix
	for ; !w.done && operations > 0; operations -= mostAtOnce {
		switch {
		case w.taken < m.rows:
			d.takeOutSources(w.taken)
			w.taken++
		case w.columns < m.rows:
			d.solve(w.columns)
			w.columns++
		default:
			d.replace()
			w.done = true
		}
	}
	return w.done
}

// takeOutSources leaves of the repair slice of a row what it is of the slices that are missing.
func (d *Decoder) takeOutSources(row int) {
	known := d.pool.Take()
	defer d.pool.Put(known)
	m := &d.matrix
	d.partOf(known, m.id(row)-d.numSlices, d.sources)
	s := d.slices[m.sliceOf()[m.columnOf()[row]]]
	subtle.XORBytes(s[:], s[:], known[:])
}

// solve adds a solved column to the slices that were missing: each is the sum, over these, of the entries of its row
// times the repair slices.
func (d *Decoder) solve(n int) {
	w, m := &d.work, &d.matrix
	if n == 0 {
		for range m.rows {
			s := d.pool.Take()
			clear(s[:])
			w.solved = append(w.solved, s)
		}
	}
	memory := takeScratch(d.pool, SliceSize)
	defer memory.put(d.pool)
	products, column := memory.multiples(), m.columnOf()[n]
	products.of(d.slices[m.sliceOf()[column]][:])
	for row, s := range w.solved {
		products.addTo(s[:], m.row(row)[column])
	}
}

// replace puts in the place of each repair slice the slice for which it is held.
func (d *Decoder) replace() {
	w, m := &d.work, &d.matrix
	for row := range w.solved {
		slice := m.sliceOf()[m.columnOf()[row]]
		d.slices[slice], w.solved[row] = w.solved[row], d.slices[slice]
	}
	w.release(d.pool)
}

func (w *work) release(p Pool) {
	for _, s := range w.solved {
		p.Put(s)
	}
	clear(w.solved)
	*w = work{done: w.done, solved: w.solved[:0]}
}
