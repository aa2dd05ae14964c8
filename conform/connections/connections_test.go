package connections_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

// Those of an end that moves, too (CXO-15, CXO-16).
func TestVectors(t *testing.T) { conformtest.Vectors(t, connections.Op, connections.Moves) }

func TestScripts(t *testing.T) {
	conformtest.Scripts(t, connections.Op, "connection-endpoint")
	conformtest.Scripts(t, connections.Op, "connection-marks")
	conformtest.Scripts(t, connections.Op, "connection-clocks")
	conformtest.Scripts(t, connections.Op, "connection-lies")
	conformtest.Scripts(t, connections.Op, "repair-connection-endpoint")
	conformtest.Scripts(t, connections.Moves, "connection-moves")
}
