package reliable

// none marks a slot without an entry.
const none = 1<<32 - 1

// buffer keeps what belongs to the newest numbers, one slot a number modulo its size.
type buffer[T any] struct {
	next    uint16   // 1 + the newest number
	numbers []uint32 // of each slot, or none
	entries []T
}

func newBuffer[T any](size int, next uint16) *buffer[T] {
	b := &buffer[T]{next: next, numbers: make([]uint32, size), entries: make([]T, size)}
	for i := range b.numbers {
		b.numbers[i] = none
	}
	return b
}

// newer reports whether a number is newer than another, half of all numbers ahead. The
// tie goes to the larger.
func newer(a, b uint16) bool { return a > b && a-b <= 32768 || a < b && b-a > 32768 }

func (b *buffer[T]) slot(number uint16) int { return int(number) % len(b.numbers) }

// fits reports whether a number is not too old.
func (b *buffer[T]) fits(number uint16) bool {
	return !newer(b.next-uint16(len(b.numbers)), number)
}

// advance makes room for a number, and forgets what gets too old.
func (b *buffer[T]) advance(number uint16) {
	if !newer(number+1, b.next) {
		return
	}
	for i := 0; i < len(b.numbers) && b.next != number+1; i++ {
		b.remove(b.next)
		b.next++
	}
	b.next = number + 1
}

// insert returns the empty entry of a number, or nil if it is too old.
func (b *buffer[T]) insert(number uint16) *T {
	if !b.fits(number) {
		return nil
	}
	b.advance(number)
	i := b.slot(number)
	var empty T
	b.numbers[i], b.entries[i] = uint32(number), empty
	return &b.entries[i]
}

// find returns the entry of a number, or nil.
func (b *buffer[T]) find(number uint16) *T {
	if i := b.slot(number); b.numbers[i] == uint32(number) {
		return &b.entries[i]
	}
	return nil
}

func (b *buffer[T]) remove(number uint16) {
	var empty T
	i := b.slot(number)
	b.numbers[i], b.entries[i] = none, empty
}

// acks returns what the header of the next packet says.
func (b *buffer[T]) acks() (ack uint16, bits uint32) {
	ack = b.next - 1
	for n := range uint16(32) {
		if b.find(ack-n) != nil {
			bits |= 1 << n
		}
	}
	return ack, bits
}
