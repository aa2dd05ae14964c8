package fuzz

import "testing"

func FuzzMux(f *testing.F) {
	for _, seed := range targetMux.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetMux.Run(t, data) })
}
