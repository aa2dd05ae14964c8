package main

var timingSoon = []trace{
	{"first-ack-at-once", "Waits before its first ack.", "ack-late", "AKT-2 AKT-3 R21 R22 RCV-17",
		`7ms slice 0 0/3 : R2 @7ms
		7ms poll : R22 0:100 @10_007ms`},
	{"second-ack-after-2-ms", "Sends acks less than 2 ms apart, or by its own timer only.", "ack-early ack-late", "AKT-2 AKT-3 AKT-5",
		`0 slice 0 0/3 : R2 @0
		0 poll : R22 0:100 @10s
		85 slice 0 1/3 : R5 @2ms
		2ms-1 poll : R22 @2ms
		2ms poll : R22 0:110 @10s+85`},
	{"at-once-after-a-pause", "Waits 2 ms although the last ack is long ago.", "ack-late", "AKT-2",
		`0 slice 0 0/4 : R2
		0 poll : R22 0:1000
		2ms slice 0 1/4 : R5 @2ms
		2ms poll : R22 0:1100
		9ms slice 0 2/4 : R5 @9ms
		9ms poll : R22 0:1110`},
	{"a-microsecond-too-soon", "Does not wait for the last microsecond of the 2 ms.", "ack-early", "AKT-2",
		`0 slice 0 0/4 : R2
		0 poll : R22 0:1000
		2ms-1 slice 0 1/4 : R5 @2ms
		2ms-1 poll : R22 @2ms
		2ms poll : R22 0:1100`},
	{"2-ms-from-when-it-went-out", "Counts the 2 ms from when the ack became due.", "ack-early", "AKT-5 AKT-2",
		`0 slice 0 0/4 : R2 @0
		500 poll : R22 0:1000
		600 slice 0 1/4 : R5 @2_500
		2_499 poll : R22
		2_500 poll : R22 0:1100`},
	{"duplicate-soon", "Acks a duplicate at once, or by a slower timer.", "ack-early ack-late", "AKT-2 R7",
		`0 slice 0 0/3 : R2
		0 poll : R22 0:100
		10 slice 0 0/3 : R7 @2ms
		2ms-1 poll : R22
		2ms poll : R22 0:100 @10s`},
	{"duplicate-at-once-after-a-pause", "Lets a duplicate wait although the last ack is long ago.", "ack-late", "AKT-2 R7",
		`0 slice 0 0/3 : R2
		0 poll : R22 0:100
		5ms slice 0 0/3 : R7 @5ms
		5ms poll : R22 0:100`},
	{"duplicates-capped", "Draws more than one ack in 2 ms from a flood of duplicates.", "ack-flood ack-early", "AKT-2 ACQ-2 R7",
		`0 slice 0 0/3 : R2
		0 poll : R22 0:100
		100/100/19 slice 0 0/3 : R7 @2ms
		1900 poll : R22
		2ms poll : R22 0:100
		2_100/100/19 slice 0 0/3 : R7 @4ms
		3_900 poll : R22
		4ms poll : R22 0:100`},
	{"duplicates-do-not-put-it-off", "Moves the time of an ack back with each duplicate.", "ack-late", "AKT-2 R7",
		`0 slice 0 0/3 : R2
		0 poll : R22 0:100
		10 slice 0 0/3 : R7 @2ms
		1_500 slice 0 0/3 : R7 @2ms
		3ms slice 0 0/3 : R7 @2ms
		3ms poll : R22 0:100 @10s`},
	{"new-slices-do-not-put-it-off", "Moves the time of an ack back with each new slice.", "ack-late", "AKT-2 AKT-3",
		`0 slice 0 0/5 : R2
		0 poll : R22 0:10000
		10 slice 0 1/5 : R5 @2ms
		1_500 slice 0 2/5 : R5 @2ms
		2_500 slice 0 3/5 : R5 @2ms
		2_500 poll : R22 0:11110`},
	{"previous-soon", "Acks the previous chunk at once, or by a slower timer.", "ack-early ack-late", "AKT-2 R3 R19",
		`0 slice 0 0/1 5 : R1 @0
		0 poll : R25 0:1 @never
		5 read : R16 chunk=5
		10 slice 0 0/1 5 : R3 @2ms
		2ms-1 poll : R20
		2ms poll : R20 0:1 @never`},
	{"previous-soon-ready", "The same while the chunk waits to be read.", "ack-early ack-late", "AKT-2 R14 R24",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		10 slice 0 0/1 5 : R14 @2ms
		2ms-1 poll : R25
		2ms poll : R25 0:1 @never`},
	{"previous-soon-receiving", "The same while the next chunk arrives.", "ack-early ack-late", "AKT-2 R11",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		5 read : R16 chunk=5
		3ms slice 1 0/3 : R2 @3ms
		3ms poll : R22 1:100
		3_100 slice 0 0/1 5 : R11 @5ms
		5ms-1 poll : R22
		5ms poll : R22 0:1`},
	{"hold-soon", "Sends a hold at once, or by a slower timer.", "ack-early ack-late hold", "AKT-2 R13",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		10 slice 1 0/3 : R13 @2ms
		1ms slice 1 1/3 : R13 @2ms
		2ms-1 poll : R25
		2ms poll : R25 1:000 @never`},
	{"completion-within-2-ms", "Lets the last ack wait for 2 ms.", "ack-late", "ACQ-3 RCV-12 R6",
		`0 slice 0 0/2 : R2
		0 poll : R22 0:10
		85 slice 0 1/2 9 : R6 @85
		85 poll : R25 0:11 @never`},
	{"completion-of-one-slice-within-2-ms", "Lets the ack of a chunk of one slice wait for 2 ms.", "ack-late", "ACQ-3 RCV-12 R1",
		`0 slice 0 0/1 5 : R1 @0
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/1 5 : R1 @2
		2 poll : R25 1:1`},
	{"2-ms-across-chunks", "Forgets at a new chunk when the last ack went out.", "ack-early reset", "AKT-1 AKT-2 RCV-10",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		100 slice 1 0/3 : R2 @2ms
		2ms-1 poll : R22
		2ms poll : R22 1:100`},
	{"polled-again", "Sends the ack again when it is polled again.", "ack-flood", "AKT-5 R22",
		`0 slice 0 0/3 : R2
		0 poll : R22 0:100
		0 poll : R22
		5ms poll : R22 @10s`},
}

