package fuzz

import "testing"

func FuzzBits(f *testing.F) {
	for _, seed := range targetBits.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetBits.Run(t, data) })
}
