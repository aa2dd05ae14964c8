package fuzz

import "testing"

func FuzzRepairSender(f *testing.F) {
	for _, seed := range targetRepairSender.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetRepairSender.Run(t, data) })
}
