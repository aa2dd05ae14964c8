package erasure

const (
	// SliceSize is the size of a slice in bytes. The last slice of a chunk can be shorter.
	SliceSize = 1024
	// MaxSlices is how many slices a chunk can have.
	MaxSlices = 256
	// MaxIDs is the number of ids: they are 0 to MaxIDs-1, in each chunk (RPN-6).
	MaxIDs = 8192
)

// exponents is how many powers of x are coefficients: x^0 to x^15.
const exponents = 16

// seed makes the first repair slices of small chunks independent as often as can be: it was
// found by search (CODE_SEED, RPC-2).
const seed = 6535

// mix scatters 32 bits (RPC-1).
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	return h ^ h>>16
}

// Exponent returns a(j, i) (RPC-2): the coefficient of source slice i in repair slice j is
// x to the power of it. It is 0 to 15.
func Exponent(j, i int) int {
	return int(mix(uint32(j*32+i/8+seed)) >> (4 * (i % 8)) % exponents)
}

// coefficients fills in a(j, i) for i from 0.
func coefficients(a []byte, j int) {
	var h uint32
	for i := range a {
		if i%8 == 0 {
			h = mix(uint32(j*32 + i/8 + seed))
		}
		a[i] = byte(h % exponents)
		h >>= 4
	}
}
