package runner

import (
	"encoding/json"
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// known returns what the reference implementation knows of the path after event i of
// a trace with the base algorithm: it often shows which estimate is wrong.
func (q *question) known(i int) []string {
	list := chunks.Sender.Traces([]json.RawMessage{q.request})
	if q.op != contract.OpSender || len(list) == 0 || i >= len(list[0].Events) {
		return nil
	}
	if p := list[0].Config.(chunks.SenderConfig).Profile; !p.Is || p.V.Recovery.Is {
		return nil
	}
	m, err := chunks.Sender.Product(list[0].Config)
	if err == nil {
		_, err = conform.Run(m, list[0].Events[:i+1])
	}
	if err != nil {
		return nil
	}
	found := m.(conform.Inside).Inside().(chunks.Senders).Found
	return []string{fmt.Sprintf("after this event the reference has srtt %d, min_rtt %d, %d slices found lost, %d times the resend timer ran out, %d spurious resends",
		found.SRTT, found.MinRTT, found.Lost, found.Timeouts, found.Spurious)}
}
