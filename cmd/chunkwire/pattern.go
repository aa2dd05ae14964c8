package main

import (
	"math/rand/v2"
)

// pattern returns n bytes that only their seed knows, so that a slice in the
// wrong place shows.
func pattern(n int, seed uint64) []byte {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b) // never fails
	return b
}
