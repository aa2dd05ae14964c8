package fuzz

import "testing"

func FuzzBody(f *testing.F) {
	for _, seed := range targetBody.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetBody.Run(t, data) })
}
