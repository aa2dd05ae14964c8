package rateless_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// Senders with this scheduler, event by event.
func TestVectors(t *testing.T) { vectortest.Replay(t, "repair-rule", "repair-conversation") }
