package runner

import (
	"encoding/json"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// known returns what the reference implementation knows of the path after event i of
// a trace with the base algorithm: it often shows which estimate is wrong.
func (q *question) known(i int) []string {
	var r contract.SenderRequest
	if q.op != contract.OpSender || json.Unmarshal(q.request, &r) != nil || r.Config.Profile == nil || i >= len(r.Events) {
		return nil
	}
	stats, err := trace.SenderStats(r.Config, r.Events[:i+1])
	if err != nil {
		return nil
	}
	s := stats.Schedule
	return []string{fmt.Sprintf("after this event the reference has srtt %d, min_rtt %d, %d slices found lost, %d times the resend timer ran out, %d spurious resends",
		s.SmoothedRTT, s.MinRTT, s.Lost, s.Timeouts, s.Spurious)}
}
