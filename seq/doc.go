// Package seq counts packets: with numbers that never wrap inside, of which the wire has
// the low bits (section 4 of spec/PACKETS.md). It knows no protocol.
//
// A [Space] turns the one into the other. A [Window] is the set of numbers behind the
// next one, kept in a ring of bits.
package seq
