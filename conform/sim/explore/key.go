package explore

// Key stands for a state. Of a million million states no two have the same key but
// with a probability below 10^-14. Mix everything into it that can make a difference,
// always in the same order.
type Key [2]uint64

// Mix adds words.
func (k *Key) Mix(words ...uint64) {
	for _, w := range words {
		k[0] = (k[0] ^ w + 1) * 0x9e3779b97f4a7c15 // + 1: a leading 0 counts, too
		k[0] ^= k[0] >> 32
		k[1] = (k[1] ^ w + 1) * 0xd6e8feb86659fd93
		k[1] ^= k[1] >> 29
	}
}

// MixBits adds up to 64 bits.
func (k *Key) MixBits(bits ...bool) {
	var word uint64
	for _, b := range bits {
		word <<= 1
		if b {
			word |= 1
		}
	}
	k.Mix(word)
}
