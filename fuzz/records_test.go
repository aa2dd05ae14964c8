package fuzz

import "testing"

func FuzzRecords(f *testing.F) {
	for _, seed := range targetRecords.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetRecords.Run(t, data) })
}
