package session_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Bytes, rows and refusals are asserted by the vectors; other tests are of what they cannot say.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "session-examples", "session-messages", "session-refuse", "session-envelope", "session-keys", "session-client", "session-server", "session-conversation")
}
