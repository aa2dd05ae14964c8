package main

var paceSpacing = []trace{
	{"burst-85-us", "Sends two slices less than 85 us apart, or names a deadline that is not the next slice's.", "spacing", "SPC-1 SPC-2 SCH-5 SCH-6 SCH-9 TMR-1",
		`with profile=burst
		0 submit 5120 : S1 @0
		0 poll : S14 0 @85
		84 poll : S14 @85
		85 poll : S14 1 @170
		170 poll : S14 2 @255
		255 poll : S14 3 @340
		339 poll : S14 @340
		340 poll : S14 4 @250_340`},
	{"a-little-late", "Begins the spacing at the poll instead of at the time that the slice was due: a late driver loses rate.", "spacing", "SPC-2",
		`with profile=burst
		0 submit 5120 : S1
		0 poll : S14 0 @85
		100 poll : S14 1 @170
		200 poll : S14 2 @255
		300 poll : S14 3 @340`},
	{"catch-up", "Makes up for nothing, or for more than 20 ms.", "spacing", "SPC-2",
		`with profile=spaced
		0 submit 61440 : S1
		0 poll : S14 0 @1ms
		10ms poll : S14 1-10 @11ms
		50ms poll : S14 11-31 @51ms`},
	{"catch-up-exactly-20-ms", "Makes up for less than 20 ms.", "spacing", "SPC-2",
		`with profile=spaced
		0 submit 61440 : S1
		0 poll : S14 0 @1ms
		21ms poll : S14 1-21 @22ms`},
	{"catch-up-20-ms-and-1-us", "Makes up for more than 20 ms, be it a microsecond.", "spacing", "SPC-2",
		`with profile=spaced
		0 submit 61440 : S1
		0 poll : S14 0 @1ms
		21ms+1 poll : S14 1-21 @22ms+1`},
	{"no-spacing", "Sends one slice a poll.", "spacing", "SPC-2 BUD-1",
		`with profile=free
		0 submit 40960 : S1 @0
		0 poll : S14 0-39 @250ms`},
	{"spacing-across-chunks", "Forgets the spacing at the start of a chunk.", "spacing reset", "SPC-1 SCH-5",
		`with profile=spaced
		0 submit 1 : S1
		0 poll : S14 0
		10 ack 0 1 : S10
		20 submit 1 : S1 @1ms
		1ms-1 poll : S14 @1ms
		1ms poll : S14 0`},
	{"idle-time-earns-nothing", "Makes up for the time between two chunks.", "spacing", "SCH-5",
		`with profile=spaced
		0 submit 1 : S1
		0 poll : S14 0
		10 ack 0 1 : S10
		1s submit 40960 : S1 @1s
		1s poll : S14 0 @1_001ms`},
	{"time-before-the-first-chunk", "Makes up for the time before the first chunk.", "spacing", "SCH-5",
		`with profile=spaced
		1s submit 40960 : S1 @1s
		1s poll : S14 0 @1_001ms`},
	{"waiting-earns-nothing", "Makes up for the time in which nothing was due, before probes.", "spacing probes", "SPC-3 TMR-4",
		`with profile=spaced
		0 submit 3000 : S1
		0/1ms/3 poll : S14 0-2 @252ms
		252ms poll : S14 1 @253ms
		253ms poll : S14 2 @503ms`},
	{"waiting-earns-nothing-before-losses", "Makes up for the time in which nothing was due, before slices that are found lost.", "spacing gap-rule", "SPC-3 GAP-2",
		`with profile=spaced
		0 submit 6144 : S1
		0/1ms/6 poll : S14 0-5
		50ms ack 0 000001 : S9 @50ms
		50ms poll : S14 0 @51ms
		51ms poll : S14 1 @52ms`},
	{"losses-behind-due-slices", "Begins the spacing anew at each slice that is found lost, though others are due.", "spacing", "SPC-3",
		`with profile=spaced
		0 submit 8192 : S1
		0/1ms/4 poll : S14 0-3 @4ms
		10ms ack 0 00100000 : S9 @10ms
		10ms poll : S14 4-7 0 @23ms`},
	{"spacing-later-than-budget", "Names the budget's time though the spacing's is later.", "spacing", "SCH-9",
		`with profile=125000,1066,0,no,10000,0
		0 submit 5120 : S1
		0 poll : S14 0 @10ms
		8_512 poll : S14 @10ms
		10ms poll : S14 1`},
	{"budget-later-than-spacing", "Names the spacing's time though the budget's is later.", "budget", "SCH-9",
		`with profile=125000,1066,0,no,1000,0
		0 submit 5120 : S1
		0 poll : S14 0 @8_512
		1ms poll : S14 @8_512
		8_512 poll : S14 1`},
}

