//go:build race

package attack

// slowdown is by how much less a flood sends where the race detector makes everything
// slower.
const slowdown = 10
