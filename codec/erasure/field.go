package erasure

// reduced is x^8 in GF(2^8) (RPC-3).
const reduced = 0x1D

// order is the number of elements that are not 0: the powers of x, from x^0 to x^254.
const order = 255

// powers[n] is x^n, for sums of two logarithms and less. logs is its inverse; 0 has none.
var powers, logs = func() (powers [2 * order]byte, logs [order + 1]byte) {
	b := byte(1)
	for n := range powers {
		powers[n], logs[b] = b, byte(n%order)
		b = b<<1 ^ b>>7*reduced
	}
	return powers, logs
}()

// inverse returns 1/b. b is not 0.
func inverse(b byte) byte { return powers[order-int(logs[b])] }

func product(a, b byte) byte {
	if a == 0 || b == 0 {
		return 0
	}
	return powers[int(logs[a])+int(logs[b])]
}

// timesX returns x times each of eight bytes.
func timesX(v uint64) uint64 {
	const high, reducedEach = 0x8080808080808080, 0x0101010101010101 * reduced
	carry := v & high
	return (v^carry)<<1 ^ (carry-carry>>7)&reducedEach
}
