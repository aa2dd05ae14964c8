package port_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/vectortest"
)

// The reference passes every vector.
func TestVectors(t *testing.T) {
	files, err := testvectors.Load()
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, f := range files {
		groups = append(groups, f.Group)
	}
	vectortest.Replay(t, groups...)
}
