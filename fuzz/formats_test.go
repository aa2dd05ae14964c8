package fuzz

import "testing"

func FuzzFormats(f *testing.F) {
	for _, seed := range targetFormats.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetFormats.Run(t, data) })
}
