package fuzz

import "testing"

func FuzzChannelConversation(f *testing.F) {
	for _, seed := range targetChannelConversation.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetChannelConversation.Run(t, data) })
}
