package main

import "fmt"

var receiverStart = []trace{
	{"poll-at-the-start", "Sends an ack before any slice came.", "row", "R20 RCV-9 RCV-16",
		`0 poll : R20 #0
		10s poll : R20
		1h poll : R20`},
	{"read-at-the-start", "Delivers an empty chunk.", "refusal", "R17 RCV-1",
		`0 read : R17 #0
		1 slice 0 0/1 5 : R1 #1
		1 read : R16 chunk=5`},
	{"one-slice", "Needs more than one slice, or does not complete at once.", "completion ack-late", "R1 R25 R16 R20 RCV-8 RCV-11 RCV-12 ACQ-3",
		`0 slice 0 0/1 700 : R1 = #1
		0 poll : R25 0:1
		1 read : R16 chunk=700
		2 poll : R20`},
	{"three-slices", "Does not store, count or ack what arrives.", "row", "R2 R5 R6 R22 R16 RCV-8 RCV-10 RCV-11 RCV-16",
		`0 slice 0 0/3 : R2 =100 #0
		100ms poll : R22 0:100
		200ms slice 0 1/3 : R5 =110
		300ms poll : R22 0:110
		400ms slice 0 2/3 33 : R6 = #1
		400ms poll : R25 0:111
		500ms read : R16 chunk=2081`},
	{"last-slice-first", "Takes the first slice that comes for slice 0, or the chunk's size for unknown.", "cutting delivery", "R2 R6 RCV-11",
		`0 slice 0 2/3 33 : R2 =001
		10 slice 0 0/3 : R5 =101
		20 slice 0 1/3 : R6
		20 poll : R25 0:111
		30 read : R16 chunk=2081`},
	{"backward", "Wants slices in order.", "delivery", "R5 R6 RCV-8",
		`0 slice 0 3/4 1024 : R2 =0001
		1 slice 0 2/4 : R5 =0011
		2 slice 0 1/4 : R5 =0111
		3 slice 0 0/4 : R6
		3 poll : R25 0:1111
		4 read : R16 chunk=4096`},
	{"last-slice-is-not-complete", "Completes when the last slice comes.", "completion", "R5 R18 RCV-8",
		`0 slice 0 0/3 : R2
		1 slice 0 2/3 10 : R5 =101 #0
		2 read : R18
		100ms poll : R22 0:101
		200ms slice 0 1/3 : R6 #1
		200ms poll : R25 0:111
		200ms read : R16 chunk=2058`},
	{"read-while-receiving", "Delivers a part of a chunk, or drops it.", "refusal delivery", "R18 RCV-1",
		`0 slice 0 0/2 : R2 =10
		1 read : R18 =10 #0
		2 slice 0 1/2 5 : R6
		2 poll : R25 0:11
		3 read : R16 chunk=1029`},
	{"256-slices-by-the-ends", "Keeps ids or counts in 8 bits with a sign.", "cutting", "R2 R5 RCV-8",
		`0 slice 0 255/256 1 : R2 =0*255.1
		1 slice 0 0/256 : R5 =1.0*254.1
		2 slice 0 128/256 : R5 =1.0*127.1.0*126.1
		3 slice 0 127/256 : R5 =1.0*126.1.1.0*126.1
		100ms poll : R22 0:1.0*126.1.1.0*126.1`},
	{"256-slices", "Cannot complete 256 slices: the count does not fit in 8 bits.", "completion cutting", "R6 RCV-8 RCV-12",
		`0 slice 0 0/256 : R2
		1/1/254 slice 0 1-254/256 : R5
		255 slice 0 255/256 1 : R6 #1
		255 poll : R25 0:1*256
		256 read : R16 chunk=261121
		257 slice 0 128/256 : R3
		100257 poll : R20 0:1*256`},
}