var timingCount = []trace{
	{"16-unreported", "Does not ack at once when 16 new slices are not reported.", "ack-late", "AKT-3",
		`0 slice 0 0/40 : R2
		0 poll : R22 0:1.0*39
		10/10/15 slice 0 1-15/40 : R5 @2ms
		150 poll : R22
		160 slice 0 16/40 : R5 @160
		160 poll : R22 0:1*17.0*23`},
	{"16-more", "Does not count from 0 again after an ack.", "ack-early ack-late", "AKT-3 AKT-5",
		`0 slice 0 0/40 : R2
		0 poll : R22 0:1.0*39
		10/10/16 slice 0 1-16/40 : R5
		160 poll : R22 0:1*17.0*23
		170/10/15 slice 0 17-31/40 : R5 @2_160
		310 poll : R22
		320 slice 0 32/40 : R5 @320
		320 poll : R22 0:1*33.0*7`},
	{"duplicates-are-not-counted", "Counts duplicates among the new slices.", "ack-early", "AKT-3",
		`0 slice 0 0/40 : R2
		0 poll : R22 0:1.0*39
		10/10/10 slice 0 1-10/40 : R5
		110/10/20 slice 0 5/40 : R7 @2ms
		400 poll : R22
		410/10/5 slice 0 11-15/40 : R5 @2ms
		460 slice 0 16/40 : R5 @460
		460 poll : R22 0:1*17.0*23`},
	{"count-without-polls", "Counts new slices only when it is polled.", "ack-late", "AKT-3",
		`0 slice 0 0/40 : R2 @0
		0 poll : R22 0:1.0*39
		2ms-20/1/15 slice 0 1-15/40 : R5 @2ms
		2ms-5 slice 0 16/40 : R5 @2ms-5`},
	{"count-starts-with-the-chunk", "Counts slices of a wrong pin among the new ones.", "ack-early reset", "AKT-1 AKT-3 R9",
		`with give_up=1ms
		0 slice 0 0/40 : R2
		0 poll : R22 0:1.0*39
		10/10/15 slice 0 1-15/40 : R5
		650 slice 0 0/3 : R9 @1_650
		650 poll : R22`},
}

