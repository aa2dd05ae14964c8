package fuzz

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/testvectors"
)

// An input is a file.
var targetEventLog = newTarget("EventLog", "any bytes are an event log, or are refused as none; what was read is the same when it is written and read again", runEventLog, seedEventLog)

func runEventLog(t T, data []byte) {
	file, err := eventlog.Read(bytes.NewReader(data))
	if err != nil && !errors.Is(err, eventlog.ErrFormat) {
		t.Fatalf("refused with %v", err)
	}
	again, err := eventlog.Read(bytes.NewReader(written(file.Events)))
	if err != nil || again.Unknown > 0 || len(again.Events) != len(file.Events) {
		t.Fatalf("%d events are %d when they are read again: %v", len(file.Events), len(again.Events), err)
	}
	for i, e := range again.Events {
		if first := file.Events[i]; e != first {
			t.Fatalf("event %d was %+v, and is %+v when it is read again", i, first, e)
		}
	}
}

// written returns the file of events.
func written(events []eventlog.Event) []byte {
	file := eventlog.AppendHeader(nil, eventlog.Header{Title: "fuzz", By: "fuzz", View: eventlog.Network})
	for i := range events {
		file = eventlog.Append(file, &events[i])
	}
	return file
}

func seedEventLog([]testvectors.File) (seeds [][]byte) {
	for kind := eventlog.None + 1; kind <= eventlog.LogDropped; kind++ {
		e := eventlog.Event{
			Kind: kind, At: 1500, Group: 7, End: eventlog.Sender, ChunkID: 3, SliceID: 2, NumSlices: 4, Bytes: 1037, Times: 2, Have: 1, Top: 5,
			As: eventlog.New, Why: eventlog.Lost, Direction: eventlog.Out, RTT: core.Millisecond, MinRTT: core.Millisecond, Elapsed: core.Second,
			Machine: "sender", From: "IDLE", To: "SENDING", Row: "S1", Rate: 1_000_000, Limit: 9, InFlight: 3, Mode: "steady",
			Role: "client", Remote: "192.0.2.1:1", Variant: "repair", Lanes: 8, ProtocolID: "0000000000000007", Code: "tag", Sentence: "CXE-25", Text: "bye",
			Number: 1, Channel: 1, Sequence: 1, Carried: eventlog.Slice, Count: 1,
		}
		seeds = append(seeds, written([]eventlog.Event{e}))
	}
	return append(seeds, nil, []byte("\x1e{}\n"), written(nil))
}
