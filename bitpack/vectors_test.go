package bitpack_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Bytes and refusals are asserted by the vectors; other tests are of what they cannot say.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "bits", "slice-body", "ack-body", "frame-slice", "frame-ack", "refuse-body")
}
