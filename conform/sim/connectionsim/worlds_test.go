package connectionsim

import (
	"testing"
)

// Whatever happens to datagrams, addresses and ends, and whatever is forged: what was accepted
// is read once, in order and whole, or the connection ends for a reason at both ends (CXT-SAFE-4,
// CXT-SAFE-6, CXT-LIVE-1, CXT-LIVE-2, CXT-LIVE-4). No address that has not answered a challenge
// gets as many bytes as came from it (CXT-BND-1).
func TestWorlds(t *testing.T) {
	t.Parallel()
	t.Logf("%+v", Worlds.Test(t, 25))
}
