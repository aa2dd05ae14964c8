package base_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Senders with this scheduler, event by event; testvectors/traces has them as they were
// written.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "sender-loss", "sender-pace", "conversation")
}
