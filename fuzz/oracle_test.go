package fuzz

import "testing"

func FuzzOracle(f *testing.F) {
	for _, seed := range Seeds("FuzzOracle") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckOracle(t, data) })
}
