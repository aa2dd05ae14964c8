package netsim

// ring is a first-in first-out queue that reuses its memory. The zero value is
// empty.
type ring[T any] struct {
	slots []T // length is zero or a power of two
	head  int
	count int
}

func (r *ring[T]) len() int { return r.count }

// front returns the oldest element. The ring must not be empty.
func (r *ring[T]) front() T { return r.slots[r.head] }

func (r *ring[T]) push(v T) {
	if r.count == len(r.slots) {
		r.grow()
	}
	r.slots[(r.head+r.count)&(len(r.slots)-1)] = v
	r.count++
}

// pop removes and returns the oldest element. The ring must not be empty.
func (r *ring[T]) pop() T {
	var zero T
	v := r.slots[r.head]
	r.slots[r.head] = zero // let go of what it points to
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.count--
	return v
}

func (r *ring[T]) grow() {
	slots := make([]T, max(8, 2*len(r.slots)))
	n := copy(slots, r.slots[r.head:])
	copy(slots[n:], r.slots[:r.head])
	r.slots, r.head = slots, 0
}
