package fuzz

import "testing"

func FuzzRepairDatagram(f *testing.F) {
	for _, seed := range targetRepairDatagram.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetRepairDatagram.Run(t, data) })
}
