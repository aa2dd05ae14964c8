package fuzz

import "testing"

func FuzzInspect(f *testing.F) {
	for _, seed := range targetInspect.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetInspect.Run(t, data) })
}
