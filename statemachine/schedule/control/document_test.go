package control

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/tabletest"
)

// The constants are the specification's (REC-10).
func TestConstants(t *testing.T) {
	err := tabletest.CheckConstants("../../../spec/recovery.json", map[string]int64{
		"LIFE": int64(life), "DRAIN_MISSES": drainMiss, "DRAIN_SLICES": drainSlots,
		"FIRST_LIMIT": firstLimit, "TWO_SLICES": twoSlices, "OPEN_FACTOR": openFactor,
		"TARGET_LEAST": int64(targetLeast), "PART": part,
		"STEP": step, "QUIET_MOST": quietMost, "SMALL_PART": smallPart,
		"PRIOR_LOST": priorLost, "PRIOR_PASSED": priorPassed, "CALM_MOST": calmMost, "CALM_PART": calmPart,
		"SUM_MOST": sumMost, "VARIANCES": variances, "CONTEST_ROWS": foeRows,
		"FASTEST": fastest, "SLOWEST": slowest, "BURST_INTERVAL": burstSpacing,
		"SILENT_DELAYS": silentDelays, "SILENT_ACKS": silentAcks, "MOST_COUNTED": mostCounted / 16,
	})
	if err != nil {
		t.Error(err)
	}
}
