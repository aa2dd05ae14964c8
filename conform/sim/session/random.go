package session

import (
	"io"
	"math/rand/v2"
)

// random returns a source that a seed decides.
func random(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed, 's'}) }