// receiverSizes receives chunks of the sizes at the boundaries of LIM-2, in
// order.
func receiverSizes() (list []trace) {
	for _, c := range []struct{ size, slices, last int }{
		{1, 1, 1}, {1023, 1, 1023}, {1024, 1, 1024}, {1025, 2, 1}, {2047, 2, 1023}, {2048, 2, 1024}, {2049, 3, 1}, {8192, 8, 1024}, {8193, 9, 1}, {262_144, 256, 1024},
	} {
		first, row := "", "R1"
		if c.slices > 1 {
			first, row = fmt.Sprintf("0 slice 0 0/%d : R2 =1.0*%d\n", c.slices, c.slices-1), "R6"
		}
		if c.slices > 2 {
			first += fmt.Sprintf("1/0/%d slice 0 1-%d/%d : R5\n", c.slices-2, c.slices-2, c.slices)
		}
		list = append(list, trace{
			fmt.Sprintf("size-%d", c.size), fmt.Sprintf("Joins %d slices, the last of %d bytes, to something else than %d bytes.", c.slices, c.last, c.size),
			"cutting delivery", "LIM-2 LIM-3 RCV-11 R16",
			fmt.Sprintf("%s1 slice 0 %d/%d %d : %s #1\n1 poll : R25 0:1*%d\n2 read : R16 chunk=%d", first, c.slices-1, c.slices, c.last, row, c.slices, c.size),
		})
	}
	return list
}

var receiverDuplicates = []trace{
	{"duplicate", "Drops a duplicate without an ack (the article's first stall).", "stall", "LIVE-1 R7 RCV-8 RCV-13",
		`0 slice 0 0/3 : R2
		100ms poll : R22 0:100
		200ms slice 0 0/3 : R7 =100
		300ms poll : R22 0:100
		400ms slice 0 0/3 : R7
		500ms poll : R22 0:100
		500ms poll : R22`},
	{"duplicate-of-last-slice", "Counts a duplicate of the last slice as the missing one.", "completion", "R7 RCV-8",
		`0 slice 0 1/2 9 : R2 =01
		1 slice 0 1/2 9 : R7 =01 #0
		2 slice 0 1/2 9 : R7 =01 #0
		100ms poll : R22 0:01
		200ms slice 0 0/2 : R6
		200ms poll : R25 0:11`},
	{"duplicates-are-counted", "Completes by the number of packets instead of slices.", "completion", "R7 RCV-8",
		`0 slice 0 0/3 : R2 =100
		1/1/5 slice 0 0/3 : R7 =100
		6 slice 0 1/3 : R5 =110
		7/1/5 slice 0 1/3 : R7 =110 #0
		100ms poll : R22 0:110`},
	{"duplicate-with-other-bytes", "Overwrites a slice that it has acked.", "delivery", "R7 RCV-8 RCV-15",
		`0 slice 0 0/2 fill=7 : R2
		1 slice 0 0/2 fill=9 : R7 =10
		2 slice 0 1/2 5 fill=8 : R6
		2 poll : R25 0:11
		3 read : R16 chunk=1029`},
	{"duplicate-of-last-with-other-size", "Takes the chunk's size from a duplicate of the last slice.", "delivery", "R7 RCV-8 RCV-11",
		`0 slice 0 1/2 100 : R2 =01
		1 slice 0 1/2 900 : R7 =01
		2 slice 0 0/2 : R6
		2 poll : R25 0:11
		3 read : R16 chunk=1124`},
	{"a-flood-of-duplicates", "Queues an ack for each duplicate.", "ack-flood", "R7 ACQ-2",
		`0 slice 0 0/3 : R2
		10/10/10 slice 0 0/3 : R7
		100_100 poll : R22 0:100
		200_100 poll : R22
		300_100/10/10 slice 0 0/3 : R7
		500ms poll : R22 0:100
		700ms poll : R22`},
	{"many-new-slices-one-ack", "Acks every slice by a packet of its own, when asked once.", "ack-flood", "R5 ACQ-2 RCV-16",
		`0 slice 0 0/12 : R2
		10/10/10 slice 0 1-10/12 : R5
		100ms poll : R22 0:1*11.0
		200ms poll : R22`},
	{"duplicate-between-new-slices", "Goes into another state by a duplicate.", "row stall", "R5 R7 RCV-8",
		`0 slice 0 2/4 : R2 =0010
		1 slice 0 2/4 : R7 =0010
		2 slice 0 0/4 : R5 =1010
		3 slice 0 2/4 : R7 =1010
		4 slice 0 0/4 : R7 =1010
		5 slice 0 3/4 1 : R5 =1011
		6 slice 0 1/4 : R6
		6 poll : R25 0:1111
		7 read : R16 chunk=3073`},
}

