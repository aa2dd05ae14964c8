package fuzz

import "testing"

func FuzzDatagram(f *testing.F) {
	for _, seed := range targetDatagram.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetDatagram.Run(t, data) })
}
