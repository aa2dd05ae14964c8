package main

import "fmt"

var senderStart = []trace{
	{"submit", "Starts with another deadline than GIVE_UP, or with bits set.", "row", "S1 SND-1 SND-10 SND-16",
		`0 submit 3000 : S1 =000 @10s #0`},
	{"submit-late", "Counts GIVE_UP from the connection's start.", "give-up", "S1 SND-10 SND-16",
		`7s submit 1 : S1 =0 @17s`},
	{"submit-empty", "Takes an empty chunk.", "refusal", "S2 SND-1 LIM-1",
		`0 submit 0 : S2 @never #0
		0 poll : S12`},
	{"submit-smallest", "Refuses one byte.", "refusal", "S1 LIM-1",
		`3 submit 1 : S1 =0 @10s+3
		3 poll 0 : S14 0/1:1`},
	{"submit-largest", "Refuses the largest chunk.", "refusal cutting", "S1 LIM-1",
		`0 submit 262144 : S1 =0*256
		0 poll 255 : S14 255/256:1024`},
	{"submit-too-large", "Takes a byte too much.", "refusal", "S2 SND-1 LIM-1",
		`0 submit 262145 : S2 @never #0
		0 poll : S12`},
	{"submit-much-too-large", "Keeps num_slices in 8 bits, so that 257 slices look like one.", "refusal", "S2 LIM-1",
		`0 submit 263168 : S2 @never
		0 submit 524288 : S2 @never`},
	{"refused-then-valid", "Is not idle after a refused submit, or has used up its id.", "refusal", "S2 S1 SND-1",
		`5 submit 0 : S2 #0
		6 submit 262145 : S2 #0
		7 submit 1500 : S1 =00 #0 @10s+7
		7 poll 0,1 : S14 0/2:1024 1/2:476`},
	{"busy", "Replaces the chunk in flight by the one that it refuses.", "refusal", "S3 SND-1 CON-2",
		`0 submit 2048 : S1
		0 poll 0 : S14 0/2:1024
		10 submit 5000 : S3 =00 #0
		20 poll 1 : S14 1/2:1024`},
	{"busy-keeps-acked", "Clears the acked bits when it refuses a chunk.", "refusal fuse", "SAFE-3 S3 SND-1",
		`0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		10 ack 0 10 : S9 =10
		20 submit 2048 : S3 =10
		30 ack 0 01 : S10 #1`},
	{"busy-keeps-sent", "Clears what was sent when it refuses a chunk.", "refusal", "S3 SND-1",
		`0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		10 submit 2048 : S3
		20 ack 0 11 : S10`},
	{"busy-keeps-the-time", "Lets a refused submit put off giving up.", "refusal give-up", "S3 SND-1 SND-9",
		`0 submit 2048 : S1 @10s
		9s submit 2048 : S3 @10s
		10s poll 0 : S15`},
	{"busy-before-size", "Tells the size of a chunk that it could not take anyway.", "refusal", "S3 SND-1",
		`0 submit 1 : S1
		1 submit 0 : S3
		2 submit 262145 : S3
		2 poll 0 : S14 0`},
	{"idle-poll", "Sends or gives up without a chunk.", "row", "S12 SND-16",
		`0 poll : S12 @never
		20s poll : S12 @never`},
	{"idle-ack", "Lets an ack change an idle sender.", "row", "S5 SND-5",
		`0 ack 0 1 : S5 #0 @never
		1 ack 0 000 : S5 #0
		2 ack 65535 111 : S5 #0
		3 submit 1000 : S1 =0 #0
		3 poll 0 : S14 0
		4 ack 0 1 : S10 #1`},
}

// senderSizes cuts chunks at the boundaries of LIM-2. Of the large ones only
// the first and the last slice are sent.
func senderSizes() (list []trace) {
	for _, c := range []struct{ size, slices, last int }{
		{1, 1, 1}, {1023, 1, 1023}, {1024, 1, 1024}, {1025, 2, 1}, {2047, 2, 1023}, {2048, 2, 1024}, {2049, 3, 1},
		{130_048, 127, 1024}, {131_072, 128, 1024}, {131_073, 129, 1}, {261_120, 255, 1024}, {261_121, 256, 1}, {262_143, 256, 1023}, {262_144, 256, 1024},
	} {
		first, last := "", fmt.Sprintf("%d/%d:%d", c.slices-1, c.slices, c.last)
		due := fmt.Sprint(c.slices - 1)
		if c.slices > 1 {
			first, due = fmt.Sprintf("0/%d:1024", c.slices), "0,"+due
		}
		list = append(list, trace{
			fmt.Sprintf("size-%d", c.size), fmt.Sprintf("Cuts %d bytes otherwise than in %d slices, the last of %d bytes.", c.size, c.slices, c.last),
			"cutting", "LIM-2 LIM-3 SND-10 SND-14 TRC-1",
			fmt.Sprintf("0 submit %d : S1 =0*%d\n0 poll %s : S14 %s %s", c.size, c.slices, due, first, last),
		})
	}
	return list
}

