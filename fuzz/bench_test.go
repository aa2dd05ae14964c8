package fuzz

import "testing"

// BenchmarkTargets measures an execution of each target, without the engine: its
// seeds in turn.
func BenchmarkTargets(b *testing.B) {
	for _, target := range Targets() {
		b.Run(target.Name, func(b *testing.B) {
			seeds := Seeds(target.Name)
			n := 0
			for b.Loop() {
				if err := target.Try(seeds[n%len(seeds)]); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
