package statemachine

import (
	"math/rand/v2"
	"testing"
)

// Chunks of one slice through heavy loss seldom give a clean sample of the round
// trip. What stands in for it must not make the sender so patient that it gives
// up: 50 connections of 20 chunks each, with the default time to give up.
func TestSmallChunksSurviveHeavyLoss(t *testing.T) {
	for _, loss := range []int{30, 50} {
		for _, size := range []int{1, 3000} {
			for seed := range uint64(50) {
				random := rand.New(rand.NewPCG(seed, uint64(loss)))
				lossy := func(now Micros) []Micros {
					if random.IntN(100) < loss {
						return nil
					}
					return []Micros{now + 10*ms}
				}
				w := newWorld(t, Burst(), 0)
				w.toRecv, w.toSend = lossy, lossy
				for range 20 {
					w.transfer(chunkOf(size, 1))
					w.settle()
				}
			}
		}
	}
}