// senderForeign gives acks that are almost the sender's, one at a time, to a
// sender of three slices with chunk id 1000 that has sent all of them.
func senderForeign() (list []trace) {
	for _, c := range []struct{ name, comment, ack, sentences string }{
		{"id-plus-1", "Takes an ack of the next chunk.", "1001 111", "CID-3"},
		{"id-minus-1", "Takes an ack of the previous chunk.", "999 111", "CID-3"},
		{"id-low-byte", "Compares the low byte of the ids only.", "1256 111", "CID-3"},
		{"id-half", "Compares ids by their distance, half way round.", "33768 111", "CID-3"},
		{"id-0", "Does not look at the id.", "0 111", "CID-3"},
		{"num-plus-1", "Takes an ack with a slice too many.", "1000 1111", "LIM-2"},
		{"num-minus-1", "Takes an ack with a slice too few.", "1000 11", "LIM-2"},
		{"num-1", "Takes an ack of one slice.", "1000 1", "LIM-2"},
		{"num-256", "Takes an ack of 256 slices.", "1000 1*256", "LIM-2"},
		{"num-11", "Compares num_slices minus 1 modulo 8: 3 and 11 look alike.", "1000 1*11", "LIM-2"},
		{"hold-of-id", "Takes a hold of another chunk for a sign.", "1001 000", "SND-8"},
		{"hold-of-num", "Takes a hold with another num_slices for a sign.", "1000 0000", "SND-8"},
	} {
		list = append(list, trace{
			"foreign-" + c.name, c.comment + " A foreign ack changes nothing, the time to give up included.", "foreign-ack", "S6 SND-5 " + c.sentences,
			fmt.Sprintf(`with first=1000
			0 submit 3000 : S1 @10s
			0 poll 0,1,2 : S14 0-2
			1s ack %s : S6 =000 #1000 @10s
			2s ack 1000 010 : S9 =010 @12s
			3s ack %[1]s : S6 =010 #1000 @12s
			12s-1 poll : S14
			12s poll : S15`, c.ack),
		})
	}
	return list
}

