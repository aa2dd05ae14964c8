package main

import "strings"

// explorerFaults are caught by the explorer of statemachine/explore_*_test.go,
// which visits every state that its scenarios can reach. Those that stall a
// connection are also caught by TestExploreBlindly, which checks nothing but
// that there is always a way to the end.
var explorerFaults = []fault{
	{
		Name:     "the article's first stall: a duplicate is dropped without an ack (note 1)",
		Breaks:   "no stall (LIVE-1, LIVE-2, RCV-13)",
		File:     "statemachine/receiver_table.go",
		Old:      "\t\tr.ackAgain()",
		New:      "\t\tr.stats.Duplicates++",
		CaughtBy: explored("two slices", "blindly: two slices"),
	},
	{
		Name:     "the article's second stall: a slice of the chunk before is dropped without an ack (note 1)",
		Breaks:   "no stall (LIVE-1, LIVE-2, RCV-13)",
		File:     "statemachine/receiver_table.go",
		Old:      "\t\tr.ackPreviousAgain()",
		New:      "\t\tr.stats.Ignored++",
		CaughtBy: explored("two slices", "blindly: two slices"),
	},
	{
		Name:     "a receiver that gives up starts again, and forgets what it acked (note 3)",
		Breaks:   "a give-up is an error (RCV-15, LIVE-3)",
		File:     "statemachine/receiver_table.go",
		Old:      "{R23GiveUp, ReceiverReceiving, EventPoll, PollGiveUp, ReceiverFailed}",
		New:      "{R23GiveUp, ReceiverReceiving, EventPoll, PollGiveUp, ReceiverWaiting}",
		CaughtBy: explored("giving up", "blindly: giving up"),
	},
	{
		Name:     "completion makes no ack due: only a duplicate does (note 4)",
		Breaks:   "a complete chunk is acked at once (ACQ-3, RCV-12)",
		File:     "statemachine/receiver.go",
		Old:      "r.pending.current, r.pending.previous = false, true\n\tr.acks.atOnce(r.now)",
		New:      "r.pending, r.acks.at = pendingAcks{}, Never",
		CaughtBy: explored("one slice"),
	},
	{
		Name:     "completion's ack waits for 2 ms (note 4)",
		Breaks:   "a complete chunk is acked at once (ACQ-3, RCV-12)",
		File:     "statemachine/receiver.go",
		Old:      "= false, true\n\tr.acks.atOnce(r.now)",
		New:      "= false, true\n\tr.acks.soon(r.now)",
		CaughtBy: explored("one slice"),
	},
	{
		Name:     "the chunk before is not acked again while it waits to be read (note 5)",
		Breaks:   "every slice is answered (LIVE-1, RCV-13)",
		File:     "statemachine/receiver_table.go",
		Old:      "\tcase R3PreviousSlice, R11PreviousSlice, R14PreviousSlice:",
		New:      "\tcase R14PreviousSlice:\n\tcase R3PreviousSlice, R11PreviousSlice:",
		CaughtBy: explored("one slice"),
	},
	{
		Name:     "the ack of the chunk before names the current number of slices (note 6)",
		Breaks:   "no stall (RCV-16, LIVE-2)",
		File:     "statemachine/receiver.go",
		Old:      "NumSlices: r.previousSlices, Acked",
		New:      "NumSlices: r.numSlices, Acked",
		CaughtBy: explored("one slice", "blindly: one slice"),
	},
	{
		Name:     "the ack of the chunk before has the current chunk's bits (note 6)",
		Breaks:   "no stall (RCV-16, LIVE-2)",
		File:     "statemachine/receiver.go",
		Old:      "Acked: codec.FirstN(r.previousSlices)}",
		New:      "Acked: r.received}",
		CaughtBy: explored("one slice", "blindly: one slice"),
	},
	{
		Name:     "at the start the chunk before the first counts as complete (note 7)",
		Breaks:   "no chunk is previous at the start (RCV-6)",
		File:     "statemachine/receiver.go",
		Old:      "case s.ChunkID == r.chunkID-1 && s.NumSlices == r.previousSlices:",
		New:      "case s.ChunkID == r.chunkID-1:",
		CaughtBy: explored("strangers at the start"),
	},
	{
		Name:     "an ack of another chunk counts (note 8)",
		Breaks:   "a foreign ack changes nothing (SND-5, SAFE-2, LIVE-2)",
		File:     "statemachine/sender.go",
		Old:      "case a.ChunkID != s.chunkID || a.NumSlices",
		New:      "case a.NumSlices",
		CaughtBy: explored("one slice", "blindly: one slice"),
	},
	{
		Name:     "an ack with another number of slices counts (note 8)",
		Breaks:   "a foreign ack changes nothing (SND-5, SAFE-4, LIVE-2)",
		File:     "statemachine/sender.go",
		Old:      " || a.NumSlices != s.numSlices ||",
		New:      " ||",
		CaughtBy: explored("forged slices", "blindly: forged slices"),
	},
	{
		Name:     "a chunk starts with what was acked of the one before (note 9)",
		Breaks:   "every chunk starts anew (SND-10, LIVE-2)",
		File:     "statemachine/sender.go",
		Old:      "s.sent, s.acked = codec.Bitset{}, codec.Bitset{}",
		New:      "s.sent = codec.Bitset{}",
		CaughtBy: explored("one slice", "blindly: one slice"),
	},
	{
		Name:     "a chunk starts with the hold of before still due (note 9)",
		Breaks:   "every chunk starts anew (RCV-10)",
		File:     "statemachine/receiver.go",
		Old:      "\tr.pending.hold = false\n\tr.acks.startChunk()",
		New:      "\tr.acks.startChunk()",
		CaughtBy: explored("fewer and more slices"),
	},
	{
		Name:     "a submit that is refused starts the chunk in flight anew (note 10)",
		Breaks:   "a refused submit changes nothing (SND-1)",
		File:     "statemachine/sender_table.go",
		Old:      "s.refusal = ErrBusy",
		New:      "s.refusal = ErrBusy\n\t\ts.start(in.chunk)",
		CaughtBy: explored("two slices"),
	},
	{
		Name:     "a wrong number of slices stays pinned (note 11)",
		Breaks:   "no stall after a forged slice (RCV-7)",
		File:     "statemachine/receiver.go",
		Old:      "r.now-r.progressAt < r.giveUp/2",
		New:      "r.now-r.progressAt < r.giveUp",
		CaughtBy: explored("forged slices", "blindly: forged slices"),
	},
	{
		Name:     "a sender waits for ever for a peer that failed or restarted (note 12)",
		Breaks:   "no silent wait (LIVE-3, SND-15)",
		File:     "statemachine/sender.go",
		Old:      "if s.now-s.heardFromAt >= s.giveUp {",
		New:      "if s.giveUp == 0 {",
		CaughtBy: explored("giving up", "blindly: giving up", "blindly: restarts"),
	},
	{
		Name:     "a receiver waits for ever for a peer that failed or restarted (note 12)",
		Breaks:   "no silent wait (LIVE-3, RCV-15)",
		File:     "statemachine/receiver.go",
		Old:      "case r.state == ReceiverReceiving && r.now-r.progressAt >= r.giveUp:",
		New:      "case r.giveUp == 0:",
		CaughtBy: explored("giving up", "blindly: giving up", "blindly: restarts"),
	},
	{
		Name:     "65535 is not the chunk before 0 (note 13)",
		Breaks:   "no stall at the wrap (RCV-3, CID-3)",
		File:     "statemachine/receiver.go",
		Old:      "case s.ChunkID == r.chunkID-1 &&",
		New:      "case int(s.ChunkID) == int(r.chunkID)-1 &&",
		CaughtBy: explored("one slice", "blindly: one slice"),
	},
	{
		Name:     "the sender's id after 65535 is 1 (note 13)",
		Breaks:   "ids count modulo 65536 (CID-2, LIVE-2)",
		File:     "statemachine/sender.go",
		Old:      "\ts.chunkID++ // modulo 2^16 (CID-2)",
		New:      "\ts.chunkID = s.chunkID%65535 + 1",
		CaughtBy: explored("one slice", "blindly: one slice"),
	},
	{
		Name:     "a slice that is sent again has other bytes (note 14)",
		Breaks:   "resent slices are the same (SND-14, SND-18)",
		File:     "statemachine/sender.go",
		Old:      "\tif s.sent.Has(id) {",
		New:      "\tif s.sent.Has(id) {\n\t\ts.out.Data = s.chunk[:to-from]",
		CaughtBy: explored("two slices"),
	},
	{
		Name:     "a late duplicate of an old chunk starts one (note 15)",
		Breaks:   "each chunk is delivered once (RCV-4, SAFE-1)",
		File:     "statemachine/receiver.go",
		Old:      "case s.ChunkID != r.chunkID:",
		New:      "case s.ChunkID == r.chunkID+1:",
		CaughtBy: explored("one slice"),
	},
	{
		Name:     "a chunk is delivered twice (note 15)",
		Breaks:   "each chunk is delivered once (SAFE-1)",
		File:     "statemachine/receiver_table.go",
		Old:      "{R16Read, ReceiverReady, EventRead, Always, ReceiverWaiting}",
		New:      "{R16Read, ReceiverReady, EventRead, Always, ReceiverReady}",
		CaughtBy: explored("one slice"),
	},
	{
		Name:     "acked slices become not acked with an older ack",
		Breaks:   "the fuse (SAFE-3)",
		File:     "statemachine/sender.go",
		Old:      "s.acked = s.acked.Union(news)",
		New:      "s.acked = news",
		CaughtBy: explored("fewer and more slices"),
	},
	{
		Name:     "an ack counts for slices that were never sent",
		Breaks:   "what was not sent cannot have arrived (SND-7)",
		File:     "statemachine/sender.go",
		Old:      "a.Acked.Intersect(s.sent).Minus(s.acked)",
		New:      "a.Acked.Minus(s.acked)",
		CaughtBy: explored("restarts"),
	},
	{
		Name:     "the scheduler is not told the news",
		Breaks:   "an acked slice is never sent again (SCH-1, SND-12)",
		File:     "statemachine/sender.go",
		Old:      "\ts.sched.Acked(s.now, news)",
		New:      "\t_ = s.sched",
		CaughtBy: explored("two slices"),
	},
	{
		Name:     "a slice of the next chunk is stored while a chunk waits to be read",
		Breaks:   "a complete chunk is not disturbed (SAFE-5, RCV-14)",
		File:     "statemachine/receiver_table.go",
		Old:      "\t\tr.hold(in.slice)",
		New:      "\t\tr.hold(in.slice)\n\t\tr.store(in.slice)",
		CaughtBy: explored("one slice"),
	},
	{
		Name:     "a hold is no sign of life",
		Breaks:   "a slow reader fails nobody (SND-11, S8)",
		File:     "statemachine/sender_table.go",
		Old:      "\t\ts.hear()\n\t\ts.sched.Held(s.now)",
		New:      "\t\ts.sched.Held(s.now)",
		CaughtBy: explored("one slice"),
	},
	{
		Name:     "a duplicate puts off the ack that is due",
		Breaks:   "a due time only moves forward (ACQ-1, LIVE-1)",
		File:     "statemachine/ack_timer.go",
		Old:      "\tt.at = min(t.at, earliest)",
		New:      "\tt.at = max(earliest, now+ackInterval)",
		CaughtBy: explored("two slices"),
	},
	{
		Name:     "one ack stands for all that are due",
		Breaks:   "every slice is answered (LIVE-1, RCV-16)",
		File:     "statemachine/receiver.go",
		Old:      "\tif r.pending == (pendingAcks{}) {",
		New:      "\tif r.pending = (pendingAcks{}); true {",
		CaughtBy: explored("two slices"),
	},
	{
		Name:     "the resend timer waits for later traffic (note 16)",
		Breaks:   "tail loss recovers by the timer alone (TMR-1, LIVE-2)",
		File:     "statemachine/base_timer.go",
		Old:      "\tif b.unacked.Empty() {",
		New:      "\tif b.unacked.Empty() || b.due.Empty() {",
		CaughtBy: exploredBase("burst", "article"),
	},
	{
		Name:     "the cursor does not come round (note 20)",
		Breaks:   "each slice is sent again (SCH-2, SCH-6)",
		File:     "statemachine/base.go",
		Old:      "\treturn b.due.Next(0)",
		New:      "\treturn -1",
		CaughtBy: exploredBase("burst"),
	},
	{
		Name:     "a hold stops the probes, too",
		Breaks:   "a slow reader stalls nobody (SCH-10, TMR-4)",
		File:     "statemachine/base_timer.go",
		Old:      "\t\tn = 1\n",
		New:      "\t\tn = 0\n",
		CaughtBy: exploredBase("burst, slow reader"),
	},
	{
		Name:     "waits double without end while acks stay away (notes 2 and 3)",
		Breaks:   "delivery soon after an outage (TMR-5)",
		File:     "statemachine/base_timer.go",
		Old:      "delay = min(delay<<b.backoff, max(delay/8, slowestProbe))",
		New:      "delay <<= b.backoff",
		CaughtBy: exploredBase("burst, one chunk"),
	},
	{
		Name:     "time does not pay",
		Breaks:   "a thin budget stalls nobody (BUD-3, SCH-2)",
		File:     "statemachine/budget.go",
		Old:      "\tb.left = min(b.left+earned, b.cap)",
		New:      "\tb.left = min(b.left, b.cap)",
		CaughtBy: exploredBase("thin"),
	},
}

// exploredBase are scenarios of the second explorer.
func exploredBase(scenarios ...string) []catch {
	var list []catch
	for _, s := range scenarios {
		list = append(list, catch{"./statemachine", "TestExploreBase", []string{"-explore.only=" + s}})
	}
	return list
}

// explored are scenarios of the explorer; "blindly: x" is scenario x of
// TestExploreBlindly.
func explored(scenarios ...string) []catch {
	var list []catch
	for _, s := range scenarios {
		test := "TestExplore"
		name, blind := strings.CutPrefix(s, "blindly: ")
		if blind {
			test = "TestExploreBlindly"
		}
		list = append(list, catch{"./statemachine", test, []string{"-explore.only=" + name}})
	}
	return list
}
