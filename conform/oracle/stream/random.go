package stream

// Random makes random numbers (ACC-1). It begins as the seed, which is not 0.
type Random uint32

// Next is `next()`.
func (x *Random) Next() uint32 {
	*x ^= *x << 13
	*x ^= *x >> 17
	*x ^= *x << 5
	return uint32(*x)
}
