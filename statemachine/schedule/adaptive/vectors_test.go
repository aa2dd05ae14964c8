package adaptive_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Senders with this scheduler, event by event.
func TestVectors(t *testing.T) { vectortest.Replay(t, "recovery", "recovery-conversation") }
