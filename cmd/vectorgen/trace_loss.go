package main

import "fmt"

// All slices of a chunk go out at once with the profile "free": slice k is
// transmission k + 1.

var lossGaps = []trace{
	{"plus-1", "Finds a slice lost when one later transmission arrived.", "gap-rule", "GAP-2 RTT-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5 @250ms
		40ms ack 0 010000 : S9 @60ms
		40ms poll : S14 @60ms`},
	{"plus-2", "Finds a slice lost only when three later transmissions arrived.", "gap-rule", "GAP-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 001000 : S9 @40ms
		40ms poll : S14 0 @100ms`},
	{"all-below", "Finds only the oldest slice lost.", "gap-rule", "GAP-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 000001 : S9
		40ms poll : S14 0-3 @100ms`},
	{"in-between", "Looks only at slices below the first that is acked, or counts those that are not.", "gap-rule", "GAP-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 010010 : S9
		40ms poll : S14 0,2 @100ms`},
	{"one-later-arrival-suffices", "Counts how many later slices arrived, instead of how much later.", "gap-rule", "GAP-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 110010 : S9
		40ms poll : S14 2 @100ms`},
	{"by-transmission-not-by-id", "Finds a resent slice lost again, since slices with higher ids arrive.", "gap-rule", "GAP-1 GAP-2 SCH-7",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 001000 : S9
		40ms poll : S14 0
		45ms ack 0 001001 : S9 @45ms
		45ms poll : S14 1,3`},
	{"a-resend-is-lost", "Never finds a resend lost by the gap rule.", "gap-rule", "GAP-1 GAP-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 001000 : S9
		40ms poll : S14 0
		45ms ack 0 001001 : S9
		45ms poll : S14 1,3
		90ms ack 0 001101 : S9 @90ms
		90ms poll : S14 4 0`},
	{"arrived-does-not-go-back", "Takes the latest ack's highest transmission, not the highest of all.", "gap-rule", "GAP-1",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 000100 : S9
		40ms poll : S14 0-1
		41ms ack 0 001100 : S9
		41ms poll : S14`},
	{"arrived-starts-with-the-chunk", "Keeps the highest transmission of the chunk before.", "gap-rule reset", "SCH-5 GAP-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		40ms ack 0 111111 : S10
		50ms submit 6144 : S1
		50ms poll : S14 0-5
		90ms ack 1 100000 : S9
		90ms poll : S14`},
	{"lost-goes-out-at-once", "Waits for the resend timer with a slice that is found lost.", "gap-rule", "GAP-2 SCH-9",
		`with profile=burst
		0 submit 4096 : S1
		0/85/4 poll : S14 0-3
		30ms ack 0 0011 : S9 @30ms
		30ms poll : S14 0 @30_085
		30_085 poll : S14 1`},
}

var lossSamples = []trace{
	{"rtt-1-ms", "Waits less than 5 ms more than the round trip.", "round-trip", "RTT-2 TMR-2 TMR-3",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1 @250ms
		1ms ack 0 01 : S9 @6ms`},
	{"rtt-0", "Takes a round trip of 0 for none.", "round-trip", "RTT-2 TMR-2",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		0 ack 0 01 : S9 @5ms`},
	{"rtt-40-ms", "Takes a first sample as a later one, or another variation.", "round-trip", "RTT-2 TMR-2 TMR-3",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		40ms ack 0 01 : S9 @60ms
		60ms-1 poll : S14 @60ms
		60ms poll : S14 0`},
	{"rtt-200-ms", "Does not take the variation from the first sample.", "round-trip", "RTT-2",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		200ms ack 0 01 : S9 @300ms`},
	{"latest-slice-of-the-news", "Measures the oldest slice of the news, or all of them.", "round-trip", "RTT-1 RTT-2",
		`with profile=0,17056,0,no,10000,0
		0 submit 3000 : S1
		0/10ms/3 poll : S14 0-2 @270ms
		60ms ack 0 110 : S9 @95ms`},
	{"kept-across-chunks", "Forgets the round trip at the end of a chunk.", "round-trip reset", "SCH-5 TMR-2",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		40ms ack 0 11 : S10
		100ms submit 2048 : S1
		100ms poll : S14 0-1 @160ms`},
	{"sent-once-goes-first", "Samples a resent slice though one that was sent once is among the news.", "round-trip", "RTT-1 RTT-2 RTT-3",
		`with profile=free
		0 submit 4096 : S1
		0 poll : S14 0-3
		40ms ack 0 0010 : S9 @40ms
		40ms poll : S14 0
		90ms ack 0 1011 : S9 @90ms
		90ms poll : S14 1 @168_625`},
	{"the-shortest-round-trip", "Keeps the first round trip as the shortest.", "round-trip spurious", "RTT-2 GAP-1",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		40ms ack 0 11 : S10
		100ms submit 4096 : S1
		100ms poll : S14 0-3
		120ms ack 1 0010 : S9
		120ms poll : S14 0
		140ms ack 1 1010 : S9 @140ms
		140ms poll : S14 1`},
	{"unsent-since-is-not-a-sample", "Samples an ack that tells nothing new.", "round-trip", "RTT-1 S7",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		40ms ack 0 01 : S9 @60ms
		55ms ack 0 01 : S7 @60ms`},
	{"hold-is-not-a-sample", "Samples a hold.", "round-trip hold", "RTT-1 SCH-10",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1 @250ms
		40ms ack 0 00 : S8 @250ms`},
	{"variation-below-an-eighth", "Leaves an eighth of the round trip out of the margin.", "round-trip", "RTT-5 TMR-2",
		`with profile=0,17056,0,no,10000,0
		0 submit 10240 : S1
		0/10ms/8 poll : S14 0-7
		80ms ack 0 1.0*9 : S9
		80ms poll : S14 8
		90ms ack 0 1*2.0*8 : S9
		90ms poll : S14 9
		100ms ack 0 1*3.0*7 : S9
		110ms ack 0 1*4.0*6 : S9
		120ms ack 0 1*5.0*5 : S9
		130ms ack 0 1*6.0*4 : S9 @180ms`},
}

// lossSmoothing lets a first chunk measure 40 ms, so that srtt is 40,000 and
// rttvar 5,000; a second one r; and a third one shows the base delay of that.
var lossSmoothing = func() (list []trace) {
	for _, c := range []struct {
		r, delay int
		comment  string
	}{
		{50_000, 66_250, "Smooths a slower sample with other weights."},
		{60_999, 78_620, "Rounds when it smooths a slower sample."},
		{61_000, 78_625, "Limits a slow sample to less than half as much again and 1 ms."},
		{200_000, 78_625, "Takes a slow sample at its full length."},
		{40_000, 55_000, "Leaves the variation as it is when a sample is as expected."},
		{40_001, 55_004, "Rounds the variation down instead of toward zero."},
		{39_000, 55_750, "Smooths a faster sample with other weights."},
		{39_001, 55_751, "Rounds srtt or the variation down instead of toward zero."},
		{30_000, 57_500, "Lets a much faster sample widen the variation."},
		{29_999, 57_500, "Rounds srtt down instead of toward zero."},
		{1, 50_001, "Follows a much faster sample by an eighth instead of a quarter."},
	} {
		list = append(list, trace{
			fmt.Sprintf("smooth-%d", c.r), c.comment, "round-trip rounding", "RTT-5 RTT-2",
			fmt.Sprintf(`with profile=free
			0 submit 2048 : S1
			0 poll : S14 0-1
			40ms ack 0 11 : S10
			100ms submit 2048 : S1
			100ms poll : S14 0-1 @160ms
			100ms+%d ack 1 11 : S10
			500ms submit 2048 : S1
			500ms poll : S14 0-1 @500ms+%d`, c.r, c.delay),
		})
	}
	return list
}()

var lossResent = []trace{
	{"resend-arrived", "Samples no slice that was resent, or its first transmission.", "round-trip spurious", "RTT-3 GAP-1",
		`with profile=free
		0 submit 3000 : S1
		0 poll : S14 0-2
		40ms ack 0 001 : S9
		40ms poll : S14 0 @100ms
		85ms ack 0 101 : S9 @85ms
		85ms poll : S14 1 @145_625`},
	{"resend-was-spurious", "Takes an ack that comes faster than any before for that of the resend.", "spurious", "GAP-1 RTT-3",
		`with profile=free
		0 submit 3000 : S1
		0 poll : S14 0-2
		40ms ack 0 001 : S9
		40ms poll : S14 0 @100ms
		80ms-1 ack 0 101 : S9 @100ms
		80ms-1 poll : S14 @100ms`},
	{"resend-arrived-exactly", "Takes an ack that is exactly as fast as the fastest for one of the first transmission.", "spurious", "GAP-1 RTT-3",
		`with profile=free
		0 submit 3000 : S1
		0 poll : S14 0-2
		40ms ack 0 001 : S9
		40ms poll : S14 0 @100ms
		80ms ack 0 101 : S9 @80ms
		80ms poll : S14 1 @135ms`},
	{"latest-of-the-resent", "Samples the oldest of several resent slices.", "round-trip", "RTT-3",
		`with profile=spaced
		0 submit 4096 : S1
		0/1ms/4 poll : S14 0-3
		43ms ack 0 0001 : S9 @43ms
		43ms poll : S14 0
		44ms poll : S14 1
		90ms ack 0 1101 : S9 @90ms
		90ms poll : S14 2 @151_750`},
	{"clean-sample-after-the-timer", "Measures nothing once the timer has run out.", "round-trip", "RTT-2",
		`with profile=free
		0 submit 3000 : S1
		0 poll : S14 0-2
		250ms poll : S14 1-2 @500ms
		260ms ack 0 100 : S9 @640ms`},
}

var lossBounds = []trace{
	{"bound", "Learns nothing from a chunk of which every slice was resent: its timer is too short for ever.", "round-trip", "RTT-4 RTT-6 TMR-2",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1 @250ms
		250ms poll : S14 0-1 @500ms
		300ms ack 0 11 : S10
		400ms submit 2048 : S1
		400ms poll : S14 0-1 @775ms
		775ms-1 poll : S14 @775ms`},
	{"long-bound", "Limits a bound.", "round-trip", "RTT-6",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		250ms poll : S14 0-1
		700ms ack 0 11 : S10
		1s submit 2048 : S1
		1s poll : S14 0-1 @1_875ms`},
	{"bound-for-one-wait", "Waits for the bound again and again, though it may be far too large.", "round-trip resend-timer", "TMR-2 TMR-3",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		250ms poll : S14 0-1
		300ms ack 0 11 : S10
		400ms submit 2048 : S1
		400ms poll : S14 0-1 @775ms
		775ms poll : S14 0-1 @1_025ms
		1_025ms poll : S14 0-1 @1_275ms`},
	{"smallest-bound", "Takes the latest bound instead of the smallest.", "round-trip", "RTT-4 RTT-6",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		250ms poll : S14 0-1
		300ms ack 0 11 : S10
		400ms submit 2048 : S1
		400ms poll : S14 0-1
		775ms poll : S14 0-1
		800ms ack 1 11 : S10
		1s submit 2048 : S1
		1s poll : S14 0-1 @1_375ms`},
	{"smallest-bound-of-a-chunk", "Takes the last bound of a chunk instead of the smallest.", "round-trip", "RTT-4",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		250ms poll : S14 0-1
		300ms ack 0 01 : S9
		390ms ack 0 11 : S10
		400ms submit 2048 : S1
		400ms poll : S14 0-1 @775ms`},
	{"sample-replaces-the-bound", "Smooths the first true sample into the bound.", "round-trip", "RTT-2 RTT-6",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		250ms poll : S14 0-1
		300ms ack 0 11 : S10
		400ms submit 2048 : S1
		400ms poll : S14 0-1
		440ms ack 1 01 : S9 @460ms`},
	{"bound-waits-for-the-next-chunk", "Uses a bound within the chunk that gave it.", "round-trip", "RTT-4 RTT-6 GAP-1",
		`with profile=free
		0 submit 3000 : S1
		0 poll : S14 0-2
		250ms poll : S14 1-2
		300ms ack 0 001 : S9 @300ms
		300ms poll : S14 0 @550ms`},
	{"no-bound-once-measured", "Replaces what was measured by a bound.", "round-trip", "RTT-4 RTT-6",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		40ms ack 0 11 : S10
		100ms submit 2048 : S1
		100ms poll : S14 0-1 @160ms
		160ms poll : S14 0-1 @280ms
		170ms ack 1 11 : S10
		500ms submit 2048 : S1
		500ms poll : S14 0-1 @560ms`},
}

