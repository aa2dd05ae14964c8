package repairoracle

import "testing"

// The table of RPL-4.
func TestNeed(t *testing.T) {
	for _, c := range []struct{ d, lost, arrived, four, nine int64 }{
		{1, 16, 512, 1, 2}, {2, 16, 512, 3, 3}, {8, 16, 512, 9, 10}, {32, 16, 512, 36, 37}, {256, 16, 512, 281, 290},
		{256, 0, 4160, 256, 256}, {256, 220, 4096, 281, 286}, {20, 220, 4096, 23, 24}, {256, 4096, 4096, 576, 608},
	} {
		for _, redundant := range []bool{false, true} {
			r := NewRule(Profile{Redundant: redundant})
			r.path.Lost, r.path.Arrived = c.lost, c.arrived
			want := c.four
			if redundant {
				want = c.nine
			}
			if got := r.need(c.d); got != want {
				t.Errorf("need(%d) with %d lost and %d arrived, redundant %v: %d, want %d", c.d, c.lost, c.arrived, redundant, got, want)
			}
		}
	}
}
