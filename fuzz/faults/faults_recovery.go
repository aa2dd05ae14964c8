package main

import "slices"

// recoveryFaults are mistakes in the adaptive scheduler, caught by its own tests
// and by what holds for every scheduler: the storm, and the fuzz targets' seeds.
var recoveryFaults = []fault{
	{
		Name:     "recovery: an ack of a slice that was copied is taken to be that of its last copy",
		Breaks:   "what was overtaken (LOS-1)",
		File:     "recovery/lost.go",
		Old:      "\tcase t.resends == 0:\n\t\treturn t.main",
		New:      "\tcase t.resends == 0:\n\t\treturn t.last",
		CaughtBy: recovery("TestACopyIsNotTakenToHaveArrived"),
	},
	{
		Name:     "recovery: a slice that is lost again is taken to have arrived the last time",
		Breaks:   "what was overtaken (LOS-1, REC-3)",
		File:     "recovery/lost.go",
		Old:      "case !s.lost.Has(id) && now-s.at(t.mainAt) >= s.least():",
		New:      "case now-s.at(t.mainAt) >= s.least():",
		CaughtBy: recovery("TestWhatIsLostAgainArrivedTheFirstTime"),
	},
	{
		Name:     "recovery: what arrived is asked before the round trip is known",
		Breaks:   "the order of what news does (REC-1, REC-3)",
		File:     "recovery/scheduler.go",
		Old:      "\ts.sampleRTT(now, news)\n",
		New:      "\tdefer s.sampleRTT(now, news)\n",
		CaughtBy: recovery("TestNewsIsMeasuredFirst"),
	},
	{
		Name:     "recovery: lost slices wait for room in the window",
		Breaks:   "repair of a dead flight (WIN-3)",
		File:     "recovery/scheduler.go",
		Old:      "if id := s.lost.Next(0); id >= 0 {\n\t\treturn id",
		New:      "if id := s.lost.Next(0); id >= 0 && s.hasRoom() {\n\t\treturn id",
		CaughtBy: recovery("TestResendsIgnoreTheWindow"),
	},
	{
		Name:     "recovery: a slow path has a window of no slices",
		Breaks:   "no stall (WIN-2, SCH-2)",
		File:     "recovery/window.go",
		Old:      "leastWindow = 8 ",
		New:      "leastWindow = 0 ",
		CaughtBy: slices.Concat(recovery("TestTheWindowOfAShortPath"), storm()),
	},
	{
		Name:     "recovery: news does not reset the wait after a probe",
		Breaks:   "the probe timer (REC-3, PTO-2)",
		File:     "recovery/scheduler.go",
		Old:      "s.newsAt, s.probeAt, s.held = now, 0, false",
		New:      "s.newsAt, s.held = now, false",
		CaughtBy: recovery("TestTwoProbesThenPatience"),
	},
	{
		Name:     "recovery: news does not end a hold",
		Breaks:   "no stall (REC-3)",
		File:     "recovery/scheduler.go",
		Old:      "s.newsAt, s.probeAt, s.held = now, 0, false",
		New:      "s.newsAt, s.probeAt = now, 0",
		CaughtBy: slices.Concat(recovery("TestNewsEndsAHold"), seeds("FuzzSender"), storm()),
	},
	{
		Name:     "recovery: the timer stays with a slice that has arrived",
		Breaks:   "deadlines lie ahead (SCH-3, PTO-1)",
		File:     "recovery/lost.go",
		Old:      "\t\t\ts.lose(id, false)\n\t\t}\n\t}\n\ts.findOldest()",
		New:      "\t\t\ts.lose(id, false)\n\t\t}\n\t}",
		CaughtBy: recovery("TestTroubles"),
	},
	{
		Name:     "recovery: the timer begins with the latest slice, not with the oldest",
		Breaks:   "a timer for each slice (PTO-1)",
		File:     "recovery/timer.go",
		Old:      "since = s.at(s.slices[s.oldest].lastAt)",
		New:      "since = s.lastSentAt",
		CaughtBy: recovery("TestTheTimerOfTheOldestSlice"),
	},
	{
		Name:     "recovery: a probe is sent once",
		Breaks:   "no stall (LIVE-2, SCH-2, PTO-4)",
		File:     "recovery/timer.go",
		Old:      "if id := s.best(s.probeFirst()); id >= 0 {",
		New:      "if id := s.best(s.probeFirst()); id >= 0 && s.slices[id].resends == 0 {",
		CaughtBy: slices.Concat(recovery("TestTroubles"), seeds("FuzzConversation"), storm()),
	},
	{
		Name:     "recovery: a probe into a hold is a slice that was never sent",
		Breaks:   "the first slice is sent first (PTO-5)",
		File:     "recovery/timer.go",
		Old:      "s.unacked.Intersect(codec.FirstN(s.fresh)).Prev",
		New:      "s.unacked.Prev",
		CaughtBy: recovery("TestAHoldLeavesOneProbe"),
	},
	{
		Name:     "recovery: acked slices fly on, and are copied",
		Breaks:   "the fuse (SCH-1)",
		File:     "recovery/slices.go",
		Old:      "codec.FirstN(s.fresh).Intersect(s.unacked).Minus(s.lost)",
		New:      "codec.FirstN(s.fresh).Minus(s.lost)",
		CaughtBy: slices.Concat(recovery("TestASchedulerKeepsItsPromises"), seeds("FuzzSender", "FuzzConversation"), storm()),
	},
	{
		Name:     "recovery: the copies of a chunk that has arrived are counted",
		Breaks:   "no division by what is left (CPY-1, CPY-2)",
		File:     "recovery/copies.go",
		Old:      "if worthy.Empty() || s.rtt",
		New:      "if s.rtt",
		CaughtBy: recovery("TestNothingInFlight"),
	},
	{
		Name:     "recovery: copies go on through an outage",
		Breaks:   "silence (CPY-3)",
		File:     "recovery/copies.go",
		Old:      "now-s.newsAt > silence*delay",
		New:      "delay < 0",
		CaughtBy: recovery("TestNoCopiesIntoSilence"),
	},
	{
		Name:     "recovery: a late caller makes up for all of the time",
		Breaks:   "the pace (PAC-4)",
		File:     "recovery/pace.go",
		Old:      "\tp.wait(now - catchUp)\n",
		New:      "",
		CaughtBy: slices.Concat(recovery("TestALateCallerMakesUpForTwentyMilliseconds"), seeds("FuzzSender"), storm()),
	},
	{
		Name:     "recovery: a caller that is late is taken for a slow path",
		Breaks:   "the rate is the path's (PAC-4, RAT-4)",
		File:     "recovery/pace.go",
		Old:      "return p.at < now-catchUp",
		New:      "return false",
		CaughtBy: recovery("TestADriverThatCallsOnceAFrame"),
	},
	{
		Name:     "recovery: the limit holds for fresh slices only",
		Breaks:   "the limit (PRO-1, SCH-4)",
		File:     "recovery/pace.go",
		Old:      "return max(s.pathInterval(), fastest, s.profile.perSlice())",
		New:      "return max(s.pathInterval(), fastest)",
		CaughtBy: slices.Concat(recovery("TestASchedulerKeepsItsPromises"), seeds("FuzzSender"), storm()),
	},
	{
		Name:     "recovery: a slice that was resent gives a clean sample",
		Breaks:   "sent once (EST-1)",
		File:     "recovery/slices.go",
		Old:      "return t.resends == 0 && t.copies == 0",
		New:      "return t.copies == 0",
		CaughtBy: recovery("TestABoundMendsATimerThatIsTooShort"),
	},
	{
		Name:     "recovery: a bound is not used when a chunk begins",
		Breaks:   "no timer that is too short for ever (RTT-6, REC-2)",
		File:     "recovery/rtt.go",
		Old:      "if e.known != measured && e.bound > 0 {",
		New:      "if e.known == bounded && e.bound > 0 {",
		CaughtBy: recovery("TestABoundMendsATimerThatIsTooShort"),
	},
	{
		Name:     "recovery: a train goes on into the next chunk",
		Breaks:   "a pause is no rate (REC-2)",
		File:     "recovery/scheduler.go",
		Old:      "\ts.rate.endTrain()\n\ts.idle = true\n",
		New:      "\ts.idle = true\n",
		CaughtBy: recovery("TestAChunkEndsTheTrain"),
	},
	{
		Name:     "recovery: the smallest round trip is kept for good",
		Breaks:   "a path can become longer (EST-7)",
		File:     "recovery/minrtt.go",
		Old:      "case now-m.nearAt >= rttLife:",
		New:      "case false:",
		CaughtBy: recovery("TestTheSmallestRoundTripIsForgotten"),
	},
	{
		Name:     "recovery: patience is not forgotten",
		Breaks:   "patience (REC-2, LOS-4)",
		File:     "recovery/scheduler.go",
		Old:      "\ts.patience -= s.patience / 16\n",
		New:      "",
		CaughtBy: recovery("TestPatienceWithAPathThatReorders"),
	},
}

// recovery are tests of that package, with fixed seeds.
func recovery(tests ...string) []catch {
	var list []catch
	for _, t := range tests {
		list = append(list, catch{"./recovery", t, []string{"-rapid.seed=1", "-rapid.shrinktime=0s"}})
	}
	return list
}
