package fuzz

import "testing"

func FuzzDatagram(f *testing.F) {
	for _, seed := range Seeds("FuzzDatagram") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckDatagram(t, data) })
}
