package connection_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Bytes, rows and refusals are asserted by the vectors; other tests are of what they cannot say.
func TestVectors(t *testing.T) {
	vectortest.Replay(t, "connection-records", "connection-refuse", "connection-endpoint", "connection-conversation", "connection-marks-records", "connection-marks", "connection-clocks-records", "connection-clocks", "connection-lies", "repair-connection-records", "repair-connection-endpoint", "repair-connection-conversation")
}
