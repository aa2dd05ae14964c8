package fuzz

import "testing"

func FuzzErasure(f *testing.F) {
	for _, seed := range targetErasure.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetErasure.Run(t, data) })
}
