package explore

import "iter"

// MaxBag is the most packets that a Bag holds.
const MaxBag = 4

// Bag is what is in flight one way, each packet as one number. It is sorted: any of
// it can arrive next, so its order means nothing. The zero value is empty.
type Bag[P ~uint32 | ~uint64] struct {
	n       uint8
	packets [MaxBag]P
}

// Len returns the number of packets.
func (b *Bag[P]) Len() int { return int(b.n) }

// At returns packet i, in the order of their numbers.
func (b *Bag[P]) At(i int) P { return b.packets[i] }

// Add adds a packet. There must be room.
func (b *Bag[P]) Add(p P) {
	i := b.n
	for ; i > 0 && b.packets[i-1] > p; i-- {
		b.packets[i] = b.packets[i-1]
	}
	b.packets[i] = p
	b.n++
}

// Take removes and returns packet i.
func (b *Bag[P]) Take(i int) P {
	p := b.packets[i]
	copy(b.packets[i:], b.packets[i+1:])
	b.n--
	b.packets[b.n] = 0
	return p
}

// Distinct returns the places of packets that are not the same as one before.
func (b *Bag[P]) Distinct() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range b.Len() {
			if (i == 0 || b.packets[i] != b.packets[i-1]) && !yield(i) {
				return
			}
		}
	}
}

// Mix adds the packets to a key.
func (b *Bag[P]) Mix(k *Key) {
	k.Mix(uint64(b.n))
	for _, p := range b.packets {
		k.Mix(uint64(p))
	}
}