var timingGaps = []trace{
	{"gap", "Lets an ack that shows a gap wait.", "ack-late", "AKT-4",
		`0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		100 slice 0 2/9 : R5 @100
		100 poll : R22 0:101.0*6`},
	{"after-a-gap", "Lets the ack after a gap wait, or all of them hurry.", "ack-late ack-early", "AKT-4",
		`0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		100 slice 0 2/9 : R5 @100
		100 poll : R22 0:101.0*6
		200 slice 0 3/9 : R5 @200
		200 poll : R22 0:1011.0*5
		300 slice 0 4/9 : R5 @2_200
		2_199 poll : R22
		2_200 poll : R22 0:10111.0*4`},
	{"gap-backward", "Sees a gap only when ids are left out, not when one comes late.", "ack-late", "AKT-4",
		`0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		100 slice 0 2/9 : R5 @100
		100 poll : R22 0:101.0*6
		200 slice 0 1/9 : R5 @200
		200 poll : R22 0:111.0*6
		300 slice 0 3/9 : R5 @300
		300 poll : R22 0:1111.0*5
		400 slice 0 4/9 : R5 @400
		400 poll : R22 0:11111.0*4
		500 slice 0 5/9 : R5 @2_400`},
	{"first-slice-not-0", "Sees no gap before the first slice.", "ack-late", "AKT-1 AKT-4",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		100 slice 1 1/3 : R2 @100
		100 poll : R22 1:010
		200 slice 1 2/3 9 : R5 @200
		200 poll : R22 1:011`},
	{"duplicate-is-no-gap", "Takes a duplicate for the latest new slice.", "ack-early", "AKT-4 R7",
		`0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		100 slice 0 1/9 : R5 @2ms
		200 slice 0 0/9 : R7 @2ms
		300 slice 0 2/9 : R5 @2ms
		300 poll : R22`},
	{"duplicate-does-not-end-a-gap", "Takes a duplicate for the slice after a gap.", "ack-late", "AKT-4 R7",
		`0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		100 slice 0 2/9 : R5 @100
		100 poll : R22 0:101.0*6
		150 slice 0 2/9 : R7 @2_100
		200 slice 0 3/9 : R5 @200
		200 poll : R22 0:1011.0*5`},
	{"conflict-is-no-gap", "Takes a slice that conflicts for the latest new one.", "ack-early conflict", "AKT-4 R8",
		`0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		100 slice 0 5/8 : R8 @10s
		200 slice 0 1/9 : R5 @2ms`},
	{"latest-new-starts-with-the-chunk", "Keeps the latest new slice of the chunk before: slice 0 makes a gap.", "ack-early reset", "AKT-1 AKT-4",
		`0 slice 0 0/2 : R2
		0 poll : R22 0:10
		10 slice 0 1/2 9 : R6 @10
		10 poll : R25 0:11
		20 read : R16 chunk=1033
		30 slice 1 0/3 : R2 @2_010
		30 poll : R22`},
	{"latest-new-starts-with-the-chunk-2", "The same, where slice 2 makes no gap.", "ack-late reset", "AKT-1 AKT-4",
		`0 slice 0 0/2 : R2
		0 poll : R22 0:10
		10 slice 0 1/2 9 : R6 @10
		10 poll : R25 0:11
		20 read : R16 chunk=1033
		30 slice 1 2/4 : R2 @30
		30 poll : R22 1:0010`},
	{"after-gap-starts-with-the-chunk", "Keeps the gap of the chunk before.", "ack-early reset", "AKT-1 AKT-4",
		`0 slice 0 1/2 9 : R2 @0
		0 poll : R22 0:01
		10 slice 0 0/2 : R6 @10
		10 poll : R25 0:11
		20 read : R16 chunk=1033
		30 slice 1 0/3 : R2 @2_010
		30 poll : R22`},
	{"gap-of-a-wrong-pin", "Keeps the latest new slice of a wrong pin.", "ack-early reset conflict", "AKT-1 R9",
		`with give_up=1ms
		0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		10 slice 0 1/9 : R5 @1_010
		600 slice 0 0/3 : R9 @1_600
		600 poll : R22`},
	{"gap-moves-a-due-ack-forward", "Leaves an ack that is due soon at its time when a gap shows.", "ack-late", "AKT-4",
		`0 slice 0 0/9 : R2
		0 poll : R22 0:1.0*8
		100 slice 0 1/9 : R5 @2ms
		200 slice 0 3/9 : R5 @200
		200 poll : R22 0:1101.0*5`},
}

var timingShared = []trace{
	{"previous-goes-with-a-gap", "Gives each ack a time of its own.", "ack-order", "AKT-5 RCV-16",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		3ms slice 1 0/9 : R2 @3ms
		3ms poll : R22 1:1.0*8
		3_100 slice 0 0/1 5 : R11 @5ms
		3_200 slice 1 2/9 : R5 @3_200
		3_200 poll : R22 0:1 1:101.0*6 @10_003_200`},
	{"previous-and-hold", "Sends a hold and the previous chunk's ack at different times.", "ack-order hold", "AKT-5 RCV-16 R13 R14",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		100 slice 1 0/3 : R13 @2ms
		1ms slice 0 0/1 5 : R14 @2ms
		2ms poll : R25 0:1 1:000 @never`},
	{"both-then-2-ms", "Counts the 2 ms from the first of several acks that were due at an earlier time.", "ack-early", "AKT-5",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		10 slice 0 0/1 5 : R3 @2ms
		20 slice 1 0/9 : R2 @2ms
		3ms poll : R22 0:1 1:1.0*8
		3_100 slice 1 1/9 : R5 @5ms`},
	{"a-due-time-stays-at-the-start", "Forgets the time of a due ack when a chunk begins.", "ack-late reset", "RCV-10 R2 R3",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		10 slice 0 0/1 5 : R3 @2ms
		20 slice 1 0/9 : R2 @2ms
		2ms poll : R22 0:1 1:1.0*8`},
	{"a-hold-leaves-its-time", "Begins the wait anew when a hold is forgotten.", "ack-late hold", "RCV-10 R2 R13",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		10 slice 1 0/9 : R13 @2ms
		20 read : R16 chunk=5 @2ms
		3ms slice 1 0/9 : R2 @2ms
		3ms poll : R22 1:1.0*8`},
	{"completion-takes-the-previous-along", "Sends the ack of the chunk before the previous one, or waits with the new one.", "ack-content ack-late", "RCV-12 R6",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		10 slice 0 0/1 5 : R3 @2ms
		20 slice 1 0/2 : R2 @2ms
		30 slice 1 1/2 9 : R6 @30
		30 poll : R25 1:11 @never`},
	{"completion-at-once-after-a-late-poll", "Sends two acks of a chunk that was completed before its first ack went out.", "ack-flood", "RCV-12 R6",
		`0 slice 0 0/2 : R2 @0
		50 slice 0 1/2 9 : R6 @0
		60 poll : R25 0:11 @never
		3ms poll : R25`},
}

var timingDeadline = []trace{
	{"deadline-of-receiving", "Has no deadline to give up, or one from the first slice.", "give-up", "RCV-17",
		`0 slice 0 0/5 : R2 @0
		0 poll : R22 0:10000 @10s
		5ms slice 0 1/5 : R5 @5ms
		5ms poll : R22 0:11000 @10_005ms`},
	{"deadline-of-the-ack-first", "Names the time to give up although an ack is due before.", "ack-late", "RCV-17",
		`0 slice 0 0/5 : R2
		0 poll : R22 0:10000
		85 slice 0 1/5 : R5 @2ms`},
	{"deadline-to-give-up-first", "Names the time of the ack although it gives up before.", "give-up", "RCV-17 R23",
		`with give_up=1ms
		0 slice 0 0/5 : R2 @0
		0 poll : R22 0:10000 @1ms
		100 slice 0 1/5 : R5 @1_100
		1_099 poll : R22 @1_100
		1_100 poll : R23 @never`},
	{"deadline-in-other-states", "Has a deadline when nothing is due.", "row", "RCV-17",
		`0 poll : R20 @never
		1 slice 0 0/1 5 : R1 @1
		1 poll : R25 0:1 @never
		2 read : R16 chunk=5 @never
		3 slice 7 0/1 5 : R4 @never
		4 poll : R20 @never`},
	{"give-up-in-1-us", "Cannot give up after the shortest time, before an ack that is due later.", "give-up", "RCV-9 RCV-17",
		`with give_up=1
		7 slice 0 0/2 : R2 @7
		7 poll : R22 0:10 @8
		8 poll : R23 @never`},
	{"give-up-beats-a-due-ack", "Sends the ack that is due at the time to give up.", "give-up", "RCV-9 R23",
		`with give_up=2ms
		0 slice 0 0/5 : R2
		0 poll : R22 0:10000
		0 slice 0 1/5 : R5 @2ms
		2ms poll : R23 @never
		3ms poll : R28 @never`},
	{"conflict-has-no-ack", "Makes an ack due by a slice that conflicts.", "conflict", "R8 RCV-7",
		`0 slice 0 0/3 : R2
		0 poll : R22 0:100
		5ms slice 0 1/4 : R8 @10s
		5ms poll : R22`},
	{"stray-has-no-ack", "Makes an ack due by a slice of another chunk.", "stray", "R4 R12 R15 RCV-4",
		`0 slice 5 0/3 : R4 @never
		0 slice 0 0/2 : R2
		0 poll : R22 0:10
		5ms slice 65535 0/2 : R12 @10s
		6ms slice 0 1/2 9 : R6
		6ms poll : R25 0:11
		7ms slice 65535 0/2 : R15 @never`},
	{"time-backward-ack", "Takes an earlier time for the start of the 2 ms.", "clock", "TIM-1 AKT-2",
		`5ms slice 0 0/5 : R2 @5ms
		1ms poll : R22 0:10000 @10_005ms
		2ms slice 0 1/5 : R5 @7ms
		6ms poll : R22
		7ms poll : R22 0:11000`},
	{"repin-acks-soon", "Sends the ack of a new pin by another timing.", "conflict", "R9 RCV-11 AKT-3",
		`0 slice 0 0/5 : R2
		0 poll : R22 0:10000
		6s slice 0 0/3 : R9 @6s
		6s poll : R22 0:100 @16s
		6s+10 slice 0 1/3 : R5 @6_002ms`},
	{"repin-and-complete-at-once", "Lets the ack of a new pin that completes wait.", "conflict ack-late", "R10 ACQ-3",
		`0 slice 0 0/5 : R2
		0 poll : R22 0:10000
		5s slice 0 0/1 9 : R10 @5s
		5s poll : R25 0:1 @never`},
	{"late-poll", "Looks for exactly the time at which an ack is due.", "ack-late", "AKT-5 RCV-9",
		`0 slice 0 0/5 : R2 @0
		3ms poll : R22 0:10000
		3_100 slice 0 1/5 : R5 @5ms
		9ms poll : R22 0:11000`},
}
