package fuzz

import "testing"

func FuzzPacket(f *testing.F) {
	for _, seed := range targetPacket.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetPacket.Run(t, data) })
}
