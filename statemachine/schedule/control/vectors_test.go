package control_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Senders that the controller holds, with named slices and with repair slices.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "recovery", "recovery-conversation", "repair-rule", "repair-conversation")
}
