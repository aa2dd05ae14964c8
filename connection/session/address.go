package session

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// Address is the address of a peer as cookies hold it (CXN-7): 16 bytes of IP, an IPv4 address
// mapped, and the port. Of an address that is not IP it is the first 18 bytes of the SHA-256 of
// its text.
type Address [18]byte

// AddressOf returns the address of an IP endpoint. One with a zone counts as text, so that equal
// addresses of two interfaces differ.
func AddressOf(a netip.AddrPort) (out Address) {
	if !a.IsValid() || a.Addr().Zone() != "" {
		return hashed(a.String())
	}
	ip := a.Addr().As16()
	copy(out[:], ip[:])
	binary.LittleEndian.PutUint16(out[16:], a.Port())
	return out
}

// AddressOfText returns the address that a text names, such as "192.0.2.1:40000".
func AddressOfText(text string) Address {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return AddressOf(a)
	}
	return hashed(text)
}

func hashed(text string) Address {
	sum := sha256.Sum256([]byte(text))
	return Address(sum[:])
}

// Prefix is what of an address one peer can hold alone (CXN-8): an IPv4 address without its
// port, or the first 64 bits of any other.
type Prefix [16]byte

var mapped = [12]byte{10: 0xff, 11: 0xff}

// Prefix returns the prefix of an address.
func (a Address) Prefix() (p Prefix) {
	if [12]byte(a[:]) == mapped {
		return Prefix(a[:])
	}
	copy(p[:8], a[:])
	return p
}
