package fuzz

import "testing"

func FuzzRoundTrip(f *testing.F) {
	for _, seed := range Seeds("FuzzRoundTrip") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckRoundTrip(t, data) })
}
