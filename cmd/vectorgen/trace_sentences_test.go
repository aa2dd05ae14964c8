package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/testvectors"
)

// machineSentences begin the ids of sentences about the machines.
var machineSentences = []string{"SND", "RCV", "ACQ", "AKT", "SCH", "RTT", "GAP", "TMR", "BUD", "SPC", "CID", "TIM", "SAFE", "LIVE"}

// withoutTrace are those that no trace can hold, and why.
var withoutTrace = map[string]string{
	"TIM-2":  "a driver's clock; a trace brings its times along",
	"SND-17": "how both ends are configured; a trace has one",
	"RCV-18": "memory; a trace shows none",
	"SAFE-6": "lanes; a trace has one machine",
}

// Every sentence about the machines has a trace, and every row of their tables.
func TestTracesCoverTheMachines(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range []testvectors.File{senderTraces(), senderPaceTraces(), senderLossTraces(), receiverTraces(), receiverTimingTraces(), conversations()} {
		for _, v := range f.Vectors {
			for _, id := range v.Sentences {
				seen[id] = true
			}
		}
	}
	spec := specification(t)
	known := slices.Concat(sentencesOf(spec), rowsOf(spec))
	for _, id := range known {
		about, _, isSentence := strings.Cut(id, "-")
		if (!isSentence || slices.Contains(machineSentences, about)) && seen[id] == (withoutTrace[id] != "") {
			t.Errorf("%s: a trace: %t; why none: %q", id, seen[id], withoutTrace[id])
		}
	}
	for id := range seen {
		if !slices.Contains(known, id) {
			t.Errorf("%s is no sentence", id)
		}
	}
}
