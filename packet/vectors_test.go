package packet_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Bytes, rows and refusals are asserted by the vectors; other tests are of what they cannot say.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "packet-examples", "packet-header", "packet-decode", "packet-refuse", "packet-congestion", "packet-endpoint", "packet-conversation")
}
