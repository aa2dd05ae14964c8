package fuzz

import "testing"

func FuzzLanes(f *testing.F) {
	for _, seed := range targetLanes.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetLanes.Run(t, data) })
}
