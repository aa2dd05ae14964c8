package main

var receiverConflicts = []trace{
	{"conflict", "Stores or answers a slice whose num_slices is not the pinned one.", "conflict", "R8 RCV-7",
		`0 slice 0 0/3 : R2 =100
		100ms poll : R22 0:100
		200ms slice 0 1/4 : R8 =100
		201ms slice 0 1/2 9 : R8 =100
		202ms slice 0 2/256 : R8 =100
		203ms slice 0 0/1 9 : R8 =100
		400ms poll : R22 =100`},
	{"conflict-of-a-received-slice", "Acks a slice that it has, though its num_slices differs.", "conflict", "R8 RCV-7",
		`0 slice 0 0/3 : R2 =100
		100ms poll : R22 0:100
		200ms slice 0 0/4 : R8
		400ms poll : R22`},
	{"conflict-of-the-last-missing", "Completes a chunk by a slice that conflicts.", "conflict completion", "R8 RCV-7",
		`0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		200ms slice 0 1/3 : R8 =10 #0
		300ms slice 0 1/2 7 : R6
		300ms poll : R25 0:11
		301ms read : R16 chunk=1031`},
	{"conflict-sets-no-size", "Takes the chunk's size from a last slice that conflicts.", "conflict delivery", "R8 RCV-7 RCV-11",
		`0 slice 0 1/2 7 : R2
		1 slice 0 2/3 900 : R8
		2 slice 0 0/2 : R6
		2 poll : R25 0:11
		3 read : R16 chunk=1031`},
	{"conflict-of-one-slice", "Takes a chunk of one slice for complete, whatever is pinned.", "conflict completion", "R8 RCV-7",
		`0 slice 0 0/2 : R2
		1 slice 0 0/1 7 : R8 =10 #0
		2 slice 0 1/2 7 : R6
		2 poll : R25 0:11`},
	{"first-slice-pins", "Lets the latest slice pin num_slices.", "conflict", "R8 R5 RCV-7 RCV-10",
		`0 slice 0 1/5 : R2 =01000
		1 slice 0 0/4 : R8 =01000
		2 slice 0 2/5 : R5 =01100
		100_000 poll : R22 0:01100`},
	{"conflict-until-half", "Pins anew a microsecond before half of GIVE_UP.", "conflict", "R8 RCV-7",
		`0 slice 0 0/3 : R2 =100
		100ms poll : R22 0:100
		5s-1 slice 0 1/4 : R8 =100
		6s poll : R22`},
	{"pin-counts-per-chunk", "Keeps the pinned num_slices for the next chunk.", "conflict reset", "R2 RCV-10 RCV-12",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 7 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1031
		3 slice 1 0/4 : R2 =1000
		100_003 poll : R22 1:1000`},
	{"previous-goes-before-conflict", "Looks at num_slices before it looks at the id.", "conflict previous", "R11 RCV-3 RCV-7",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 7 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1031
		3 slice 1 0/4 : R2
		100_003 poll : R22 1:1000
		6s slice 0 0/2 : R11 =1000
		6_100ms poll : R22 0:11`},
}

