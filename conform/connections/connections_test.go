package connections_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

func TestVectors(t *testing.T) { conformtest.Vectors(t, connections.Op) }
