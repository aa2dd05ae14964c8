package fuzz

import "testing"

func FuzzHandshake(f *testing.F) {
	for _, seed := range targetHandshake.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetHandshake.Run(t, data) })
}