var paceBudget = []trace{
	{"first-flight", "Does not bound the first flight by the budget, or comes a microsecond off.", "budget", "BUD-2 BUD-3 BUD-4 SCH-6 SCH-9",
		`with profile=fixed
		0 submit 20480 : S1 @0
		0 poll : S14 0-15 @8_392
		8_391 poll : S14 @8_392
		8_392 poll : S14 16 @16_912
		16_911 poll : S14 @16_912
		16_912 poll : S14 17 @25_432
		25_432 poll : S14 18 @33_960
		33_960 poll : S14 19 @283_960`},
	{"time-is-rounded-up", "Rounds the time at which the budget covers a slice down, so that a driver polls in vain.", "budget rounding", "BUD-4 SCH-3",
		`with profile=7000,1066,0,no,0,0
		0 submit 2048 : S1
		0 poll : S14 0 @152_143
		152_142 poll : S14 @152_143
		152_143 poll : S14 1`},
	{"what-is-left-stays", "Counts whole bytes, or drops what is left over.", "budget rounding", "BUD-3 BUD-4",
		`with profile=7000,2132,0,no,0,0
		0 submit 4096 : S1
		0 poll : S14 0-1 @151_858
		151_857 poll : S14 @151_858
		151_858 poll : S14 2 @304_143
		304_142 poll : S14 @304_143
		304_143 poll : S14 3`},
	{"many-polls", "Loses a fraction of a byte at each poll.", "budget rounding", "BUD-3",
		`with profile=7000,2132,0,no,0,0
		0 submit 4096 : S1
		0 poll : S14 0-1
		1/7ms/21 poll : S14 @151_858
		151_857 poll : S14 @151_858
		151_858 poll : S14 2 @304_143`},
	{"cap", "Lets the budget grow beyond the cap.", "budget", "BUD-3",
		`with profile=fixed give_up=1000s
		0 submit 40960 : S1
		0 poll : S14 0-15
		100s poll : S14 16-31 @100_008_392`},
	{"cap-between-chunks", "Lets the budget grow beyond the cap while idle.", "budget", "BUD-3 SCH-5",
		`with profile=fixed
		0 submit 1 : S1
		0 poll : S14 0
		1 ack 0 1 : S10
		100s submit 40960 : S1
		100s poll : S14 0-15 @100_008_392`},
	{"kept-across-chunks", "Fills the budget at the start of each chunk.", "budget burst reset", "BUD-5 SCH-5",
		`with profile=fixed
		0 submit 16384 : S1
		0 poll : S14 0-15
		0 ack 0 1*16 : S10
		0 submit 2048 : S1 @8_400
		8_399 poll : S14 @8_400
		8_400 poll : S14 0`},
	{"cost-of-a-short-slice", "Counts 1,024 bytes for a short last slice.", "budget", "BUD-2",
		`with profile=125000,1066,0,no,0,0
		0 submit 1025 : S1
		0 poll : S14 0 @336
		335 poll : S14 @336
		336 poll : S14 1`},
	{"cost-of-a-long-last-slice", "Counts the last slice without the byte that its size takes.", "budget", "BUD-2",
		`with profile=125000,1066,0,no,0,0
		0 submit 2048 : S1
		0 poll : S14 0 @8_520
		8_519 poll : S14 @8_520
		8_520 poll : S14 1`},
	{"covered-exactly", "Wants more than the cost.", "budget", "BUD-2",
		`with profile=125000,1066,0,no,0,0
		0 submit 1024 : S1 @0
		0 poll : S14 0/1:1024`},
	{"unlimited", "Takes a rate of 0 for none, or lets the cap limit it.", "budget", "BUD-1 BUD-2",
		`with profile=0,1066,0,no,0,0
		0 submit 20480 : S1 @0
		0 poll : S14 0-19 @250ms`},
	{"lowest-rate", "Refuses or rounds the lowest rate.", "budget", "BUD-1 BUD-4 SCH-2 SCH-4",
		`with profile=1066,1066,0,no,0,0
		0 submit 2048 : S1
		0 poll : S14 0 @999_062
		999_061 poll : S14 @999_062
		999_062 poll : S14 1`},
	{"highest-rate", "Overflows with the highest rate.", "budget", "BUD-1 BUD-4",
		`with profile=1000000000,1066,0,no,0,0
		0 submit 3072 : S1
		0 poll : S14 0 @2
		1 poll : S14 @2
		2 poll : S14 1 @4`},
	{"a-long-time", "Overflows when it multiplies the rate by a long time.", "budget", "BUD-3",
		`with profile=1000000000,1066,0,pay,0,0 give_up=2_305_843_009_213_693_952
		0 submit 3072 : S1
		0 poll : S14 0 @2
		1_152_921_504_606_846_976 poll : S14 1 @1_152_921_504_606_846_978`},
	{"the-regular-rate", "Sends faster than the regular rate over a second.", "budget", "BUD-3 SCH-4",
		`with profile=10650,1066,0,no,0,0
		0 submit 20480 : S1
		0 poll : S14 0 @99_907
		100ms/100ms/10 poll : S14 1-10`},
	{"one-slice-of-the-cap", "Cannot send at all with the smallest cap.", "budget", "BUD-1 BUD-2",
		`with profile=106600,1066,0,no,0,0
		0 submit 2048 : S1
		0 poll : S14 0 @9_991
		1s poll : S14 1/2:1024`},
}

