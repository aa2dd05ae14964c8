package fuzz

import "testing"

func FuzzPort(f *testing.F) {
	for _, seed := range targetPort.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { targetPort.Run(t, data) })
}
