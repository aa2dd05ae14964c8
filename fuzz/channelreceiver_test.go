package fuzz

import "testing"

func FuzzChannelReceiver(f *testing.F) {
	for _, seed := range targetChannelReceiver.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetChannelReceiver.Run(t, data) })
}
