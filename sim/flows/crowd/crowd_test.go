package crowd

import (
	"testing"
	"time"
)

func TestWorlds(t *testing.T) {
	for seed := range uint64(24) {
		began := time.Now()
		c, err := RunWorld(seed, nil)
		t.Logf("seed %d: %v, %d datagrams, %d ours, %v", seed, time.Since(began).Round(time.Millisecond), c.Datagrams, c.Ours, err)
	}
}
