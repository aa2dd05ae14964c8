package fuzz

import "testing"

func FuzzChannelSender(f *testing.F) {
	for _, seed := range targetChannelSender.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetChannelSender.Run(t, data) })
}
