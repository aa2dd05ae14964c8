package connection

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"io"
)

const (
	// SeedSize is how many bytes Config.Seed has.
	SeedSize = 16
	// Holes is how many packets with a slice or a message are sent at most until a number is skipped (CXM-18).
	Holes = 16
)

// holes says which numbers of packets are skipped (CXM-18).
type holes struct {
	seed  [SeedSize]byte
	block [sha256.Size]byte
	drawn uint64 // bytes of blocks so far
	until int    // heavy packets until the next; 0: none is skipped
}

// newHoles returns the holes of a seed; of zeros there are none.
func newHoles(seed [SeedSize]byte) holes {
	h := holes{seed: seed}
	if seed != [SeedSize]byte{} {
		h.draw()
	}
	return h
}

// draw sets after how many heavy packets the next number is skipped.
func (h *holes) draw() {
	at := h.drawn % sha256.Size
	if at == 0 {
		mac := hmac.New(sha256.New, h.seed[:])
		mac.Write(binary.LittleEndian.AppendUint64(nil, h.drawn/sha256.Size))
		mac.Sum(h.block[:0])
	}
	h.until = 1 + int(h.block[at])%Holes
	h.drawn++
}

// due reports whether the number behind a heavy packet is skipped.
func (h *holes) due() bool {
	if h.until == 0 {
		return false
	}
	if h.until--; h.until > 0 {
		return false
	}
	h.draw()
	return true
}

// drawSeed returns a seed for one connection (CXN-5).
func drawSeed(random io.Reader) (seed [SeedSize]byte) {
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		panic(err) // it must not fail
	}
	return seed
}
