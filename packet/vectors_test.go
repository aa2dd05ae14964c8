package packet_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Bytes, rows and refusals are asserted by the vectors; other tests are of what they cannot say.
// packet-endpoint/ack-at-the-last-moment is about PKI-6, packet-congestion/from-4-to-60-seconds about PKT-BND-3.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "packet-examples", "packet-header", "packet-decode", "packet-refuse", "packet-congestion", "packet-endpoint", "packet-conversation")
}