var receiverRepins = []trace{
	{"repin-at-half", "Does not pin anew at exactly half of GIVE_UP: a forged slice locks the genuine ones out.", "conflict", "R9 RCV-7 RCV-10",
		`0 slice 0 0/3 : R2 =100
		100ms poll : R22 0:100
		5s slice 0 1/4 : R9 =0100
		5_100ms poll : R22 0:0100`},
	{"repin-later", "Pins anew at exactly half of GIVE_UP only.", "conflict", "R9 RCV-7",
		`0 slice 0 0/3 : R2 =100
		100ms poll : R22 0:100
		8s slice 0 1/2 9 : R9 =01
		8_100ms poll : R22 0:01
		9s slice 0 0/2 : R6 #1
		9s poll : R25 0:11
		9s read : R16 chunk=1033`},
	{"repin-to-one-slice", "Does not complete by the slice that pins anew.", "conflict completion", "R10 RCV-7 RCV-12",
		`0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		5s slice 0 0/1 77 : R10 = #1
		5s poll : R25 0:1
		5s read : R16 chunk=77
		6s slice 0 0/1 77 : R3
		6_100ms poll : R20 0:1`},
	{"repin-forgets-what-was-received", "Keeps slices that came with the wrong num_slices.", "conflict delivery", "R9 RCV-10",
		`0 slice 0 0/3 fill=1 : R2 =100
		1 slice 0 2/3 900 fill=1 : R5 =101
		100ms poll : R22 0:101
		6s slice 0 1/2 9 fill=2 : R9 =01
		6_100ms poll : R22 0:01
		7s slice 0 0/2 fill=2 : R6
		7s poll : R25 0:11
		7s read : R16 chunk=1033`},
	{"repin-to-more-slices", "Keeps bits or bytes of the wrong pin.", "conflict delivery", "R9 RCV-10",
		`0 slice 0 1/2 9 fill=1 : R2 =01
		100ms poll : R22 0:01
		6s slice 0 2/3 5 fill=2 : R9 =001
		7s slice 0 1/3 fill=2 : R5 =011
		8s slice 0 0/3 fill=2 : R6
		8s poll : R25 0:111
		8s read : R16 chunk=2053`},
	{"repin-acks-the-new-pin", "Sends an ack that was due with the bits of the wrong pin.", "conflict ack-content", "R9 RCV-16",
		`0 slice 0 0/3 : R2 =100
		6s slice 0 1/2 9 : R9 =01
		6_100ms poll : R22 0:01
		7s poll : R22`},
	{"repin-of-odd-give-up", "Rounds half of an odd GIVE_UP up.", "conflict rounding", "R9 RCV-7",
		`with give_up=1_000_001
		0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		500_000 slice 0 1/2 9 : R9 =01`},
	{"no-repin-before-odd-half", "Rounds half of an odd GIVE_UP to something smaller.", "conflict rounding", "R8 RCV-7",
		`with give_up=1_000_001
		0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		499_999 slice 0 1/2 9 : R8 =100`},
	{"repin-in-1-us", "Compares with half of GIVE_UP by more than.", "conflict", "R9 RCV-7",
		`with give_up=1
		5 slice 0 0/3 : R2
		5 slice 0 1/2 9 : R9 =01
		5 slice 0 0/1 9 : R10 #1
		5 poll : R25 0:1`},
	{"new-slices-put-off-the-repin", "Counts from the slice that pinned, not from the latest new one.", "conflict", "R8 R9 RCV-7 RCV-11",
		`0 slice 0 0/4 : R2
		4s slice 0 1/4 : R5 =1100
		4_100ms poll : R22 0:1100
		9s-1 slice 0 1/3 : R8 =1100
		9s slice 0 1/3 : R9 =010`},
	{"duplicates-do-not-put-off-the-repin", "Counts duplicates as progress: forged ones keep the wrong pin for ever.", "conflict", "R7 R9 RCV-7 RCV-11",
		`0 slice 0 0/4 : R2
		100ms poll : R22 0:1000
		4s slice 0 0/4 : R7
		4_100ms poll : R22 0:1000
		5s slice 0 1/3 : R9 =010`},
	{"conflicts-do-not-put-off-the-repin", "Counts conflicts as progress.", "conflict", "R8 R9 RCV-7",
		`0 slice 0 0/4 : R2
		100ms poll : R22 0:1000
		1s/1s/4 slice 0 1/3 : R8
		5s slice 0 1/3 : R9 =010`},
	{"repin-starts-the-time-again", "Does not count the slice that pins anew as progress.", "conflict give-up", "R9 R23 RCV-11",
		`with give_up=2s
		0 slice 0 0/4 : R2
		100ms poll : R22 0:1000
		1s slice 0 1/3 : R9 =010
		1_100ms poll : R22 0:010
		2s slice 0 2/4 : R9 =0010
		2_100ms poll : R22 0:0010
		4s-1 poll : R22
		4s poll : R23`},
	{"repin-then-the-first-pin-conflicts", "Remembers the first pin.", "conflict", "R9 R8 RCV-7",
		`0 slice 0 0/4 : R2
		100ms poll : R22 0:1000
		5s slice 0 1/3 : R9 =010
		5_100ms poll : R22 0:010
		5_200ms slice 0 0/4 : R8 =010
		6s slice 0 0/3 : R5 =110
		6_100ms poll : R22 0:110`},
	{"repin-at-a-late-time-without-a-poll", "Gives up at a slice that comes late, instead of at a poll.", "conflict give-up", "R9 RCV-2 RCV-9",
		`with give_up=1s
		0 slice 0 0/4 : R2
		100ms poll : R22 0:1000
		5s slice 0 1/3 : R9 =010
		5_100ms poll : R22 0:010`},
	{"ready-never-repins", "Repins a chunk that is complete.", "conflict", "R13 R15 RCV-5",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		20s slice 0 0/1 5 : R15
		20s slice 1 0/1 5 : R13
		20_100ms poll : R25 1:0
		30s read : R16 chunk=1033`},
}

var receiverGiveUp = []trace{
	{"give-up-exactly", "Gives up a microsecond late, or never.", "give-up", "R23 RCV-9 RCV-15 RCV-17",
		`0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		10s poll : R23 = #0`},
	{"give-up-not-before", "Gives up a microsecond early.", "give-up", "R22 RCV-9",
		`0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		10s-1 poll : R22 =10`},
	{"give-up-from-the-latest-new-slice", "Counts from the first slice.", "give-up", "R23 RCV-9 RCV-11",
		`with give_up=1s
		0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		900ms slice 0 1/3 : R5
		1s poll : R22 0:110
		1_900ms-1 poll : R22
		1_900ms poll : R23`},
	{"duplicates-are-no-progress", "Counts duplicates as progress.", "give-up", "R7 R23 RCV-9",
		`with give_up=1s
		0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		800ms slice 0 0/3 : R7
		900ms poll : R22 0:100
		1s poll : R23`},
	{"previous-is-no-progress", "Counts slices of the previous chunk as progress.", "give-up", "R11 R23 RCV-9",
		`with give_up=1s
		0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/2 : R2
		100_002 poll : R22 1:10
		800ms slice 0 0/1 5 : R11
		900ms poll : R22 0:1
		1s+1 poll : R22
		1s+2 poll : R23`},
	{"conflicts-are-no-progress", "Counts slices that conflict as progress.", "give-up conflict", "R8 R23 RCV-9",
		`with give_up=1s
		0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		400ms slice 0 1/3 : R8
		1s poll : R23`},
	{"slice-before-give-up", "Gives up before it takes the slice of the same time.", "give-up", "R5 RCV-2 RCV-9",
		`with give_up=1s
		0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		1s slice 0 1/3 : R5 =110
		1_100ms poll : R22 0:110
		2s poll : R23`},
	{"give-up-at-a-poll-only", "Gives up at a slice that comes after the time, instead of taking it.", "give-up", "R6 RCV-9",
		`with give_up=1s
		0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		5s slice 0 1/2 9 : R6
		5s poll : R25 0:11
		6s read : R16 chunk=1033`},
	{"give-up-instead-of-an-ack", "Sends an ack that is due when it gives up.", "give-up", "R23 RCV-9",
		`with give_up=1s
		0 slice 0 0/3 : R2
		1s poll : R23
		2s poll : R28`},
	{"waiting-has-no-limit", "Gives up without a chunk that has begun.", "give-up", "R20 RCV-9",
		`with give_up=1s
		0 poll : R20
		100s poll : R20
		100s slice 0 0/2 : R2
		100_100ms poll : R22 0:10
		101s-1 poll : R22
		101s poll : R23`},
	{"waiting-after-a-chunk-has-no-limit", "Counts the time to give up on after a chunk was read.", "give-up", "R20 RCV-9",
		`with give_up=1s
		0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		100s poll : R20`},
	{"give-up-in-1-us", "Cannot give up after the shortest time.", "give-up", "R23 RCV-9",
		`with give_up=1
		7 slice 0 0/2 : R2
		100_007 poll : R23`},
	{"give-up-longest", "Overflows with the longest time.", "give-up", "R22 RCV-9 RCV-17",
		`with give_up=2_305_843_009_213_693_952
		1 slice 0 0/2 : R2
		1h poll : R22 0:10
		2_305_843_009_213_693_952 poll : R22
		2_305_843_009_213_693_953 poll : R23`},
	{"give-up-32-bits", "Keeps times in 32 bits.", "give-up clock", "R22 R23 RCV-9",
		`5_000_000_000 slice 0 0/2 : R2
		5_000_100_000 poll : R22 0:10
		5_009_999_999 poll : R22
		5_010_000_000 poll : R23`},
	{"never-discards-what-it-acked", "Drops slices that it acked when none came for a while.", "delivery give-up", "R6 RCV-15",
		`0 slice 0 0/3 : R2
		1 slice 0 2/3 9 : R5
		1s poll : R22 0:101
		9_999ms slice 0 1/3 : R6
		9_999ms poll : R25 0:111
		10s read : R16 chunk=2057`},
}

var receiverFailed = []trace{
	{"failed-slice", "Takes or answers slices after it gave up.", "give-up", "R26 R28",
		`with give_up=1s
		0 slice 0 0/2 : R2
		1s poll : R23
		1s slice 0 1/2 9 : R26 = #0
		1s slice 0 0/1 9 : R26
		1s slice 1 0/1 9 : R26
		1s slice 65535 0/1 9 : R26
		2s poll : R28`},
	{"failed-read", "Delivers what it had when it gave up.", "give-up delivery", "R27",
		`with give_up=1s
		0 slice 0 0/2 : R2
		1s poll : R23
		1s read : R27
		2s slice 0 1/2 9 : R26
		2s read : R27`},
	{"failed-previous", "Re-acks the previous chunk after it gave up.", "give-up previous", "R26 R28 R23",
		`with give_up=1s
		0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/2 : R2
		3s poll : R23 #1
		3s slice 0 0/1 5 : R26 #1
		4s poll : R28`},
	{"failed-forgets-acks-that-are-due", "Sends acks that were due when it gave up.", "give-up", "R23 R28 RCV-17",
		`with give_up=1s
		0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/2 : R2
		500ms slice 0 0/1 5 : R11
		2s poll : R23
		3s poll : R28`},
}

var receiverIDs = []trace{
	{"ids-count", "Waits for another id than the one before plus 1.", "wrap", "CID-1 CID-2 RCV-12",
		`0 slice 0 0/1 5 : R1 #1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/1 6 : R1 #2
		2 poll : R25 1:1
		3 read : R16 chunk=6
		4 slice 2 0/1 7 : R1 #3
		4 poll : R25 2:1
		5 read : R16 chunk=7`},
	{"wrap", "Waits for 65536 after 65535.", "wrap", "CID-2 RCV-12",
		`with first=65535
		0 slice 65535 0/1 5 : R1 #0
		0 poll : R25 65535:1
		1 read : R16 chunk=5
		2 slice 0 0/1 6 : R1 #1
		2 poll : R25 0:1
		3 read : R16 chunk=6`},
	{"wrap-previous", "Does not find 65535 before 0: compares ids as integers.", "wrap lost-last-ack", "R3 R11 RCV-3 CID-3",
		`with first=65535
		0 slice 65535 0/1 5 : R1 #0
		0 poll : R25 65535:1
		1 read : R16 chunk=5
		2 slice 65535 0/1 5 : R3
		100_002 poll : R20 65535:1
		200ms slice 0 0/2 : R2
		300ms poll : R22 0:10
		400ms slice 65535 0/1 5 : R11
		500ms poll : R22 65535:1`},
	{"wrap-previous-ready", "The same while the chunk waits to be read.", "wrap lost-last-ack", "R14 RCV-3",
		`with first=65535
		0 slice 65535 0/1 5 : R1 #0
		0 poll : R25 65535:1
		2 slice 65535 0/1 5 : R14
		100_002 poll : R25 65535:1`},
	{"wrap-stray", "Takes 65534 or 65535 for a chunk to come, or for the previous one of 1.", "wrap stray", "R4 CID-3",
		`with first=65535
		0 slice 65535 0/1 5 : R1 #0
		0 poll : R25 65535:1
		1 read : R16 chunk=5
		2 slice 65534 0/1 5 : R4
		3 slice 0 0/1 5 : R1 #1
		3 poll : R25 0:1
		4 read : R16 chunk=5
		5 slice 65535 0/1 5 : R4
		1s poll : R20`},
	{"wrap-signed", "Keeps ids in 16 bits with a sign.", "wrap", "CID-2 CID-3",
		`with first=32767
		0 slice 32767 0/1 5 : R1 #32768
		0 poll : R25 32767:1
		1 read : R16 chunk=5
		2 slice 32767 0/1 5 : R3
		100_002 poll : R20 32767:1
		200ms slice 32768 0/1 5 : R1 #32769
		200ms poll : R25 32768:1`},
	{"wrap-8-bits", "Keeps ids in 8 bits.", "wrap", "CID-2 CID-3",
		`with first=255
		0 slice 255 0/1 5 : R1 #256
		0 poll : R25 255:1
		1 read : R16 chunk=5
		2 slice 0 0/1 5 : R4
		3 slice 256 0/1 5 : R1 #257
		3 poll : R25 256:1`},
	{"next-chunk-smaller", "Keeps slices or bits of a larger chunk before.", "reset delivery", "R2 R6 RCV-10",
		`0 slice 0 0/3 fill=1 : R2
		1 slice 0 1/3 fill=1 : R5
		2 slice 0 2/3 900 fill=1 : R6
		2 poll : R25 0:111
		3 read : R16 chunk=2948
		4 slice 1 0/2 fill=2 : R2 =10
		5 slice 1 1/2 3 fill=2 : R6
		5 poll : R25 1:11
		6 read : R16 chunk=1027`},
	{"next-chunk-larger", "Keeps the size of a smaller chunk before.", "reset delivery", "R2 R6 RCV-10",
		`0 slice 0 0/1 3 fill=1 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=3
		2 slice 1 2/3 5 fill=2 : R2 =001
		3 slice 1 1/3 fill=2 : R5
		4 slice 1 0/3 fill=2 : R6
		4 poll : R25 1:111
		5 read : R16 chunk=2053`},
	{"next-chunk-same-size", "Keeps received slices of the chunk before.", "reset completion", "R2 RCV-10 RCV-12",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		3 slice 1 1/2 9 : R2 =01
		4 slice 1 0/2 : R6
		4 poll : R25 1:11
		5 read : R16 chunk=1033`},
}

var receiverDelivery = []trace{
	{"delivered-once", "Delivers a chunk at each read.", "delivery", "R16 R17 RCV-12",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 read : R17
		3 read : R17`},
	{"delivered-once-after-a-duplicate", "Delivers a chunk again when its last slice comes again.", "delivery", "R16 R3 R17",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		3 slice 0 1/2 9 : R3
		4 read : R17
		100_003 poll : R20 0:11`},
	{"read-before-the-ack", "Sends the last ack only if the chunk still waits, or only once it was read.", "delivery lost-last-ack", "R16 R20 ACQ-3",
		`0 slice 0 0/1 5 : R1
		0 read : R16 chunk=5
		0 poll : R20 0:1`},
	{"read-in-the-middle-of-the-next", "Delivers the chunk before again while the next one arrives.", "delivery", "R18",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/2 : R2
		3 read : R18 =10
		100_002 poll : R22 1:10`},
	{"bytes-in-place", "Joins slices in the order of their arrival.", "delivery cutting", "R16 RCV-11",
		`0 slice 0 2/4 fill=3 : R2
		1 slice 0 0/4 fill=1 : R5
		2 slice 0 3/4 10 fill=4 : R5
		3 slice 0 1/4 fill=2 : R6
		3 poll : R25 0:1111
		4 read : R16 chunk=3082`},
	{"refused-read-changes-nothing", "Drops an ack that is due at a read that is refused.", "refusal", "R17 R18",
		`0 slice 0 0/2 : R2
		1 read : R18
		100ms poll : R22 0:10
		200ms slice 0 1/2 9 : R6
		200ms read : R16 chunk=1033
		200ms read : R17
		200ms poll : R20 0:11`},
}

var receiverAcks = []trace{
	{"ack-within-100-ms", "Lets an ack that is due wait for longer than 100 ms.", "ack-late", "ACQ-1 R22",
		`0 slice 0 0/3 : R2
		100ms poll : R22 0:100`},
	{"ack-of-a-later-chunk-within-100-ms", "The same later in a connection, after other acks.", "ack-late", "ACQ-1 R22",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/3 : R2
		100_002 poll : R22 1:100
		100_003 slice 1 1/3 : R5
		200_003 poll : R22 1:110`},
	{"completion-at-once", "Sends the last ack only when its timer runs out.", "ack-late", "ACQ-3 RCV-12 R25",
		`0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		100_001 slice 0 1/2 9 : R6
		100_001 poll : R25 0:11`},
	{"completion-replaces-current", "Acks the completed chunk twice, or with the bits before it was complete.", "ack-flood ack-content", "RCV-12 R25 ACQ-2",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		1s poll : R25`},
	{"ack-tells-what-is-here-now", "Sends the bits of the time at which the ack became due.", "ack-content", "ACK-2 RCV-16 R22",
		`0 slice 0 0/4 : R2
		50ms slice 0 2/4 : R5
		99ms slice 0 3/4 9 : R5
		100ms poll : R22 0:1011`},
	{"ack-once", "Sends an ack again and again without a reason.", "ack-flood", "ACQ-2 RCV-16 R22",
		`0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		200ms poll : R22
		5s poll : R22
		9s poll : R22`},
	{"previous-then-current", "Sends the current chunk's ack before the previous one's, or one of the two.", "ack-order", "RCV-16 R11 R22",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		3 slice 1 1/3 : R2
		4 slice 0 0/2 : R11
		100_004 poll : R22 0:11 1:010
		200_004 poll : R22`},
	{"previous-before-the-chunk-begins", "Forgets that the previous chunk's ack is due when the next begins.", "ack-order reset", "RCV-10 RCV-16 R3",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		3 slice 0 0/2 : R3
		4 slice 1 0/3 : R2
		100_004 poll : R22 0:11 1:100`},
	{"ack-after-an-outage", "Wants something new before it acks again after silence.", "stall", "RCV-13 R7",
		`0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		9s slice 0 0/3 : R7
		9_100ms poll : R22 0:100`},
}

var receiverClock = []trace{
	{"time-backward-slice", "Puts progress back by a slice with an earlier time.", "clock", "TIM-1 R5",
		`5s slice 0 0/4 : R2
		3s slice 0 1/4 : R5
		5_100ms poll : R22 0:1100
		15s-1 poll : R22
		15s poll : R23`},
	{"time-backward-poll", "Takes an earlier time at a poll.", "clock", "TIM-1 R23",
		`with give_up=1s
		0 slice 0 0/4 : R2
		2s slice 7 0/4 : R12
		0 poll : R23`},
	{"read-has-a-time", "Does not take the time of a read that is refused.", "clock refusal", "TIM-1 R17",
		`8s read : R17
		1s slice 0 0/2 : R2
		8_100ms poll : R22 0:10
		18s-1 poll : R22
		18s poll : R23`},
	{"stray-has-a-time", "Does not take the time of a slice that changes nothing.", "clock stray", "TIM-1 R4",
		`8s slice 9 0/2 : R4
		1s slice 0 0/2 : R2
		8_100ms poll : R22 0:10
		18s-1 poll : R22
		18s poll : R23`},
	{"poll-has-a-time", "Does not take the time of a poll at which nothing happened.", "clock", "TIM-1 R20",
		`8s poll : R20
		1s slice 0 0/2 : R2
		8_100ms poll : R22 0:10
		18s-1 poll : R22
		18s poll : R23`},
	{"conflict-has-a-time", "Does not take the time of a slice that conflicts.", "clock conflict", "TIM-1 R8",
		`0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		4s slice 0 1/2 9 : R8
		1s slice 0 1/3 : R5
		4_100ms poll : R22 0:110
		14s-1 poll : R22
		14s poll : R23`},
	{"time-backward-repin", "Compares an earlier time with half of GIVE_UP.", "clock conflict", "TIM-1 R9",
		`0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		6s slice 9 0/2 : R12
		1s slice 0 1/2 9 : R9 =01`},
}