var senderAcks = []trace{
	{"news", "Does not add news, or does not count it as a sign.", "row fuse", "S9 SND-2 SND-6 SND-12",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		1s ack 0 010 : S9 =010 @11s
		2s ack 0 110 : S9 =110 @12s
		3s ack 0 111 : S10 #1 @never`},
	{"nothing-new", "Counts an ack that tells nothing new as a sign.", "give-up", "S7 SND-8 SND-9",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		1s ack 0 010 : S9 =010 @11s
		9s ack 0 010 : S7 =010 @11s
		11s poll : S15`},
	{"older-ack-after-newer", "Takes the ack that came last for the truth.", "fuse", "SAFE-3 S7 SND-12",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		1s ack 0 110 : S9 =110
		2s ack 0 100 : S7 =110
		3s ack 0 010 : S7 =110
		4s ack 0 001 : S10`},
	{"older-ack-with-news", "Replaces acked by the bits of the ack instead of adding them.", "fuse completion", "SAFE-3 S9 S10 SND-6",
		`0 submit 4000 : S1
		0 poll 0-3 : S14 0-3
		1s ack 0 1100 : S9 =1100
		2s ack 0 0110 : S9 =1110
		3s ack 0 0001 : S10 #1`},
	{"acked-is-not-a-hold", "Takes an ack without bits for a hold when slices are acked already.", "hold", "S7 SND-8",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		1s ack 0 010 : S9 =010 @11s
		2s ack 0 000 : S7 =010 @11s
		11s-1 poll : S14
		11s poll : S15`},
	{"sends-are-no-sign", "Counts its own sending as a sign of the peer.", "give-up", "S13 S14 SND-9 SND-14",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2 @10s
		5s poll 0,1,2 : S14 0-2 @10s
		9s poll 0 : S14 0 @10s
		10s poll 0 : S15`},
	{"deadline-follows-news", "Keeps the first deadline.", "give-up", "S9 SND-11 SND-12 SND-16",
		`with give_up=1s
		0 submit 5000 : S1 @1s
		0 poll 0-4 : S14 0-4
		900ms ack 0 10000 : S9 @1_900ms
		1_800ms ack 0 11000 : S9 @2_800ms
		2_700ms ack 0 11100 : S9 @3_700ms
		3_600ms ack 0 11110 : S9 @4_600ms
		4_500ms ack 0 11111 : S10 @never`},
	{"ack-of-256-all-but-one", "Looks at 8, 32, 64 or 255 of 256 bits.", "completion", "S9 S10 SND-6",
		`0 submit 262144 : S1
		0 poll 0,63,64,127,128,255 : S14 0,63,64,127,128,255
		1 ack 0 1*256 : S9 =1.0*62.1.1.0*62.1.1.0*126.1
		2 poll 62 : S14 62
		3 ack 0 0*62.1.0*193 : S9 =1.0*61.1.1.1.0*62.1.1.0*126.1`},
	{"ack-of-256-whole", "Cannot complete 256 slices: the count does not fit in 8 bits.", "completion", "S10 SND-6",
		`0 submit 261121 : S1
		0 poll 0-255 : S14 0-255
		1 ack 0 1*255.0 : S9 =1*255.0
		2 ack 0 0*255.1 : S10 #1 @never`},
}

var senderHolds = []trace{
	{"hold", "Does not take a hold for a sign: a slow reader makes it fail.", "hold", "S8 SND-8 SND-11",
		`0 submit 3000 : S1 @10s
		0 poll 0,1,2 : S14 0-2
		9s ack 0 000 : S8 =000 @19s
		19s-1 poll 0 : S14 0
		19s poll 0 : S15`},
	{"hold-at-the-last-moment", "Gives up before it takes the ack of the same time.", "hold give-up", "S8 SND-4 SND-9",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		10s ack 0 000 : S8 @20s
		10s poll 1 : S14 1`},
	{"hold-often", "Limits how often, or how long, it can be held.", "hold", "S8 SND-11 CON-3",
		`0 submit 3000 : S1
		0 poll 0 : S14 0
		9s/9s/9 ack 0 000 : S8 @91s
		90s poll 0 : S14 0
		91s-1 ack 0 111 : S9 =100`},
	{"hold-before-sending", "Takes a hold only once it has sent something.", "hold", "S8 SND-8",
		`0 submit 3000 : S1 @10s
		4s ack 0 000 : S8 @14s`},
	{"hold-is-not-news", "Counts a hold as an ack of slices, or as none at all for ever.", "hold", "S8 S9 SND-6 SND-8",
		`0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1s ack 0 00 : S8 =00
		2s ack 0 10 : S9 =10 @12s
		3s ack 0 00 : S7 =10 @12s
		4s ack 0 11 : S10`},
	{"hold-of-next-chunk-again", "Remembers that slices of the chunk before were acked, so that a hold does not count.", "hold reset", "S8 SND-8 SND-10",
		`0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1s ack 0 11 : S10
		2s submit 2048 : S1 @12s
		2s poll 0,1 : S14 0-1
		3s ack 1 00 : S8 @13s`},
	{"hold-of-previous-chunk", "Takes a late hold of the chunk before.", "hold foreign-ack", "S6 SND-5",
		`0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1s ack 0 11 : S10
		2s submit 2048 : S1 @12s
		3s ack 0 00 : S6 @12s`},
	{"hold-of-one-slice", "Takes a hold of a single slice for its ack.", "hold completion", "S8 SND-6",
		`0 submit 10 : S1
		0 poll 0 : S14 0/1:10
		1 ack 0 0 : S8 =0
		2 ack 0 1 : S10`},
	{"hold-while-idle", "Lets a hold change an idle sender.", "hold", "S5",
		`0 ack 0 0 : S5 @never
		1s submit 10 : S1 @11s`},
}

var senderUnsent = []trace{
	{"unsent-all", "Completes a chunk of which nothing was sent.", "unsent-bit completion", "SAFE-4 S7 SND-7",
		`0 submit 3000 : S1
		1s ack 0 111 : S7 =000 @10s #0
		10s poll 0 : S15`},
	{"unsent-some", "Believes the bit of a slice that was not sent, beside bits of some that were.", "unsent-bit", "SAFE-4 S9 SND-6 SND-7",
		`0 submit 3000 : S1
		0 poll 0,1 : S14 0-1
		1s ack 0 011 : S9 =010
		2s ack 0 111 : S9 =110
		3s poll 2 : S14 2
		4s ack 0 110 : S7 =110
		5s ack 0 111 : S10`},
	{"unsent-only", "Counts an ack of unsent slices as a sign, or as a hold.", "unsent-bit hold", "S7 SND-7 SND-8",
		`0 submit 3000 : S1
		0 poll 0 : S14 0 @10s
		1s ack 0 010 : S7 =000 @10s
		2s ack 0 011 : S7 =000 @10s
		3s ack 0 000 : S8 =000 @13s`},
	{"unsent-is-not-remembered", "Remembers a bit that came too early, and believes it once the slice is sent.", "unsent-bit", "S7 SND-7",
		`0 submit 2048 : S1
		0 poll 0 : S14 0
		1s ack 0 01 : S7 =00
		2s poll 1 : S14 1
		3s ack 0 10 : S9 =10
		4s ack 0 10 : S7 =10
		5s ack 0 11 : S10`},
	{"unsent-in-the-next-chunk", "Keeps what was sent of the chunk before.", "unsent-bit reset", "S7 SND-7 SND-10",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		1s ack 0 111 : S10
		2s submit 3000 : S1 =000
		3s ack 1 111 : S7 =000
		4s poll 1 : S14 1
		5s ack 1 111 : S9 =010`},
	{"unsent-does-not-complete", "Adds unsent bits when it looks whether all are acked.", "unsent-bit completion", "S9 SND-6 SND-7",
		`0 submit 4096 : S1
		0 poll 0,1,3 : S14 0-1 3
		1s ack 0 1111 : S9 =1101
		2s poll 2 : S14 2
		3s ack 0 1111 : S10`},
}
