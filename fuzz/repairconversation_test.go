package fuzz

import "testing"

func FuzzRepairConversation(f *testing.F) {
	for _, seed := range targetRepairConversation.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetRepairConversation.Run(t, data) })
}
