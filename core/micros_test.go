package core_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/core"
)

// Times are in microseconds, and Never is later than all of them (TIM-3).
// Times are microseconds, rounded down (TIM-3).
func TestMicros(t *testing.T) {
	for d, want := range map[time.Duration]core.Micros{0: 0, 999: 0, 1000: 1, 1999 * time.Nanosecond: 1, time.Hour: 3600 * core.Second} {
		if got := core.FromDuration(d); got != want {
			t.Errorf("FromDuration(%v) = %d, want %d", d, got, want)
		}
	}
	for m, want := range map[core.Micros]time.Duration{
		0: 0, core.Millisecond: time.Millisecond, core.Never: math.MaxInt64,
		math.MaxInt64 / 1000: math.MaxInt64 / 1000 * time.Microsecond, math.MaxInt64/1000 + 1: math.MaxInt64,
	} {
		if got := m.Duration(); got != want {
			t.Errorf("%d.Duration() = %d, want %d", m, got, want)
		}
	}
}

func TestConfigError(t *testing.T) {
	err := core.ConfigError("statemachine: GiveUp", -1, "0 or more")
	if !errors.Is(err, core.ErrConfig) || err.Error() != "bad configuration: statemachine: GiveUp is -1, allowed is 0 or more" {
		t.Errorf("got %v", err)
	}
}
