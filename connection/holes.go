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
	// Holes is how many packets with a slice are sent at most until a number is left out (CXM-18).
	Holes = 16
)

// holes says which numbers of packets are left out (CXM-18).
type holes struct {
	seed  [SeedSize]byte
	block [sha256.Size]byte
	drawn uint64 // bytes of blocks so far
	until int    // packets with a slice until the next; 0: none is left out
}

// newHoles returns the holes of a seed.
func newHoles(seed [SeedSize]byte) holes {
	h := holes{seed: seed}
	h.draw()
	return h
}

// draw sets after how many packets with a slice the next number is left out.
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

// due reports whether the number behind a packet with a slice is left out.
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
