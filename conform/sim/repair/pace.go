package repair

import (
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// mostAtOnce is how many ids a driver that is late may send at one time: MAX_FLIGHT.
const mostAtOnce = 1024

// RatelessPace returns what the sender's rule allows with a profile (PAC-1, PRO-1).
func RatelessPace(p rateless.Profile) chunk.Pace { return chunk.LimitedPace(p.MaxRate, mostAtOnce) }
