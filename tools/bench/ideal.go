package bench

import "time"

// Times are a median and a 95th percentile.
type Times struct{ Median, P95 time.Duration }

// Ideal is what selective repeat takes that knows the link's rate, acks every
// slice with the full bitmap, sees gaps at once and has an exact tail timer.
// No protocol that has to find these out can be expected to reach it at 0 %.
var Ideal = map[string]Times{
	"S1 0 %": millis(47, 47), "S1 1 %": millis(90, 97), "S1 5 %": millis(97, 147), "S1 20 %": millis(193, 282),
	"S2 0 %": millis(243, 243), "S2 1 %": millis(246, 293), "S2 5 %": millis(291, 342), "S2 20 %": millis(386, 480),
	"S3 0 %": millis(2225, 2225), "S3 1 %": millis(2242, 2334), "S3 5 %": millis(2352, 2486),
	"S4 0 %": millis(25, 25), "S4 1 %": millis(75, 75), "S4 5 %": millis(75, 125), "S4 20 %": millis(175, 275), "S4 50 %": millis(425, 625),
}

func millis(median, p95 time.Duration) Times {
	return Times{median * time.Millisecond, p95 * time.Millisecond}
}
