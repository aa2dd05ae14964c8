package connections_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

func TestVectors(t *testing.T) { conformtest.Vectors(t, connections.Op) }

func TestScripts(t *testing.T) {
	conformtest.Scripts(t, connections.Op, "connection-endpoint")
	conformtest.Scripts(t, connections.Op, "connection-marks")
	conformtest.Scripts(t, connections.Op, "connection-lies")
	conformtest.Scripts(t, connections.Op, "repair-connection-endpoint")
}
