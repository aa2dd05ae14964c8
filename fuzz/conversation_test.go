package fuzz

import "testing"

func FuzzConversation(f *testing.F) {
	for _, seed := range Seeds("FuzzConversation") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CheckConversation(t, data) })
}