var paceBurst = []trace{
	{"burst-at-the-start", "Grants no burst to a later chunk, or adds it to what is left.", "burst", "BUD-5 SCH-5",
		`with profile=125000,10660,5330,no,0,0
		0 submit 10240 : S1
		0 poll : S14 0-9
		0 ack 0 1*10 : S10
		0 submit 10240 : S1 @0
		0 poll : S14 0-4 @8_480`},
	{"burst-takes-nothing-away", "Sets what is left to the burst, when it is more.", "burst", "BUD-5",
		`with profile=125000,10660,5330,no,0,0
		0 submit 1 : S1
		0 poll : S14 0
		0 ack 0 1 : S10
		0 submit 10240 : S1
		0 poll : S14 0-8 @272`},
	{"time-pays-before-the-burst", "Grants the burst first, and lets the idle time pay on top.", "burst budget", "SCH-5 BUD-3 BUD-5",
		`with profile=125000,10660,5330,no,0,0
		0 submit 10240 : S1
		0 poll : S14 0-9
		0 ack 0 1*10 : S10
		8ms submit 10240 : S1
		8ms poll : S14 0-4 @16_480`},
	{"no-burst", "Grants a burst that the profile does not have.", "burst", "BUD-5",
		`with profile=125000,10660,0,no,0,0
		0 submit 10240 : S1
		0 poll : S14 0-9
		0 ack 0 1*10 : S10
		0 submit 10240 : S1 @8_448
		0 poll : S14 @8_448`},
	{"first-chunk-has-the-cap", "Begins the first chunk with the burst instead of the cap.", "burst", "BUD-5",
		`with profile=125000,10660,2132,no,0,0
		0 submit 20480 : S1
		0 poll : S14 0-9`},
	{"whole-flight", "Stops in the middle of the largest chunk's first flight.", "burst", "BUD-5 SPC-2",
		`with profile=burst
		0 submit 262144 : S1
		0 poll : S14 0 @85
		20ms poll : S14 1-235 @20_060
		40ms poll : S14 236-255 @290ms`},
}

