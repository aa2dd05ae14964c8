package fuzz

import "testing"

func FuzzPacketEndpoint(f *testing.F) {
	for _, seed := range targetPacketEndpoint.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetPacketEndpoint.Run(t, data) })
}
