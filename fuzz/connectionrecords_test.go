package fuzz

import "testing"

func FuzzConnectionRecords(f *testing.F) {
	for _, seed := range targetConnectionRecords.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetConnectionRecords.Run(t, data) })
}
