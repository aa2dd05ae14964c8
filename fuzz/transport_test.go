package fuzz

import "testing"

func FuzzTransport(f *testing.F) {
	for _, seed := range Seeds("FuzzTransport") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckTransport(t, data) })
}
