package main

// The profile "burst" sends slices 85 us apart: of 20 the last goes out at 1,615.
var simulatedConversations = []conversation{
	{
		name: "paced-clean", comment: "Sends something twice on a clean link, or is slower than it.",
		flags: "ack-late spacing", sentences: "SAFE-1 SPC-2 AKT-2 AKT-3 RCV-12 S10 R6",
		with: "profile=burst", chunks: []int{20480}, delay: 20_000,
		milestones: []string{"21_615 ready 0", "21_615 read 0", "41_615 complete 0", "20 slices"},
	},
	{
		// Slice 3 leaves at 255. Slice 4 is a gap, slice 5 follows it, so their
		// acks go out at once: the second one shows that 3 was overtaken by two.
		name: "paced-one-loss", comment: "Waits for a timer with a slice that later ones have overtaken.",
		flags: "gap-rule ack-late", sentences: "GAP-2 AKT-4 S10 R6",
		with: "profile=burst", chunks: []int{20480}, delay: 20_000, loseSlice: numbered(4, 4),
		milestones: []string{"60_425 ready 0", "80_425 complete 0", "21 slices"},
	},
	{
		// Two probes go out at 1,615 + 250,000 and 85 us later. Their acks claim
		// the first transmissions 19 and 20, so first 0-16, then 17 are found
		// lost; they leave from 291,615 on, 85 us apart.
		name: "paced-cold-start", comment: "Does not recover when the first flight is lost, or floods the path.",
		flags: "probes resend-timer", sentences: "TMR-1 TMR-4 GAP-1 GAP-2 S10 R6",
		with: "profile=burst", chunks: []int{20480}, delay: 20_000, loseSlice: numbered(1, 20),
		milestones: []string{"313_060 ready 0", "333_060 complete 0", "40 slices"},
	},
	{
		name: "paced-ten-percent", comment: "Needs far more packets or time than a loss of 10 % asks for.",
		flags: "gap-rule acks-pay round-trip", sentences: "GAP-2 BUD-6 SCH-8 AKT-4 S9 S10 R5 R6 R7",
		with: "profile=burst", chunks: []int{262_144}, delay: 20_000, loseSlice: percent(10, 1), loseAck: percent(10, 2),
		milestones: []string{"<400ms ready 0", "<500ms complete 0", "270-320 slices"},
	},
	{
		name: "paced-half-is-lost", comment: "Does not get through when every other packet is lost.",
		flags: "gap-rule probes stall", sentences: "SAFE-1 LIVE-2 GAP-2 TMR-4 RCV-13 S10 R6",
		with: "profile=burst", chunks: []int{20480}, delay: 10_000, loseSlice: percent(50, 3), loseAck: percent(50, 4),
		milestones: []string{"<4s complete 0", "30-120 slices"},
	},
	{
		name: "paced-lost-last-acks", comment: "Never ends when the last acks are lost, or resends everything for them.",
		flags: "lost-last-ack probes", sentences: "SAFE-2 LIVE-1 RCV-13 TMR-4 S10 R3",
		with: "profile=burst", chunks: []int{20480}, delay: 20_000, loseAck: between(21_000, 400_000),
		milestones: []string{"21_615 ready 0", "<1s complete 0", "22-40 slices"},
	},
	{
		// The first chunk is complete at 10,340 and acked at 20,340; the second
		// one comes while the first is unread.
		name: "paced-slow-reader", comment: "Fails, or floods the path, while the reader takes its time.",
		flags: "slow-reader hold probes", sentences: "SCH-10 TMR-4 RCV-14 S8 S10 R13 R16",
		with: "profile=burst give_up=2s", chunks: []int{5120, 5120}, delay: 10_000, readAfter: 5_000_000,
		milestones: []string{"10_340 ready 0", "20_340 complete 0", "5_010_340 read 0", "<6s complete 1", "11-60 slices"},
	},
	{
		name: "paced-wrap-around", comment: "Loses the order of chunks when ids wrap.",
		flags: "wrap", sentences: "SAFE-1 CID-2 CID-3 SCH-5 S10 R1 R6",
		with: "profile=burst first=65534", chunks: []int{2048, 10, 1025, 1}, delay: 1_000,
		milestones: []string{"1_085 read 65534", "2_085 complete 65534", "3_085 read 65535", "4_085 complete 65535", "5_170 read 0", "6_170 complete 0", "8_170 complete 1", "6 slices"},
	},
	{
		// The network is cut after 15 ms. 16 slices were sent at 0, and one at
		// 8,392: the receiver's last.
		name: "paced-gone", comment: "Waits in silence for a peer that is gone.",
		flags: "give-up", sentences: "LIVE-3 SND-9 RCV-9 SND-16 RCV-17 S15 R23",
		with: "profile=fixed give_up=2s", chunks: []int{40960}, delay: 20_000, loseSlice: between(15_000, 1<<60), loseAck: between(15_000, 1<<60),
		milestones: []string{"2s sender-failed 0", "2_028_392 receiver-failed 0"},
	},
	{
		// An outage of 6 s in mid-chunk.
		name: "paced-outage", comment: "Drops what it has acked in an outage, or fails before its time.",
		flags: "delivery give-up probes", sentences: "SAFE-4 RCV-15 TMR-4 S10 R6",
		with: "profile=fixed", chunks: []int{40960}, delay: 20_000, loseSlice: between(100_000, 6_100_000), loseAck: between(100_000, 6_100_000),
		milestones: []string{"<8s complete 0"},
	},
	{
		// A chunk of 2 slices: both are resent after 100 ms, for the first acks
		// arrive after 400.
		name: "paced-article-on-a-slow-path", comment: "Resends otherwise than the article when the round trip is four times its delay.",
		flags: "resend-timer stray", sentences: "TMR-2 TMR-5 RCV-13 S10 S5 R3 R14",
		with: "profile=article", chunks: []int{2048}, delay: 200_000,
		milestones: []string{"200ms ready 0", "400ms complete 0", "6 slices"},
	},
	{
		// 16 slices at once, then one each 8,520 us: the last of 32 leaves at
		// 8,392 + 15 * 8,520 + 8.
		name: "paced-fixed-clean", comment: "Is not paced by the regular rate.",
		flags: "budget", sentences: "BUD-2 BUD-3 BUD-4 S10 R6",
		with: "profile=fixed", chunks: []int{32768}, delay: 20_000,
		milestones: []string{"156_200 ready 0", "176_200 complete 0", "32 slices"},
	},
	{
		name: "paced-three-chunks-with-loss", comment: "Carries something over from chunk to chunk.",
		flags: "reset", sentences: "SAFE-1 SCH-5 RCV-10 AKT-1 SND-10 S10 R6",
		with: "profile=burst", chunks: []int{10_000, 30_000, 5_000}, delay: 5_000, loseSlice: percent(20, 5), loseAck: percent(20, 6),
		milestones: []string{"<2s read 2", "<3s complete 2", "45-90 slices"},
	},
}
