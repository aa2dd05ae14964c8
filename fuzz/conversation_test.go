package fuzz

import "testing"

func FuzzConversation(f *testing.F) {
	for _, seed := range targetConversation.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetConversation.Run(t, data) })
}
