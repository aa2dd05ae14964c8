package fuzz

import "testing"

func FuzzReceiver(f *testing.F) {
	for _, seed := range targetReceiver.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetReceiver.Run(t, data) })
}
