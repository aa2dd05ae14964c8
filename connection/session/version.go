package session

import "slices"

// grease reports whether a version is one that never exists. Ends put such into their lists so that
// no other end comes to rely on knowing all that it reads (CXH-15).
func grease(version uint8) bool { return version&0x0F == 0x0A }

// greased returns the versions of this package with one that does not exist, before or behind it: both
// follow from two random bytes.
func greased(value, place uint8) Versions {
	never := value&0xF0 | 0x0A
	if place%2 == 1 {
		return Versions{never, Version}
	}
	return Versions{Version, never}
}

// offered are the versions in a LINK, listed those in a CHALLENGE (CXH-15).
func (n *Nonce) offered() Versions { return greased(n[0], n[1]) }
func (n *Nonce) listed() Versions  { return greased(n[15], n[14]) }

// unknownExtensions are the bits of extensions that never have a meaning (CXH-15).
const unknownExtensions = 1<<12 | 1<<13

// extensions returns a set with a bit that has no meaning, in every other attempt (CXH-15).
func (n *Nonce) extensions(set uint16) uint16 {
	return set&^unknownExtensions | uint16(n[3]%2)<<12
}

// reserved returns what is in the reserved bytes of a LINK: mostly zeros (CXH-15).
func (n *Nonce) reserved() (b [reservedSize]byte) {
	if n[2] < 16 {
		for i := range b {
			b[i] = n[i%len(n)]
		}
	}
	return b
}

// choose returns the version that a server chooses: the first of the client's list that it has, too; 0 if
// there is none (CXH-14).
func choose(client, server *Versions) uint8 {
	for _, v := range client {
		if v != 0 && !grease(v) && slices.Contains(server[:], v) {
			return v
		}
	}
	return 0
}
