package fuzz

import "testing"

func FuzzBody(f *testing.F) {
	for _, seed := range Seeds("FuzzBody") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckBody(t, data) })
}
