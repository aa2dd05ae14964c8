package fuzz

import "testing"

func FuzzSender(f *testing.F) {
	for _, seed := range targetSender.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetSender.Run(t, data) })
}
