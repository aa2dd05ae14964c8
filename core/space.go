package core

// Number is the place of a packet in the row of all that one end sends, from 0. It never
// wraps. A negative number is none.
type Number int64

// NoNumber is the number before the first.
const NoNumber Number = -1

// Space is how many bits of a number are on the wire: 1 to 16.
type Space uint8

// Wire16 is the space of 16 bits, which all protocols of the family have. Smaller ones
// make a search of all states possible.
const Wire16 Space = 16

// Size returns how many numbers have different bits.
func (s Space) Size() Number { return 1 << s }

// Wire returns what the wire has of a number.
func (s Space) Wire(n Number) uint16 { return uint16(n & (1<<s - 1)) }

// From returns the first number at or after base that has these bits on the wire. It is
// not ok if that is half the space or more ahead of base, or below 0: such a number is
// taken for an old one (PKS-2). Bits outside the space are ignored.
func (s Space) From(base Number, wire uint16) (n Number, ok bool) {
	d := (Number(wire) - base) & (1<<s - 1)
	n = base + d
	return n, d < 1<<(s-1) && n >= 0
}

// UpTo returns the last number at or before newest that has these bits on the wire. It is
// negative if there is none.
func (s Space) UpTo(newest Number, wire uint16) Number {
	return newest - (newest-Number(wire))&(1<<s-1)
}