var paceAcksPay = []trace{
	{"acks-pay", "Does not let acks pay.", "acks-pay", "BUD-6 SCH-8",
		`with profile=125000,10660,0,pay,0,0
		0 submit 20480 : S1
		0 poll : S14 0-9 @8_440
		4ms ack 0 1*4.0*16 : S9 @4ms
		4ms poll : S14 10-13 @12_440`},
	{"acks-do-not-pay", "Lets acks pay though the profile does not.", "acks-pay", "BUD-6",
		`with profile=125000,10660,0,no,0,0
		0 submit 20480 : S1
		0 poll : S14 0-9 @8_440
		4ms ack 0 1*4.0*16 : S9 @8_440
		4ms poll : S14 @8_440
		8_440 poll : S14 10`},
	{"less-what-time-paid", "Adds what an ack pays to what time has paid.", "acks-pay", "BUD-6",
		`with profile=125000,10660,0,pay,0,0
		0 submit 20480 : S1
		0 poll : S14 0-9
		4ms ack 0 1.0*19 : S9 @4ms
		4ms poll : S14 10 @12_440`},
	{"time-paid-more", "Pays for an ack although time has paid more, or takes the difference away.", "acks-pay", "BUD-6",
		`with profile=125000,10660,0,pay,0,0
		0 submit 20480 : S1
		0 poll : S14 0-9
		80ms ack 0 1*4.0*16 : S9
		80ms poll : S14 10-18 @85_128`},
	{"what-time-paid-counts-once", "Subtracts what time has paid from several acks.", "acks-pay", "BUD-6",
		`with profile=125000,10660,0,pay,0,0
		0 submit 20480 : S1
		0 poll : S14 0-9
		80ms ack 0 1*4.0*16 : S9
		80ms ack 0 1*8.0*12 : S9
		80ms poll : S14 10-19`},
	{"only-news-pays", "Pays for slices that were acked before.", "acks-pay", "BUD-6",
		`with profile=125000,10660,0,pay,0,0
		0 submit 20480 : S1
		0 poll : S14 0-9
		4ms ack 0 1*4.0*16 : S9
		4ms ack 0 1*4.0*16 : S7
		4ms ack 0 1*3.0*17 : S7
		4ms poll : S14 10-13 @12_440`},
	{"pay-by-the-cost", "Pays for slices by their number, or without headers.", "acks-pay", "BUD-6 BUD-2",
		`with profile=125000,2132,0,pay,0,0
		0 submit 2049 : S1
		0 poll : S14 0-1 @328
		328 poll : S14 2
		328 ack 0 001 : S9
		328 ack 0 101 : S9`},
	{"by-time-starts-at-0", "Lets the idle time before a chunk count against its acks.", "acks-pay reset", "SCH-5 BUD-6",
		`with profile=125000,10660,0,pay,0,0
		0 submit 1 : S1
		0 poll : S14 0
		0 ack 0 1 : S10
		1s submit 20480 : S1
		1s poll : S14 0-9 @1_008_440
		1_004ms ack 1 1*4.0*16 : S9 @1_004ms
		1_004ms poll : S14 10-13 @1_012_440`},
	{"pay-up-to-the-cap", "Lets acks pay beyond the cap.", "acks-pay", "BUD-6",
		`with profile=125000,10660,0,pay,0,0
		0 submit 30720 : S1
		0 poll : S14 0-9
		80ms ack 0 1*4.0*26 : S9
		80ms ack 0 1*10.0*20 : S9
		80ms poll : S14 10-19 @88_440`},
	{"by-time-has-a-cap", "Lets what time has paid count beyond the cap.", "acks-pay budget", "BUD-3 BUD-6",
		`with profile=125000,10660,0,pay,0,0
		0 submit 30720 : S1
		0 poll : S14 0-9
		100ms poll : S14 10-19
		110ms ack 0 1*11.0*19 : S9
		110ms poll : S14 20-21 @117_040`},
	{"the-last-ack-pays", "Does not let the ack that completes a chunk pay for the next.", "acks-pay", "BUD-6 SND-12",
		`with profile=125000,10660,0,pay,0,0
		0 submit 10240 : S1
		0 poll : S14 0-9
		0 ack 0 1*10 : S10
		0 submit 20480 : S1 @0
		0 poll : S14 0-9 @8_440`},
	{"unlimited-pays-nothing", "Lets acks pay with an unlimited rate, and counts below 0.", "acks-pay", "BUD-2 BUD-6",
		`with profile=0,1066,0,pay,0,0
		0 submit 20480 : S1
		0 poll : S14 0-19
		40ms ack 0 1*10.0*10 : S9
		40ms poll : S14`},
}

var paceCursor = []trace{
	{"in-turn", "Sends slices in another order than by id.", "cursor", "SCH-6 SCH-7",
		`with profile=spaced
		0 submit 5120 : S1
		0/1ms/5 poll : S14 0-4`},
	{"lost-slice-after-new-ones", "Sends a lost slice before those that the cursor meets first.", "cursor", "SCH-6 SCH-7",
		`with profile=spaced
		0 submit 6144 : S1
		0/1ms/4 poll : S14 0-3 @4ms
		3ms ack 0 001000 : S9 @4ms
		4ms poll : S14 4 @5ms
		5ms poll : S14 5 @6ms
		6ms poll : S14 0 @12ms`},
	{"cursor-starts-at-0", "Goes on from where the chunk before ended.", "cursor reset", "SCH-5",
		`with profile=spaced
		0 submit 3000 : S1
		0/1ms/3 poll : S14 0-2
		3ms ack 0 111 : S10
		4ms submit 6144 : S1 @4ms
		4ms poll : S14 0
		5ms poll : S14 1`},
	{"acked-before-it-is-resent", "Resends a lost slice that was acked meanwhile.", "cursor", "SCH-1 SCH-8",
		`with profile=spaced
		0 submit 6144 : S1
		0/1ms/4 poll : S14 0-3
		3ms ack 0 001000 : S9
		4ms ack 0 101000 : S9 @4ms
		4ms poll : S14 4
		5ms poll : S14 5 @11_187
		6ms poll : S14 @11_187`},
	{"cursor-after-a-resend", "Begins at 0 again after each resend.", "cursor", "SCH-7",
		`with profile=spaced
		0 submit 8192 : S1
		0/1ms/8 poll : S14 0-7
		30ms ack 0 00001000 : S9 @30ms
		30ms poll : S14 0 @31ms
		31ms ack 0 00001001 : S9 @31ms
		31ms poll : S14 1
		32ms poll : S14 2
		33ms poll : S14 3
		34ms poll : S14 5`},
	{"timer-waits-for-due-slices", "Lets the resend timer run out though slices are due that the budget keeps back.", "cursor resend-timer", "SCH-6 TMR-1",
		`with profile=1066,17056,0,no,0,0
		0 submit 20480 : S1
		0 poll : S14 0-15 @984_053
		250ms poll : S14 @984_053
		600ms poll : S14 @984_053
		984_053 poll : S14 16`},
}

