package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors"
)

// A trace of a sender has the level of its scheduler (TRC-5, RVO-5), and a required trace of a
// receiver leaves the timing of acks open (TRC-5).
func TestLevelsOfTracesOfChunks(t *testing.T) {
	n := 0
	for _, v := range vectorsOf(t, "") {
		if strings.Contains(v.Name, "contract/") || strings.Contains(v.Name, "examples/") {
			continue // about the port, and the documents
		}
		for _, trace := range chunks.Sender.Traces([]json.RawMessage{v.Request}) {
			n++
			check.Equal(t, v.Name, v.Level, levelOf(trace.Config.(chunks.SenderConfig)))
		}
		if v.Level != testvectors.Required {
			continue
		}
		for _, trace := range chunks.Receiver.Traces([]json.RawMessage{v.Request}) {
			n++
			r := check.Must(chunks.Receiver.Record(trace.Config))
			_ = check.Must(conform.Run(r, trace.Events))
			check.That(t, !pollsEarly(r), v.Name+" polls before ACQ-1 and ACQ-3 decide the answer")
		}
	}
	check.That(t, n > 500, "there are so many")
}

// levelOf is the level of a sender's traces, by its scheduler (TRC-5, RVO-5).
func levelOf(c chunks.SenderConfig) testvectors.Level {
	switch {
	case c.Profile.V.Recovery.Is:
		return testvectors.Optional
	case c.Profile.Is:
		return testvectors.Recommended
	}
	return testvectors.Required
}

// ackOf is for which ack a row makes one due: that of the current chunk, of the
// previous one, or a hold.
var ackOf = map[string]string{
	"R1": "previous", "R6": "previous", "R10": "previous", "R2": "current", "R5": "current", "R7": "current", "R9": "current",
	"R3": "previous", "R11": "previous", "R14": "previous", "R13": "hold",
}

// pollsEarly reports whether a receiver is polled while an ack is due that a receiver
// with another timing need not send yet: for less than 100 ms (ACQ-1), unless a chunk
// was completed at that very time (ACQ-3).
func pollsEarly(r *conform.Recorded) bool {
	due := map[string]int64{} // since when
	doneAt, now := int64(-1), int64(0)
	for i, step := range r.Steps {
		now = max(now, r.Events[i].At)
		if _, polls := r.Events[i].Event.(chunks.ReceiverPoll); polls {
			for _, since := range due {
				if now-since < 100_000 && doneAt != now {
					return true
				}
			}
			clear(due)
		}
		row := step.(chunks.Step).Row
		switch row {
		case "R2", "R9":
			delete(due, "hold")
		case "R1", "R6", "R10":
			doneAt = now
			due = map[string]int64{}
		}
		if ack, ok := ackOf[row]; ok {
			if _, waits := due[ack]; !waits {
				due[ack] = now
			}
		}
	}
	return false
}
