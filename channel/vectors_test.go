package channel_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Bytes, rows and refusals are asserted by the vectors; other tests are of what they cannot say.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "channel-examples", "channel-records", "channel-refuse", "channel-report", "channel-receiver", "channel-sender", "channel-conversation")
}
