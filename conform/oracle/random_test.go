package oracle_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// The hash that ACC-3 names.
func TestHashOfTheDocument(t *testing.T) {
	const want = "c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5"
	if got := fmt.Sprintf("%x", oracle.Accumulate(1, 1000)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
