package main

var senderCompletion = []trace{
	{"complete-by-one-ack", "Wants more than one ack, or keeps its id.", "completion", "S10 SND-6 SND-13 CID-2",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		50ms ack 0 111 : S10 #1 @never
		50ms poll : S12 @never`},
	{"complete-slice-by-slice", "Counts acks instead of slices.", "completion", "S9 S10 SND-6",
		`0 submit 4096 : S1
		0 poll 0-3 : S14 0-3
		1 ack 0 0001 : S9 =0001
		2 ack 0 0001 : S7 =0001
		3 ack 0 0011 : S9 =0011
		4 ack 0 0011 : S7 =0011
		5 ack 0 0111 : S9 =0111
		6 ack 0 1111 : S10 #1`},
	{"complete-by-disjoint-acks", "Completes only by an ack that has every bit itself.", "completion", "S10 SND-6",
		`0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1 ack 0 10 : S9 =10
		2 ack 0 01 : S10 #1`},
	{"last-slice-acked-is-not-complete", "Completes when the last slice is acked.", "completion", "S9 SND-6",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		1 ack 0 001 : S9 =001 #0
		2 ack 0 101 : S9 =101 #0
		3 poll 1 : S14 1`},
	{"complete-before-give-up", "Gives up before it takes the last ack of the same time.", "completion give-up", "S10 SND-4 SND-9",
		`with give_up=1s
		0 submit 1 : S1
		0 poll 0 : S14 0
		1s ack 0 1 : S10 #1
		1s poll : S12`},
	{"last-ack-twice", "Counts the last ack's duplicate for the next chunk.", "completion", "S5 S6 SND-5",
		`0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1 ack 0 11 : S10 #1
		2 ack 0 11 : S5 #1
		3 submit 2048 : S1 =00
		3 poll 0,1 : S14 0-1
		4 ack 0 11 : S6 =00 #1
		5 ack 1 11 : S10 #2
		6 ack 1 11 : S5 #2
		7 ack 0 11 : S5 #2`},
	{"next-chunk-smaller", "Keeps slices of a larger chunk before.", "reset", "S1 SND-10",
		`0 submit 5000 : S1 =00000
		0 poll 0-4 : S14 0-3 4/5:904
		1 ack 0 11111 : S10
		2 submit 1500 : S1 =00 #1
		2 poll 0,1 : S14 0/2:1024 1/2:476
		3 ack 1 11111 : S6 =00
		4 ack 1 11 : S10 #2`},
	{"next-chunk-larger", "Keeps num_slices, or the acked bits, of a smaller chunk before.", "reset", "S1 SND-10",
		`0 submit 1500 : S1 =00
		0 poll 0,1 : S14 0/2:1024 1/2:476
		1 ack 0 11 : S10
		2 submit 5000 : S1 =00000 #1
		2 poll 0-4 : S14 0-3 4/5:904
		3 ack 1 11 : S6 =00000
		4 ack 1 00111 : S9 =00111
		5 ack 1 11000 : S10 #2`},
	{"next-chunk-same-size", "Keeps the acked bits of the chunk before.", "reset", "S1 SND-10",
		`0 submit 3000 : S1
		0 poll 0,1,2 : S14 0-2
		1 ack 0 110 : S9
		2 ack 0 111 : S10
		3 submit 3000 : S1 =000
		3 poll 0,1,2 : S14 0-2
		4 ack 1 001 : S9 =001`},
	{"next-chunk-content", "Sends bytes of the chunk before.", "reset resend", "S1 SND-10 SLC-4",
		`0 submit 1024 : S1
		0 poll 0 : S14 0/1:1024
		1 ack 0 1 : S10
		1 submit 1024 : S1
		1 poll 0 : S14 0/1:1024
		2 poll 0 : S14 0/1:1024`},
}

var senderIDs = []trace{
	{"ids-count", "Gives a chunk another id than the one before plus 1.", "wrap", "CID-1 CID-2 SND-13",
		`0 submit 1 : S1 #0
		0 poll 0 : S14 0
		1 ack 0 1 : S10 #1
		2 submit 1 : S1 #1
		2 poll 0 : S14 0
		3 ack 1 1 : S10 #2
		4 submit 1 : S1 #2
		4 poll 0 : S14 0
		5 ack 2 1 : S10 #3`},
	{"first-id", "Begins with 0 whatever was agreed.", "wrap", "CID-1",
		`with first=4711
		0 submit 1 : S1 #4711
		0 poll 0 : S14 0
		1 ack 0 1 : S6
		2 ack 4711 1 : S10 #4712`},
	{"wrap", "Goes on with 65536 after 65535, or stays there.", "wrap", "CID-2 SND-13",
		`with first=65535
		0 submit 1 : S1 #65535
		0 poll 0 : S14 0
		1 ack 65535 1 : S10 #0
		2 submit 1 : S1 #0
		2 poll 0 : S14 0
		3 ack 0 1 : S10 #1`},
	{"wrap-ack-of-previous", "Takes an ack of 65535 for one of 0, or finds it newer.", "wrap foreign-ack", "S6 CID-3 SND-5",
		`with first=65535
		0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1 ack 65535 11 : S10 #0
		2 submit 2048 : S1 =00
		2 poll 0,1 : S14 0-1
		3 ack 65535 11 : S6 =00
		4 ack 1 11 : S6 =00
		5 ack 0 11 : S10 #1`},
	{"wrap-signed", "Keeps ids in 16 bits with a sign.", "wrap", "CID-2 CID-3",
		`with first=32767
		0 submit 1 : S1 #32767
		0 poll 0 : S14 0
		1 ack 32767 1 : S10 #32768
		2 submit 1 : S1 #32768
		2 poll 0 : S14 0
		3 ack 32767 1 : S6
		4 ack 32768 1 : S10 #32769`},
	{"wrap-8-bits", "Keeps ids in 8 bits.", "wrap", "CID-2 CID-3",
		`with first=255
		0 submit 1 : S1 #255
		0 poll 0 : S14 0
		1 ack 255 1 : S10 #256
		2 submit 1 : S1 #256
		2 poll 0 : S14 0
		3 ack 0 1 : S6
		4 ack 256 1 : S10 #257`},
	{"wrap-next-is-not-previous", "Believes at id 0 that 65535 is acked already.", "wrap", "S6 CID-3",
		`0 submit 1 : S1 #0
		0 poll 0 : S14 0
		1 ack 65535 1 : S6 #0 @10s
		2 ack 0 1 : S10 #1`},
}

var senderGiveUp = []trace{
	{"give-up-exactly", "Gives up a microsecond late.", "give-up", "S15 SND-9 SND-15 SND-16",
		`0 submit 3000 : S1 @10s
		0 poll 0,1,2 : S14 0-2
		10s poll 0 : S15 @never #0`},
	{"give-up-not-before", "Gives up a microsecond early.", "give-up", "S14 SND-9",
		`0 submit 3000 : S1 @10s
		0 poll 0,1,2 : S14 0-2
		10s-1 poll 0 : S14 0 @10s`},
	{"give-up-before-sending", "Asks the scheduler first, and sends once more.", "give-up", "S15 SND-9",
		`with give_up=1s
		0 submit 3000 : S1
		1s poll 0,1,2 : S15`},
	{"give-up-late-poll", "Looks for exactly the deadline.", "give-up", "S15 SND-9",
		`with give_up=1s
		0 submit 3000 : S1
		1h poll 0 : S15 @never`},
	{"give-up-not-idle", "Gives up without a chunk in flight.", "give-up", "S12 SND-9",
		`with give_up=1s
		0 submit 1 : S1
		0 poll 0 : S14 0
		1 ack 0 1 : S10
		5s poll : S12 @never
		6s submit 1 : S1 @7s
		7s-1 poll : S14
		7s poll : S15`},
	{"give-up-at-a-poll-only", "Gives up at an ack that comes late, instead of taking it.", "give-up", "S9 SND-3 SND-9",
		`with give_up=1s
		0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		3s ack 0 10 : S9 =10 @4s
		3s poll 1 : S14 1
		4s poll 1 : S15`},
	{"give-up-after-late-hold", "Gives up at a hold that comes late, instead of taking it.", "give-up hold", "S8 SND-9",
		`with give_up=1s
		0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		3s ack 0 00 : S8 @4s
		3s poll : S14`},
	{"give-up-from-news", "Counts from the submission, or from the latest sending.", "give-up", "S15 SND-9 SND-12",
		`with give_up=2s
		0 submit 3000 : S1 @2s
		0 poll 0,1,2 : S14 0-2
		1s ack 0 100 : S9 @3s
		2s poll 1 : S14 1 @3s
		3s-1 poll 2 : S14 2 @3s
		3s poll 1 : S15`},
	{"give-up-in-1-us", "Cannot give up after the shortest time.", "give-up", "S15 SND-9",
		`with give_up=1
		5 submit 1 : S1 @6
		5 poll 0 : S14 0
		6 poll 0 : S15`},
	{"give-up-longest", "Overflows with the longest time.", "give-up", "S14 SND-9 SND-16",
		`with give_up=2_305_843_009_213_693_952
		0 submit 1 : S1 @2_305_843_009_213_693_952
		1_000_000s poll 0 : S14 0
		2_305_843_009_213_693_951 poll : S14
		2_305_843_009_213_693_952 poll : S15`},
	{"give-up-32-bits", "Keeps times in 32 bits.", "give-up clock", "S14 S15 SND-9",
		`5_000_000_000 submit 1 : S1 @5_010_000_000
		5_000_000_000 poll 0 : S14 0
		5_009_999_999 poll : S14
		5_010_000_000 poll : S15`},
	{"give-up-second-chunk", "Keeps the time of the latest sign from the chunk before.", "give-up reset", "S1 SND-10",
		`with give_up=1s
		0 submit 1 : S1
		0 poll 0 : S14 0
		1 ack 0 1 : S10
		10s submit 1 : S1 @11s
		10s poll 0 : S14 0
		11s-1 poll : S14
		11s poll : S15`},
}

var senderFailed = []trace{
	{"failed-submit", "Goes on with another chunk after it gave up.", "give-up refusal", "S4 SND-15",
		`with give_up=1s
		0 submit 1 : S1
		1s poll : S15
		1s submit 1 : S4 @never
		2s submit 0 : S4
		2s submit 262145 : S4
		3s poll : S16 @never`},
	{"failed-ack", "Comes back to life by a late ack.", "give-up", "S11",
		`with give_up=1s
		0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1s poll : S15
		1s ack 0 10 : S11 @never
		2s ack 0 11 : S11 #0
		3s ack 0 00 : S11
		4s poll : S16`},
	{"failed-poll", "Sends after it gave up, or gives up again.", "give-up", "S16 SND-16",
		`with give_up=1s
		0 submit 2048 : S1
		0 poll 0 : S14 0
		1s poll 1 : S15 #0
		1s poll : S16 @never
		9s poll : S16 @never`},
	{"failed-is-not-complete", "Reports a chunk as delivered, or counts the id up, when it gives up.", "give-up completion", "S15 SND-13",
		`with give_up=1s first=7
		0 submit 2048 : S1
		0 poll 0,1 : S14 0-1
		1 ack 7 10 : S9 =10
		1s+1 poll : S15 #7
		1s+1 ack 8 11 : S11 #7`},
}

var senderClock = []trace{
	{"time-backward-submit", "Starts at a time before the latest one.", "clock", "TIM-1 S1",
		`5s poll : S12
		1s submit 1 : S1 @15s`},
	{"time-backward-news", "Puts the latest sign back by an ack with an earlier time.", "clock", "TIM-1 S9",
		`5s submit 2048 : S1 @15s
		5s poll 0,1 : S14 0-1
		2s ack 0 10 : S9 @15s
		15s-1 poll : S14
		15s poll : S15`},
	{"time-backward-hold", "Puts the latest sign back by a hold with an earlier time.", "clock", "TIM-1 S8",
		`with give_up=1s
		5s submit 2048 : S1 @6s
		0 ack 0 00 : S8 @6s
		6s poll : S15`},
	{"time-backward-poll", "Does not remember a time at which nothing happened.", "clock", "TIM-1",
		`0 submit 2048 : S1 @10s
		4s poll : S14
		1s ack 0 00 : S8 @14s`},
	{"time-backward-after-give-up-time", "Takes an earlier time at a poll after the deadline was seen.", "clock give-up", "TIM-1 S15",
		`with give_up=1s
		0 submit 1 : S1
		2s submit 1 : S3
		0 poll 0 : S15`},
	{"refused-submit-has-a-time", "Does not take the time of a refused submit.", "clock refusal", "TIM-1 S2",
		`7s submit 0 : S2
		1s submit 1 : S1 @17s`},
	{"busy-submit-has-a-time", "Does not take the time of a submit while busy.", "clock refusal", "TIM-1 S3",
		`0 submit 2048 : S1
		7s submit 1 : S3
		1s ack 0 00 : S8 @17s`},
	{"idle-ack-has-a-time", "Does not take the time of an ack while idle.", "clock", "TIM-1 S5",
		`7s ack 0 1 : S5
		1s submit 1 : S1 @17s`},
	{"foreign-ack-has-a-time", "Does not take the time of a foreign ack, because it changes nothing.", "clock foreign-ack", "TIM-1 S6",
		`0 submit 2048 : S1 @10s
		7s ack 5 11 : S6 @10s
		1s ack 0 00 : S8 @17s`},
	{"old-ack-has-a-time", "Does not take the time of an ack that tells nothing new.", "clock", "TIM-1 S7",
		`0 submit 2048 : S1 @10s
		7s ack 0 11 : S7 @10s
		1s ack 0 00 : S8 @17s`},
	{"times-are-equal", "Wants time to go by between events.", "clock", "TIM-1",
		`3s submit 2048 : S1
		3s poll 0,1 : S14 0-1
		3s ack 0 10 : S9 @13s
		3s ack 0 11 : S10
		3s submit 1 : S1 @13s`},
}

var senderSending = []trace{
	{"order-of-the-scheduler", "Sorts what the scheduler returns.", "row", "S13 SND-9 SND-14",
		`0 submit 4096 : S1
		0 poll 2,0,3,1 : S14 2 0 3 1`},
	{"nothing-due", "Sends what the scheduler did not return.", "row", "S14 SND-9",
		`0 submit 4096 : S1
		0 poll : S14
		1s poll 3 : S14 3
		2s poll : S14`},
	{"many-at-once", "Sends one slice a poll, or one a tick.", "sender-driver", "S13 SND-3",
		`0 submit 20480 : S1
		0 poll 0-19 : S14 0-19`},
	{"at-time-0", "Waits for its first timer before it sends.", "sender-driver", "S13 SND-3",
		`0 submit 2 : S1
		0 poll 0 : S14 0/1:2`},
	{"resend-same-bytes", "Sends other bytes, or another length, the second time.", "resend", "S13 SLC-4 SND-14 SND-18",
		`0 submit 2500 : S1
		0 poll 0,1,2 : S14 0/3:1024 1/3:1024 2/3:452
		1s poll 2,1,0 : S14 2/3:452 1/3:1024 0/3:1024
		2s poll 2,2 : S14 2/3:452 2/3:452`},
	{"resend-after-acks", "Renumbers slices when some are acked.", "resend cutting", "S13 SLC-4",
		`0 submit 3500 : S1
		0 poll 0-3 : S14 0-3
		1 ack 0 1010 : S9
		2 poll 1,3 : S14 1/4:1024 3/4:428`},
	{"sent-again-stays-sent", "Toggles what was sent.", "resend", "S13 SND-14",
		`0 submit 2048 : S1
		0 poll 0,1,0,1 : S14 0 1 0 1
		1 ack 0 11 : S10`},
	{"content-of-chunk-300", "Takes the chunk's id modulo 256 for something else than the content.", "resend", "TRC-1 SND-14",
		`with first=300
		0 submit 1030 : S1
		0 poll 0,1 : S14 0/2:1024 1/2:6`},
}