var paceProfiles = []trace{
	{"fixed-10-mbit", "Takes the cap for 16 slices whatever the rate.", "budget", "BUD-1 BUD-3",
		`with profile=1250000,25000,0,no,0,0
		0 submit 40960 : S1
		0 poll : S14 0-22 @448`},
	{"article", "Does not resend after 100 ms as the article does.", "resend-timer", "TMR-2 TMR-5",
		`with profile=article
		0 submit 3000 : S1
		0 poll : S14 0-2 @100ms
		100ms-1 poll : S14 @100ms
		100ms poll : S14 1-2 @300ms`},
	{"article-paces", "Sends all at once by the article's profile.", "budget", "BUD-2",
		`with profile=article
		0 submit 20480 : S1
		0 poll : S14 0-15 @8_392`},
	{"hold-stops-sending", "Goes on sending to a peer that cannot take it.", "hold", "SCH-10 S8",
		`with profile=burst
		0 submit 5120 : S1
		0 poll : S14 0 @85
		10 ack 0 00000 : S8 @250ms
		85 poll : S14 @250ms
		250ms-1 poll : S14 @250ms
		250ms poll : S14 4 @500ms`},
	{"one-probe-while-held", "Sends 2, 4 and 8 probes to a peer that cannot take them.", "hold probes", "SCH-10 TMR-4",
		`with profile=free
		0 submit 10240 : S1
		0 poll : S14 0-9 @250ms
		40ms ack 0 0*10 : S8 @250ms
		250ms poll : S14 9 @500ms
		500ms poll : S14 8 @750ms
		750ms poll : S14 7 @1s
		760ms ack 0 0*10 : S8 @1s
		1s poll : S14 6 @1_250ms`},
	{"released-by-news", "Does not go on with what a hold has kept back, once there is news.", "hold", "SCH-8 SCH-10 GAP-2",
		`with profile=burst
		0 submit 5120 : S1
		0 poll : S14 0
		10 ack 0 00000 : S8
		250ms poll : S14 4
		500ms poll : S14 3 @750ms
		510ms ack 0 00010 : S9 @510ms
		510ms poll : S14 0 @510_085
		510_085 poll : S14 1 @510_170
		510_170 poll : S14 2 @525_170`},
	{"released-spacing", "Makes up for the time of a hold.", "hold spacing", "SCH-8 SPC-3",
		`with profile=spaced
		0 submit 20480 : S1
		0/1ms/2 poll : S14 0-1
		2ms ack 0 0*20 : S8 @251ms
		60ms ack 0 1.0*19 : S9 @60ms
		60ms poll : S14 2 @61ms
		61ms poll : S14 3`},
	{"hold-ends-with-news", "Goes on with one probe at a time after news.", "hold probes", "SCH-8 TMR-4",
		`with profile=free
		0 submit 10240 : S1
		0 poll : S14 0-9
		40ms ack 0 0*10 : S8 @250ms
		50ms ack 0 1.0*9 : S9 @75ms
		75ms poll : S14 8-9`},
	{"hold-before-the-first-slice", "Sends the first flight to a peer that has said it cannot take it.", "hold", "SCH-10 S8",
		`with profile=free
		5s submit 3000 : S1 @5s
		5_001ms ack 0 000 : S8 @5_250ms
		5_249ms poll : S14
		5_250ms poll : S14 2 @5_500ms`},
}