var receiverPrevious = []trace{
	{"previous-waiting", "Drops a slice of the chunk that was read (the article's second stall).", "lost-last-ack stall", "LIVE-1 R3 RCV-3 RCV-13 RCV-16",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		1s slice 0 1/2 9 : R3 = #1
		1_100ms poll : R20 0:11
		2s slice 0 0/2 : R3
		2_100ms poll : R20 0:11
		3s read : R17`},
	{"previous-ready", "Acks a complete chunk again only once it was read (the same stall).", "lost-last-ack stall slow-reader", "LIVE-1 R14 RCV-3 RCV-13",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		1s slice 0 0/2 : R14 #1
		1_100ms poll : R25 0:11
		2s slice 0 1/2 9 : R14
		2_100ms poll : R25 0:11
		3s read : R16 chunk=1033`},
	{"previous-receiving", "Forgets the chunk before once the next has begun.", "lost-last-ack stall", "R11 RCV-3 RCV-13",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		1s slice 1 0/3 : R2 =100
		1_100ms poll : R22 1:100
		2s slice 0 0/2 : R11 =100
		2_100ms poll : R22 0:11`},
	{"previous-of-one-slice", "Re-acks a chunk of one slice wrongly.", "lost-last-ack ack-content", "R3 RCV-16",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 0 0/1 5 : R3
		100_002 poll : R20 0:1`},
	{"previous-has-its-own-num", "Acks the previous chunk with the current chunk's num_slices, or bits.", "ack-content lost-last-ack", "R11 RCV-12 RCV-16",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		3 slice 1 3/5 : R2 =00010
		1s poll : R22 1:00010
		2s slice 0 1/2 9 : R11 =00010
		3s poll : R22 0:11
		4s slice 1 0/5 : R5 =10010
		5s poll : R22 1:10010`},
	{"previous-larger-than-current", "Cuts the re-ack to the current chunk's num_slices.", "ack-content", "R11 RCV-16",
		`0 slice 0 9/10 9 : R2
		1/0/8 slice 0 0-7/10 : R5
		1 slice 0 8/10 : R6
		1 poll : R25 0:1*10
		2 read : R16 chunk=9225
		3 slice 1 0/2 : R2 =10
		1s poll : R22 1:10
		2s slice 0 4/10 : R11
		3s poll : R22 0:1*10`},
	{"previous-with-other-num-waiting", "Takes a slice of the previous id with another num_slices for the previous chunk.", "previous", "R4 RCV-3",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		3 slice 0 0/3 : R4 #1
		4 slice 0 0/1 5 : R4 #1
		5 slice 0 1/256 : R4 #1
		1s poll : R20`},
	{"previous-with-other-num-ready", "The same while the chunk waits to be read.", "previous", "R15 RCV-3",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		3 slice 0 0/3 : R15
		4 slice 0 0/1 5 : R15
		1s poll : R25
		2s read : R16 chunk=1033`},
	{"previous-with-other-num-receiving", "The same while the next chunk arrives, also when it has that num_slices.", "previous", "R12 RCV-3",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 read : R16 chunk=1033
		3 slice 1 0/3 : R2 =100
		100_003 poll : R22 1:100
		200ms slice 0 1/3 : R12 =100
		300ms poll : R22`},
	{"no-previous-at-the-start", "Takes 65535 for the previous chunk of 0 at the start.", "first-previous", "R4 RCV-6",
		`0 slice 65535 0/1 5 : R4 #0
		1 slice 65535 0/2 : R4
		2 slice 65535 255/256 9 : R4
		1s poll : R20
		2s read : R17`},
	{"no-previous-in-the-first-chunk", "Takes 65535 for the previous chunk while the first one arrives.", "first-previous", "R12 RCV-6",
		`0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		200ms slice 65535 0/2 : R12 =10
		201ms slice 65535 0/1 9 : R12 =10
		300ms poll : R22`},
	{"no-previous-before-first-id", "Takes FIRST_ID - 1 for a previous chunk at the start.", "first-previous", "R4 RCV-6 CID-1",
		`with first=5
		0 slice 4 0/1 5 : R4 #5
		1 slice 4 1/2 5 : R4
		1s poll : R20
		2s slice 5 0/1 5 : R1 #6
		2s poll : R25 5:1
		3s slice 4 0/1 5 : R15
		4s poll : R25`},
	{"chunk-before-the-previous", "Re-acks the chunk before the previous one.", "previous stray", "R4 R3 RCV-3 RCV-4",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/1 6 : R1 #2
		2 poll : R25 1:1
		3 read : R16 chunk=6
		4 slice 0 0/1 5 : R4
		1s poll : R20
		2s slice 1 0/1 6 : R3
		3s poll : R20 1:1`},
	{"completion-replaces-previous", "Acks the chunk before the previous one, because its ack was due.", "ack-content", "RCV-12 R11 R6",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/2 : R2
		3 slice 0 0/1 5 : R11
		4 slice 1 1/2 9 : R6 #2
		4 poll : R25 1:11
		1s poll : R25`},
	{"previous-before-its-first-ack", "Acks a complete chunk twice when a duplicate comes before the ack went out.", "ack-flood", "R14 ACQ-2 RCV-12",
		`0 slice 0 0/1 5 : R1
		0 slice 0 0/1 5 : R14
		0 poll : R25 0:1
		0 poll : R25`},
}

