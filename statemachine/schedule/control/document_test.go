package control

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/tabletest"
)

// The constants are the specification's (REC-10).
func TestConstants(t *testing.T) {
	err := tabletest.CheckConstants("../../../spec/recovery.json", map[string]int64{
		"ACK_DELAY": int64(ackDelay), "MIN_RTT_LIFE": int64(rttLife), "DRAIN_FIRST": int64(drainFirst), "DRAIN_EVERY": int64(drainEvery),
		"DRAIN_LATE": int64(drainLate), "DRAIN_SOON": int64(drainSoon), "DRAIN_MISSES": drainMiss, "DRAIN_SLICES": drainSlots, "FALL": int64(fall),
		"FIRST_LIMIT": firstLimit, "LEAST_LIMIT": leastLimit, "TWO_SLICES": twoSlices, "OPEN_FACTOR": openFactor,
		"TARGET_LEAST": int64(targetLeast), "TARGET_MOST": int64(targetMost), "EMPTY_PART": emptyPart, "EMPTY_LEAST": int64(ms),
		"STEP": step, "CONTEST_STEP": fightStep, "BACK_PART": backPart, "QUIET_MOST": quietMost, "DOUBLE_PART": doublePart, "GROWTH_PART": mostPart,
		"SHRINK_PART": shrinkPart, "PRIOR_LOST": priorLost, "PRIOR_PASSED": priorPassed, "CALM_MOST": calmMost, "CALM_PART": capPart,
		"OPEN_PART": openPart, "DEEP_PART": deepPart, "DEEP_TIME": int64(deepLife), "SUM_MOST": sumMost, "SPREAD_MOST": spreadMost, "SPREAD_PART": spreadPart,
		"CONTEST_ROWS": foeRows, "PEAK_PART": decay, "SUSPECT_SLICES": gapSlices, "FASTEST": fastest, "SLOWEST": slowest, "BURST_INTERVAL": burstSpacing,
		"LONGEST_PROBE": int64(longestProbe), "SILENT_DELAYS": silentDelays, "SILENT_ACKS": silentAcks,
		"BREAK_TIME": int64(breakAfter), "BREAK_PART": breakPart, "BREAK_ANY": breakAny, "BREAK_SLICES": breakSlices,
		"FIRST_LOST": firstLost, "FIRST_ARRIVED": firstArrived, "SETTLED": settled, "PRIOR": prior, "MOST_COUNTED": mostCounted,
	})
	if err != nil {
		t.Error(err)
	}
}
