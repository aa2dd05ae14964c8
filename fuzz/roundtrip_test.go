package fuzz

import "testing"

func FuzzRoundTrip(f *testing.F) {
	for _, seed := range targetRoundTrip.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetRoundTrip.Run(t, data) })
}
