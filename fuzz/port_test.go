package fuzz

import "testing"

func FuzzPort(f *testing.F) {
	for _, seed := range Seeds("FuzzPort") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckPort(t, data) })
}
