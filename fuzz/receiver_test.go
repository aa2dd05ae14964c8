package fuzz

import "testing"

func FuzzReceiver(f *testing.F) {
	for _, seed := range Seeds("FuzzReceiver") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckReceiver(t, data) })
}