var lossTimer = []trace{
	{"first-timer-250-ms", "Waits for another time while nothing is known of the round trip.", "resend-timer", "TMR-1 TMR-2",
		`with profile=free
		0 submit 3000 : S1
		0 poll : S14 0-2 @250ms
		250ms-1 poll : S14 @250ms
		250ms poll : S14 1-2 @500ms`},
	{"from-the-latest-slice", "Counts from the first slice, or from the chunk's start.", "resend-timer", "TMR-1 SCH-7",
		`with profile=0,17056,0,no,60000,0
		0 submit 3000 : S1
		0/60ms/3 poll : S14 0-2 @370ms
		370ms-1 poll : S14
		370ms poll : S14 1`},
	{"backs-off-to-250-ms", "Does not double the delay, or doubles it beyond 250 ms.", "resend-timer", "TMR-5 TMR-4",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		40ms ack 0 11 : S10
		100ms submit 2048 : S1
		100ms poll : S14 0-1 @160ms
		160ms-1 poll : S14 @160ms
		160ms poll : S14 0-1 @280ms
		280ms poll : S14 0-1 @520ms
		520ms poll : S14 0-1 @770ms
		770ms poll : S14 0-1 @1_020ms`},
	{"a-long-delay-is-waited-for-once", "Waits for a long delay again and again, or doubles it.", "resend-timer", "TMR-5",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		300ms ack 0 11 : S10
		1s submit 2048 : S1
		1s poll : S14 0-1 @1_450ms
		1_450ms poll : S14 0-1 @1_700ms
		1_700ms poll : S14 0-1 @1_950ms`},
	{"at-most-3-s", "Waits longer than 3 s, or than an eighth of that afterward.", "resend-timer", "TMR-2 TMR-5",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		4s ack 0 11 : S10
		10s submit 2048 : S1
		10s poll : S14 0-1 @13s
		13s poll : S14 0-1 @13_375ms`},
	{"news-postpones-by-the-margin", "Lets the timer run out right after news, or by the whole delay later.", "resend-timer", "TMR-1 TMR-3",
		`with profile=free
		0 submit 4096 : S1
		0 poll : S14 0-3
		40ms ack 0 1000 : S9 @60ms
		50ms ack 0 1100 : S9 @75ms
		75ms-1 poll : S14 @75ms
		75ms poll : S14 2-3 @207_500`},
	{"margin-of-a-slow-path", "Waits by another margin after news of a slow path.", "resend-timer", "TMR-3",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		4s ack 0 01 : S9 @6s`},
	{"margin-at-most-the-delay", "Lets the margin exceed the base delay.", "resend-timer", "TMR-3",
		`with profile=free give_up=60s
		0 submit 2048 : S1
		0 poll : S14 0-1
		8s ack 0 01 : S9 @11s`},
	{"news-ends-the-back-off", "Goes on backing off after news.", "resend-timer", "SCH-8 TMR-5",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1
		40ms ack 0 11 : S10
		100ms submit 3000 : S1
		100ms poll : S14 0-2 @160ms
		160ms poll : S14 1-2 @280ms
		200ms ack 1 001 : S9 @200ms
		200ms poll : S14 0 @255ms`},
	{"fixed-delay", "Backs a fixed delay off otherwise, or not at all.", "resend-timer", "TMR-2 TMR-5",
		`with profile=article
		0 submit 3000 : S1
		0 poll : S14 0-2 @100ms
		100ms poll : S14 1-2 @300ms
		300ms poll : S14 0-2 @550ms
		550ms poll : S14 0-2 @800ms`},
	{"fixed-delay-does-not-measure", "Lets a measured round trip change a fixed delay.", "resend-timer", "TMR-2",
		`with profile=article
		0 submit 3000 : S1
		0 poll : S14 0-2 @100ms
		20ms ack 0 100 : S9 @100ms
		100ms-1 poll : S14 @100ms
		100ms poll : S14 1-2`},
	{"fixed-delay-has-no-margin", "Lets news postpone a fixed delay.", "resend-timer", "TMR-3",
		`with profile=article
		0 submit 3000 : S1
		0 poll : S14 0-2
		99ms ack 0 100 : S9 @100ms
		100ms poll : S14 1-2`},
	{"long-fixed-delay", "Doubles a long fixed delay, or keeps it.", "resend-timer", "TMR-5",
		`with profile=0,17056,0,no,0,400000
		0 submit 2048 : S1
		0 poll : S14 0-1 @400ms
		400ms poll : S14 0-1 @650ms
		650ms poll : S14 0-1 @900ms`},
	{"ack-before-the-timer", "Lets the timer run out before it takes the ack of the same time.", "resend-timer", "SND-4 TMR-1",
		`with profile=free
		0 submit 2048 : S1
		0 poll : S14 0-1 @250ms
		250ms ack 0 11 : S10
		250ms poll : S12`},
	{"late-poll", "Makes up for timers that it missed.", "resend-timer", "TMR-1 TMR-4",
		`with profile=free
		0 submit 10240 : S1
		0 poll : S14 0-9 @250ms
		900ms poll : S14 8-9 @1_150ms`},
	{"timer-alone", "Resends only when something else happens: the end of a flight stays lost.", "sender-driver resend-timer", "TMR-1 TMR-4 SCH-2",
		`with profile=burst
		0 submit 1024 : S1
		0 poll : S14 0 @250ms
		250ms poll : S14 0 @500ms
		500ms poll : S14 0 @750ms
		750ms poll : S14 0 @1s
		9_750ms poll : S14 0 @10s
		10s poll : S15`},
}

var lossProbes = []trace{
	{"2-4-8", "Resends everything when the timer runs out, or one slice, or the oldest first.", "probes", "TMR-4",
		`with profile=free
		0 submit 20480 : S1
		0 poll : S14 0-19 @250ms
		250ms poll : S14 18-19 @500ms
		500ms poll : S14 14-17 @750ms
		750ms poll : S14 6-13 @1s
		1s poll : S14 18-19 0-5 @1_250ms
		1_250ms poll : S14 10-17 @1_500ms`},
	{"fewer-slices-than-probes", "Probes with slices that do not exist, or with one twice.", "probes", "TMR-4",
		`with profile=free
		0 submit 1 : S1
		0 poll : S14 0 @250ms
		250ms poll : S14 0 @500ms
		500ms poll : S14 0 @750ms
		750ms poll : S14 0 @1s`},
	{"probes-are-not-acked-slices", "Probes with slices that are acked.", "probes", "TMR-4 SCH-1",
		`with profile=free
		0 submit 4096 : S1
		0 poll : S14 0-3
		40ms ack 0 1001 : S9
		40ms poll : S14 1 @100ms
		100ms poll : S14 2 1 @220ms`},
	{"news-begins-at-the-newest", "Goes on downward with its probes after news.", "probes", "SCH-8 TMR-4",
		`with profile=free
		0 submit 20480 : S1
		0 poll : S14 0-19
		250ms poll : S14 18-19
		260ms ack 0 1.0*19 : S9 @640ms
		640ms poll : S14 18-19 @890ms`},
	{"at-best", "Claims that the first transmissions arrived even when the timer runs out.", "probes gap-rule", "TMR-4 GAP-1 GAP-2",
		`with profile=free
		0 submit 6144 : S1
		0 poll : S14 0-5
		250ms poll : S14 4-5
		500ms poll : S14 0-3 @750ms
		510ms ack 0 000100 : S9 @750ms
		510ms poll : S14 @750ms
		750ms poll : S14 4-5 0-1 @1s`},
	{"probes-start-with-the-chunk", "Goes on with the probes of the chunk before.", "probes reset", "SCH-5 TMR-4",
		`with profile=free
		0 submit 10240 : S1
		0 poll : S14 0-9
		250ms poll : S14 8-9
		255ms ack 0 1*8.00 : S9
		256ms ack 0 1*10 : S10
		1s submit 10240 : S1
		1s poll : S14 0-9 @1_382_500
		1_382_500 poll : S14 8-9`},
}
