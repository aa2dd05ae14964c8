package fuzz

import "testing"

func FuzzEventLog(f *testing.F) {
	for _, seed := range targetEventLog.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetEventLog.Run(t, data) })
}
