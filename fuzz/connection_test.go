package fuzz

import "testing"

func FuzzConnection(f *testing.F) {
	for _, seed := range targetConnection.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetConnection.Run(t, data) })
}
