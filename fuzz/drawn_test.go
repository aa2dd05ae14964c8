package fuzz

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Targets take what is drawn behind the beginning of a seed, so that events are drawn where vectors lead to.
// That of Port is left out: it reads text.
func TestDrawn(t *testing.T) {
	for _, target := range Targets() {
		if target == targetPort {
			continue
		}
		t.Run(target.Name, rapid.MakeCheck(func(t *rapid.T) {
			seed := rapid.SampledFrom(target.Seeds()).Draw(t, "seed")
			seed = seed[:rapid.IntRange(0, len(seed)).Draw(t, "bytes of it")]
			target.Run(t, slices.Concat(seed, rapid.SliceOfN(rapid.Byte(), 0, 500).Draw(t, "more")))
		}))
	}
}
