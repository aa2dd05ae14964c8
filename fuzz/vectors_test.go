package fuzz

import "testing"

func FuzzVectors(f *testing.F) {
	for _, seed := range targetVectors.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetVectors.Run(t, data) })
}
