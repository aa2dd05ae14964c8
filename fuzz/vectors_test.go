package fuzz

import "testing"

func FuzzVectors(f *testing.F) {
	for _, seed := range Seeds("FuzzVectors") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckVectors(t, data) })
}