var receiverStrays = []trace{
	{"stray-waiting", "Starts a chunk by a slice of another id.", "stray wrap", "R4 RCV-4 CID-3",
		`with first=1000
		0 slice 1001 0/1 5 : R4 #1000
		1 slice 1002 0/2 : R4
		2 slice 999 0/2 : R4
		3 slice 1256 0/1 5 : R4
		4 slice 33768 0/1 5 : R4
		5 slice 0 0/1 5 : R4
		1s poll : R20
		2s read : R17`},
	{"stray-receiving", "Stores or answers a slice of another id while a chunk arrives.", "stray wrap", "R12 RCV-4 CID-3",
		`with first=1000
		0 slice 1000 0/3 : R2
		100ms poll : R22 1000:100
		101ms slice 1001 1/3 : R12 =100
		102ms slice 999 1/3 : R12 =100
		103ms slice 1256 1/3 : R12 =100
		104ms slice 33768 1/3 : R12 =100
		1s poll : R22 =100`},
	{"stray-ready", "Holds or answers a slice that is neither of the next chunk nor of the one that waits.", "stray", "R15 RCV-4",
		`with first=1000
		0 slice 1000 0/1 5 : R1 #1001
		0 poll : R25 1000:1
		1 slice 1002 0/1 5 : R15
		2 slice 999 0/1 5 : R15
		3 slice 1257 0/1 5 : R15
		1s poll : R25
		2s read : R16 chunk=5`},
	{"late-duplicate-starts-nothing", "Starts a chunk again by a late duplicate.", "stray delivery", "R3 R17 RCV-3 RCV-13",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 0 0/1 5 : R3 #1
		3 read : R17
		1s poll : R20 0:1
		2s read : R17`},
	{"late-duplicate-two-chunks-later", "Takes a late duplicate of an older chunk.", "stray", "R12 R4 RCV-4",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 read : R16 chunk=5
		2 slice 1 0/1 6 : R1
		2 poll : R25 1:1
		3 read : R16 chunk=6
		4 slice 0 0/1 5 : R4 #2
		5 slice 2 0/2 : R2
		6 slice 0 0/1 5 : R12 =10
		100_005 poll : R22 2:10`},
	{"stray-is-no-progress", "Puts off giving up by slices of other chunks.", "stray give-up", "R12 R23 RCV-4 RCV-9",
		`with give_up=1s
		0 slice 0 0/2 : R2
		100ms poll : R22 0:10
		900ms slice 7 1/2 5 : R12
		1s poll : R23`},
}

