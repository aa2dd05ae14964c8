package fuzz

import "testing"

func FuzzSession(f *testing.F) {
	for _, seed := range targetSession.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetSession.Run(t, data) })
}
