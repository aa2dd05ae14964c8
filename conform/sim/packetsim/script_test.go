package packetsim

import (
	"testing"

	"pgregory.net/rapid"
)

// Scripts of any bytes run, and find nothing.
func TestScriptsOfAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "script")
		RunEndpoint(data, t.Fatalf)
		RunCongestion(data, t.Fatalf)
	})
}