var receiverHolds = []trace{
	{"hold", "Drops slices of the next chunk in silence while one waits to be read.", "slow-reader hold", "R13 RCV-5 RCV-14 RCV-16",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1s slice 1 0/3 : R13 = #1
		1_100ms poll : R25 1:000
		2s slice 1 2/3 5 : R13
		2_100ms poll : R25 1:000
		3s read : R16 chunk=5`},
	{"hold-stores-nothing", "Stores a slice that came too early, or pins num_slices by it.", "hold conflict", "R13 R2 RCV-14",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 slice 1 0/3 : R13
		100_001 poll : R25 1:000
		200ms read : R16 chunk=5
		300ms slice 1 1/2 9 : R2 =01
		400ms poll : R22 1:01`},
	{"hold-of-one-slice", "Completes the next chunk, of one slice, before the one that waits was read.", "hold delivery", "R13 RCV-5",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 slice 1 0/1 77 : R13 #1
		100_001 poll : R25 1:0
		200ms read : R16 chunk=5
		201ms read : R17
		300ms slice 1 0/1 77 : R1 #2
		300ms poll : R25 1:1
		301ms read : R16 chunk=77`},
	{"hold-with-the-latest-num", "Holds with the num_slices of the first slice that was held.", "hold ack-content", "R13 RCV-14",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 slice 1 0/3 : R13
		2 slice 1 0/7 : R13
		100_001 poll : R25 1:0*7
		200ms slice 1 3/256 : R13
		300ms poll : R25 1:0*256`},
	{"hold-after-read", "Forgets a hold that is due when the chunk is read.", "hold", "R13 R16 R20 RCV-16",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 slice 1 0/3 : R13
		2 read : R16 chunk=5
		100_001 poll : R20 1:000
		200ms poll : R20`},
	{"hold-forgotten-at-start", "Sends a hold that is due after the next chunk has begun.", "hold reset", "R2 RCV-10",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 slice 1 0/3 : R13
		2 read : R16 chunk=5
		3 slice 1 0/3 : R2 =100
		100_003 poll : R22 1:100
		200ms poll : R22`},
	{"hold-forgotten-at-start-of-one-slice", "The same with a chunk that completes at once.", "hold reset", "R1 RCV-10 RCV-12",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1 slice 1 0/1 6 : R13
		2 read : R16 chunk=5
		3 slice 1 0/1 6 : R1
		3 poll : R25 1:1
		200ms poll : R25`},
	{"hold-and-previous", "Sends a hold before the previous chunk's ack, or one of the two.", "hold ack-order", "R13 R14 RCV-16",
		`0 slice 0 0/2 : R2
		1 slice 0 1/2 9 : R6
		1 poll : R25 0:11
		2 slice 1 0/3 : R13
		3 slice 0 0/2 : R14
		100_003 poll : R25 0:11 1:000
		200_003 poll : R25`},
	{"a-flood-of-early-slices", "Queues a hold for each early slice.", "hold ack-flood", "R13 ACQ-2",
		`0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		1/1/9 slice 1 0-8/9 : R13
		100_009 poll : R25 1:0*9
		300ms poll : R25`},
	{"hold-before-the-first-ack", "Sends a hold in place of the completed chunk's ack.", "hold ack-content", "R13 RCV-12 RCV-16",
		`0 slice 0 0/1 5 : R1
		0 slice 1 0/2 : R13
		100ms poll : R25 0:1 1:00`},
	{"hold-at-the-wrap", "Holds 65536 instead of 0.", "hold wrap", "R13 CID-3",
		`with first=65535
		0 slice 65535 0/1 5 : R1 #0
		0 poll : R25 65535:1
		1 slice 0 0/2 : R13
		100_001 poll : R25 0:00`},
	{"ready-has-no-limit", "Gives up, or drops the chunk, while it waits to be read.", "slow-reader give-up", "SAFE-5 CON-3 R25 RCV-9 RCV-17",
		`with give_up=1s
		0 slice 0 0/1 5 : R1
		0 poll : R25 0:1
		100s slice 1 0/2 : R13
		101s poll : R25 1:00
		1h poll : R25
		1h read : R16 chunk=5
		2h poll : R20`},
	{"ready-previous-with-other-bytes", "Overwrites the chunk that waits by a late duplicate.", "delivery", "SAFE-5 R14 RCV-12",
		`0 slice 0 0/1 5 fill=1 : R1
		0 poll : R25 0:1
		1 slice 0 0/1 5 fill=2 : R14
		100_001 poll : R25 0:1
		200ms read : R16 chunk=5`},
	{"ready-early-with-other-bytes", "Overwrites the chunk that waits by a slice of the next.", "delivery hold", "SAFE-5 R13 RCV-12 RCV-14",
		`0 slice 0 1/2 5 fill=1 : R2
		0 slice 0 0/2 fill=2 : R6
		0 poll : R25 0:11
		1 slice 1 0/2 fill=3 : R13
		2 slice 1 1/2 900 fill=4 : R13
		100_002 poll : R25 1:00
		200ms read : R16 chunk=1029`},
}
