package netsim

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startClock()
		time.Sleep(time.Second)
		far := time.Unix(1<<40, 0) // time.Until cannot express it
		for _, test := range []struct {
			name string
			t    time.Time
			want time.Duration
		}{
			{"now", time.Now(), time.Second},
			{"later", time.Now().Add(time.Second), 2 * time.Second},
			{"before the start", time.Now().Add(-time.Minute), -59 * time.Second},
			{"no deadline", time.Time{}, never},
			{"far future", far, never},
		} {
			if got := c.at(test.t); got != test.want {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
			}
		}
	})
}
