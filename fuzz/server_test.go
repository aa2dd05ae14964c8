package fuzz

import "testing"

func FuzzServer(f *testing.F) {
	for _, seed := range targetServer.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetServer.Run(t, data) })
}
