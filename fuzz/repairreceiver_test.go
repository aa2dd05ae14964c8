package fuzz

import "testing"

func FuzzRepairReceiver(f *testing.F) {
	for _, seed := range targetRepairReceiver.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetRepairReceiver.Run(t, data) })
}
