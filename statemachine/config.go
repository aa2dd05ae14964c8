package statemachine

import (
	"errors"

	"github.com/chunkwire/chunkwire/core"
)

// How long a machine waits without progress before it fails (LIM-5, SND-15, RCV-15).
// Both ends should use the same time (SND-17), long enough to lose a probe
// (SND-20).
const (
	DefaultGiveUp             = 10 * core.Second
	MaxGiveUp     core.Micros = 1 << 61 // no sum of it and a time overflows
)

// CheckGiveUp returns the time that a configured GiveUp stands for. It fails with
// core.ErrConfig.
func CheckGiveUp(configured core.Micros) (core.Micros, error) {
	switch {
	case configured == 0:
		return DefaultGiveUp, nil
	case configured < 0 || configured > MaxGiveUp:
		return 0, core.ConfigError("GiveUp", configured, "1 us to 2^61 us, or 0 for 10 s")
	}
	return configured, nil
}

var (
	// ErrChunkSize refuses a chunk that is empty or larger than codec.MaxChunkSize.
	ErrChunkSize = errors.New("statemachine: a chunk has 1 to 262144 bytes")
	// ErrBusy refuses a chunk while another is in flight.
	ErrBusy = errors.New("statemachine: a chunk is already in flight")
	// ErrGaveUp is the end of a machine that saw no progress for too long.
	ErrGaveUp = errors.New("statemachine: gave up: no progress for too long")
	// ErrNothingToRead says that no complete chunk waits.
	ErrNothingToRead = errors.New("statemachine: no complete chunk to read")
)
