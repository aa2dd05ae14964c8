package statemachine_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Conversations, event by event, with the row, the state, the packets and the deadline
// after each; testvectors/traces has them as they were written.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "sender", "receiver", "receiver-timing", "conversation")
}
