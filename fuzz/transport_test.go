package fuzz

import "testing"

func FuzzTransport(f *testing.F) {
	for _, seed := range targetTransport.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetTransport.Run(t, data) })
}
