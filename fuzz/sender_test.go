package fuzz

import "testing"

func FuzzSender(f *testing.F) {
	for _, seed := range Seeds("FuzzSender") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckSender(t, data) })
}
