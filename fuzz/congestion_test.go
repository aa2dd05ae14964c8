package fuzz

import "testing"

func FuzzCongestion(f *testing.F) {
	for _, seed := range targetCongestion.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetCongestion.Run(t, data) })
}
