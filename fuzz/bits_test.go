package fuzz

import "testing"

func FuzzBits(f *testing.F) {
	for _, seed := range Seeds("FuzzBits") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckBits(t, data) })
}
