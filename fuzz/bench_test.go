package fuzz

import "testing"

// BenchmarkTargets measures an execution of each target, without the engine: its
// seeds in turn.
func BenchmarkTargets(b *testing.B) {
	for _, target := range Targets() {
		b.Run(target.Name, func(b *testing.B) {
			seeds := target.Seeds()
			for n := 0; b.Loop(); n++ {
				target.Run(recorder{}, seeds[n%len(seeds)])
			}
		})
	}
}
