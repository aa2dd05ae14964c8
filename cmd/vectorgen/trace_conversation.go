package main

import (
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// conversations returns whole conversations: for each, a vector for the sender
// and one for the receiver.
func conversations() testvectors.File {
	file := newTraceFile("conversation",
		"Whole conversations of a sender and a receiver, with a network between them that loses, doubles and delays. Each is two vectors, one for each machine; what one of them sends is what the other gets.")
	for _, t := range scriptedConversations {
		t.name = "conversation/" + t.name
		for _, v := range t.scripted() {
			addTrace(&file, v)
		}
	}
	for _, c := range simulatedConversations {
		for _, v := range c.vectors() {
			addTrace(&file, v)
		}
	}
	return file
}

// scripted returns the two vectors of a conversation that is written out. Its
// lines begin with S or R, the machine that they are for; with !S or !R if what
// arrives there was not sent by the other machine.
func (t *trace) scripted() []testvectors.Vector {
	var with []string
	script := map[string][]string{}
	net := wire{}
	for text := range strings.Lines(t.script) {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "with ") || text == "" {
			with = append(with, text)
			continue
		}
		who, text, _ := strings.Cut(text, " ")
		machine := strings.TrimPrefix(who, "!")
		if line := parseLine(text); !net.carries(machine, &line) && machine == who {
			badTrace("%s: %q: nobody sent that", t.name, text)
		}
		script[machine] = append(script[machine], text)
	}
	s, r := *t, *t
	s.name, s.script = t.name+"-sender", strings.Join(append(with, script["S"]...), "\n")
	r.name, r.script = t.name+"-receiver", strings.Join(append(with, script["R"]...), "\n")
	s.sentences, r.sentences = ofMachine(t.sentences, 'R'), ofMachine(t.sentences, 'S')
	return []testvectors.Vector{senderVector(s, testvectors.Required), receiverVector(r, testvectors.Required)}
}

// ofMachine leaves out the rows of the other machine.
func ofMachine(sentences string, other byte) string {
	words := slices.DeleteFunc(strings.Fields(sentences), func(id string) bool {
		return !strings.Contains(id, "-") && id[0] == other
	})
	return strings.Join(words, " ")
}

// wire is what was sent so far in a scripted conversation: slices as
// "CHUNK SLICE", acks as "CHUNK:BITS".
type wire struct {
	chunk   string // the sender's chunk id
	packets []string
}

// carries notes what a line says is sent, and reports whether what arrives by
// it was.
func (w *wire) carries(machine string, l *scriptLine) bool {
	want := l.wanted()
	if id, ok := want.after['#']; ok && machine == "S" {
		w.chunk = id
	}
	for _, p := range want.packets {
		if machine == "S" {
			p, _, _ = strings.Cut(p, "/")
			p = w.chunk + " " + p
		}
		w.packets = append(w.packets, p)
	}
	switch l.words[0] {
	case "slice":
		id, _, _ := strings.Cut(l.words[2], "/")
		for _, k := range strings.Split(id, ",") {
			if !slices.Contains(w.packets, l.words[1]+" "+k) {
				return false
			}
		}
	case "ack":
		return slices.Contains(w.packets, l.words[1]+":"+parseBits(l.words[2]))
	}
	return true
}

var scriptedConversations = []trace{
	{"first-stall", "Does not ack a slice that it has already: its ack was lost, and the sender resends it for ever.", "stall", "LIVE-1 LIVE-2 RCV-13 R7 S9 S10 SND-12",
		`S 0 submit 2048 : S1 #0
		S 0 poll 0,1 : S14 0-1
		R 10ms slice 0 0/2 : R2
		R 110ms poll : R22 0:10
		S 250ms poll 0,1 : S14 0-1
		R 260ms slice 0 0/2 : R7 =10
		R 360ms poll : R22 0:10
		S 370ms ack 0 10 : S9 =10
		S 500ms poll 1 : S14 1
		R 510ms slice 0 1/2 : R6
		R 510ms poll : R25 0:11
		S 520ms ack 0 11 : S10 #1
		R 600ms read : R16 chunk=2048`},
	{"second-stall", "Does not ack a slice of the chunk that it completed: the last ack was lost, and the sender never learns.", "lost-last-ack stall", "SAFE-1 SAFE-2 LIVE-1 LIVE-2 RCV-13 R3 S10 RCV-12",
		`S 0 submit 2048 : S1 #0
		S 0 poll 0,1 : S14 0-1
		R 10ms slice 0 0/2 : R2
		R 10ms slice 0 1/2 : R6
		R 10ms poll : R25 0:11
		R 20ms read : R16 chunk=2048
		S 250ms poll 0,1 : S14 0-1
		R 260ms slice 0 0/2 : R3
		R 261ms slice 0 1/2 : R3
		R 361ms poll : R20 0:11
		S 371ms ack 0 11 : S10 #1
		R 400ms read : R17`},
	{"second-stall-unread", "Does not ack a slice of a chunk that waits to be read.", "lost-last-ack stall slow-reader", "SAFE-5 LIVE-1 RCV-13 R14 S10",
		`S 0 submit 2048 : S1 #0
		S 0 poll 0,1 : S14 0-1
		R 10ms slice 0 0/2 : R2
		R 10ms slice 0 1/2 : R6
		R 10ms poll : R25 0:11
		S 250ms poll 1 : S14 1
		R 260ms slice 0 1/2 : R14
		R 360ms poll : R25 0:11
		S 370ms ack 0 11 : S10 #1
		R 5s read : R16 chunk=2048`},
	{"lost-last-acks", "Acks a complete chunk a limited number of times.", "lost-last-ack stall", "LIVE-1 LIVE-2 SAFE-2 RCV-13 R3 S10",
		`S 0 submit 100 : S1 #0
		S 0 poll 0 : S14 0
		R 10ms slice 0 0/1 100 : R1
		R 10ms poll : R25 0:1
		R 20ms read : R16 chunk=100
		S 1s poll 0 : S14 0
		R 1_010ms slice 0 0/1 100 : R3
		R 1_110ms poll : R20 0:1
		S 2s poll 0 : S14 0
		R 2_010ms slice 0 0/1 100 : R3
		R 2_110ms poll : R20 0:1
		S 3s poll 0 : S14 0
		R 3_010ms slice 0 0/1 100 : R3
		R 3_110ms poll : R20 0:1
		S 4s poll 0 : S14 0
		R 4_010ms slice 0 0/1 100 : R3
		R 4_110ms poll : R20 0:1
		S 4_120ms ack 0 1 : S10 #1`},
	{"wrap-around", "Loses the order of chunks when ids wrap, or does not know 65535 before 0.", "wrap lost-last-ack", "SAFE-1 SAFE-2 CID-2 CID-3 RCV-3 R3 R11 S6 S10",
		`with first=65534
		S 0 submit 10 : S1 #65534
		S 0 poll 0 : S14 0
		R 10ms slice 65534 0/1 10 : R1 #65535
		R 10ms poll : R25 65534:1
		R 11ms read : R16 chunk=10
		S 20ms ack 65534 1 : S10 #65535
		S 20ms submit 1500 : S1 #65535
		S 20ms poll 0,1 : S14 0-1
		R 30ms slice 65535 1/2 476 : R2
		R 31ms slice 65534 0/1 10 : R11
		R 131ms poll : R22 65534:1 65535:01
		R 140ms slice 65535 0/2 : R6 #0
		R 140ms poll : R25 65535:11
		R 141ms read : R16 chunk=1500
		S 150ms ack 65534 1 : S6
		S 151ms ack 65535 01 : S9 =01
		S 160ms ack 65535 11 : S10 #0
		S 160ms submit 20 : S1 #0
		S 160ms poll 0 : S14 0
		R 170ms slice 65535 0/2 : R3
		R 171ms slice 0 0/1 20 : R1 #1
		R 171ms poll : R25 0:1
		R 172ms read : R16 chunk=20
		S 180ms ack 65535 11 : S6
		S 181ms ack 0 1 : S10 #1`},
	{"late-duplicates", "Lets late duplicates of slices and acks disturb the next chunk.", "stray foreign-ack delivery", "SAFE-1 CON-2 RCV-3 RCV-4 SND-5 R4 R12 S5 S6",
		`S 0 submit 10 : S1 #0
		S 0 poll 0 : S14 0
		R 10ms slice 0 0/1 10 : R1
		R 10ms poll : R25 0:1
		R 11ms read : R16 chunk=10
		S 20ms ack 0 1 : S10 #1
		S 21ms ack 0 1 : S5
		S 30ms submit 1500 : S1 #1
		S 30ms poll 0,1 : S14 0-1
		S 31ms ack 0 1 : S6 =00
		R 40ms slice 1 0/2 : R2
		R 41ms slice 1 1/2 476 : R6 #2
		R 41ms poll : R25 1:11
		R 42ms read : R16 chunk=1500
		R 50ms slice 0 0/1 10 : R4
		R 51ms read : R17
		S 51ms ack 1 11 : S10 #2
		S 60ms submit 2048 : S1 #2
		S 60ms poll 0,1 : S14 0-1
		R 70ms slice 2 0/2 : R2 =10
		R 71ms slice 0 0/1 10 : R12 =10
		S 72ms ack 1 11 : S6 =00
		S 73ms ack 0 1 : S6 =00
		R 170ms poll : R22 2:10
		S 180ms ack 2 10 : S9 =10`},
	{"slow-reader", "Lets a slow reader look like a dead one: no holds, or holds that are not heard.", "slow-reader hold", "SAFE-5 RCV-5 RCV-14 SND-8 SND-11 R13 S8 S9 CON-3",
		`with give_up=1s
		S 0 submit 10 : S1 #0
		S 0 poll 0 : S14 0
		R 10ms slice 0 0/1 10 : R1
		R 10ms poll : R25 0:1
		S 20ms ack 0 1 : S10 #1
		S 30ms submit 2048 : S1 #1 @1_030ms
		S 30ms poll 0,1 : S14 0-1
		R 40ms slice 1 0/2 : R13
		R 41ms slice 1 1/2 : R13
		R 141ms poll : R25 1:00
		S 151ms ack 1 00 : S8 @1_151ms
		S 900ms poll 1 : S14 1
		R 910ms slice 1 1/2 : R13
		R 1_010ms poll : R25 1:00
		S 1_020ms ack 1 00 : S8 @2_020ms
		S 1_900ms poll 1 : S14 1
		R 1_910ms slice 1 1/2 : R13
		R 2_005ms read : R16 chunk=10
		R 2_010ms poll : R20 1:00
		S 2_019ms ack 1 00 : S8 @3_019ms
		S 2_100ms poll 0,1 : S14 0-1
		R 2_110ms slice 1 0/2 : R2
		R 2_110ms slice 1 1/2 : R6
		R 2_110ms poll : R25 1:11
		S 2_120ms ack 1 11 : S10 #2
		R 2_120ms read : R16 chunk=2048`},
	{"forged-first-slice", "Lets one forged slice lock the genuine ones out.", "conflict", "RCV-7 R8 R9 S9 S10",
		`with give_up=2s
		!R 0 slice 0 7/9 fill=255 : R2 =000000010
		S 1ms submit 2048 : S1 #0
		S 1ms poll 0,1 : S14 0-1
		R 11ms slice 0 0/2 : R8
		R 12ms slice 0 1/2 : R8
		R 112ms poll : R22 0:000000010
		S 122ms ack 0 000000010 : S6 =00
		S 500ms poll 0,1 : S14 0-1
		R 510ms slice 0 0/2 : R8
		R 511ms slice 0 1/2 : R8
		S 1s poll 1 : S14 1
		R 1_010ms slice 0 1/2 : R9 =01
		R 1_110ms poll : R22 0:01
		S 1_120ms ack 0 01 : S9 =01
		S 1_500ms poll 0 : S14 0
		R 1_510ms slice 0 0/2 : R6
		R 1_510ms poll : R25 0:11
		R 1_510ms read : R16 chunk=2048
		S 1_520ms ack 0 11 : S10 #1`},
	{"forged-slice-then-one-slice", "Does not complete a genuine chunk of one slice by the slice that pins anew.", "conflict completion", "RCV-7 R10 S10",
		`with give_up=2s
		!R 0 slice 0 0/3 fill=255 : R2
		R 100ms poll : R22 0:100
		S 200ms submit 300 : S1 #0
		S 200ms poll 0 : S14 0
		R 210ms slice 0 0/1 300 : R8
		S 700ms poll 0 : S14 0
		R 710ms slice 0 0/1 300 : R8
		S 1_200ms poll 0 : S14 0
		R 1_210ms slice 0 0/1 300 : R10
		R 1_210ms poll : R25 0:1
		R 1_210ms read : R16 chunk=300
		S 1_220ms ack 0 1 : S10 #1`},
	{"forged-ack", "Believes an ack for slices that were never sent.", "unsent-bit", "SAFE-4 SND-7 S7 S9 S10",
		`S 0 submit 3000 : S1 #0
		S 0 poll 0 : S14 0
		!S 1ms ack 0 111 : S9 =100
		S 2ms poll 1,2 : S14 1-2
		R 10ms slice 0 0/3 : R2
		R 12ms slice 0 2/3 952 : R5
		R 110ms poll : R22 0:101
		S 120ms ack 0 101 : S9 =101
		S 130ms poll 1 : S14 1
		R 140ms slice 0 1/3 : R6
		R 140ms poll : R25 0:111
		R 140ms read : R16 chunk=3000
		S 150ms ack 0 111 : S10 #1`},
	{"give-up-at-both-ends", "Waits in silence for a peer that is gone.", "give-up", "LIVE-3 SND-9 SND-15 RCV-9 RCV-15 S15 R23",
		`with give_up=1s
		S 0 submit 3000 : S1 #0
		S 0 poll 0,1,2 : S14 0-2
		R 10ms slice 0 0/3 : R2
		R 110ms poll : R22 0:100
		S 120ms ack 0 100 : S9 @1_120ms
		S 500ms poll 1,2 : S14 1-2
		S 1_120ms-1 poll 1,2 : S14 1-2
		S 1_120ms poll 1,2 : S15
		R 1_010ms-1 poll : R22
		R 1_010ms poll : R23
		S 2s submit 1 : S4
		R 2s slice 0 1/3 : R26
		R 2s read : R27`},
	{"give-up-of-the-sender-alone", "Lets the receiver fail though no chunk has begun.", "give-up", "LIVE-3 SND-9 RCV-9 S15 S16 R20",
		`with give_up=1s
		S 0 submit 10 : S1 #0
		S 0 poll 0 : S14 0
		S 500ms poll 0 : S14 0
		S 1s poll 0 : S15
		S 9s poll : S16
		R 9s poll : R20
		R 9s read : R17`},
	{"restarted-sender", "Answers a restarted sender as if it were the one before, or waits for it for ever.", "stray give-up", "LIVE-3 CON-5 RCV-4 R4 S15",
		`with give_up=1s
		!R 0 slice 0 0/1 5 : R1
		R 0 poll : R25 0:1
		R 1 read : R16 chunk=5
		!R 2 slice 1 0/1 5 : R1
		R 2 poll : R25 1:1
		R 3 read : R16 chunk=5
		S 10ms submit 2048 : S1 #0
		S 10ms poll 0,1 : S14 0-1
		R 20ms slice 0 0/2 : R4
		R 21ms slice 0 1/2 : R4
		R 200ms poll : R20
		S 500ms poll 0,1 : S14 0-1
		R 510ms slice 0 1/2 : R4
		S 1_010ms poll 0 : S15
		R 1_010ms poll : R20`},
	{"restarted-receiver", "Waits for ever for a receiver that has begun anew.", "stray give-up", "CON-5 RCV-4 R4 S10 S15",
		`with give_up=1s
		S 0 submit 5 : S1 #0
		S 0 poll 0 : S14 0
		!S 10ms ack 0 1 : S10 #1
		S 20ms submit 5 : S1 #1
		S 20ms poll 0 : S14 0
		R 30ms slice 1 0/1 5 : R4
		R 200ms poll : R20
		S 500ms poll 0 : S14 0
		R 510ms slice 1 0/1 5 : R4
		S 1_020ms poll 0 : S15
		R 2s poll : R20`},
	{"cold-start", "Does not recover when the first flight is lost.", "sender-driver", "SND-3 S10 R6",
		`S 0 submit 3000 : S1 #0
		S 0 poll 0,1,2 : S14 0-2
		S 250ms poll 1,2 : S14 1-2
		R 260ms slice 0 1/3 : R2
		R 261ms slice 0 2/3 952 : R5
		R 360ms poll : R22 0:011
		S 370ms ack 0 011 : S9 =011
		S 370ms poll 0 : S14 0
		R 380ms slice 0 0/3 : R6
		R 380ms poll : R25 0:111
		R 380ms read : R16 chunk=3000
		S 390ms ack 0 111 : S10 #1`},
	{"acks-out-of-order", "Lets an old ack that comes late take slices back.", "fuse", "SAFE-3 SND-6 SND-12 S7 S9 S10",
		`S 0 submit 3000 : S1 #0
		S 0 poll 0,1,2 : S14 0-2
		R 10ms slice 0 0/3 : R2
		R 110ms poll : R22 0:100
		R 120ms slice 0 2/3 952 : R5
		R 220ms poll : R22 0:101
		S 230ms ack 0 101 : S9 =101
		S 240ms ack 0 100 : S7 =101
		S 250ms poll 1 : S14 1
		R 260ms slice 0 1/3 : R6
		R 260ms poll : R25 0:111
		S 270ms ack 0 111 : S10 #1
		S 280ms ack 0 101 : S5
		R 290ms read : R16 chunk=3000`},
	{"everything-doubled", "Counts doubled packets twice.", "delivery completion", "SAFE-1 SAFE-4 RCV-8 SND-6 R7 R14 S5 S7 S10",
		`S 0 submit 2048 : S1 #0
		S 0 poll 0,1 : S14 0-1
		R 10ms slice 0 0/2 : R2
		R 10ms slice 0 0/2 : R7
		R 110ms poll : R22 0:10
		S 120ms ack 0 10 : S9
		S 120ms ack 0 10 : S7
		R 130ms slice 0 1/2 : R6
		R 130ms slice 0 1/2 : R14
		R 130ms poll : R25 0:11
		S 140ms ack 0 11 : S10 #1
		S 140ms ack 0 11 : S5
		R 150ms read : R16 chunk=2048
		R 151ms read : R17`},
	{"sizes-go-up-and-down", "Keeps something of a chunk of another size.", "reset", "SAFE-1 CON-2 SND-10 RCV-10 S1 S10 R1 R2",
		`S 0 submit 2500 : S1 #0
		S 0 poll 0,1,2 : S14 0-2
		R 10ms slice 0 0/3 : R2
		R 10ms slice 0 1/3 : R5
		R 10ms slice 0 2/3 452 : R6
		R 10ms poll : R25 0:111
		R 10ms read : R16 chunk=2500
		S 20ms ack 0 111 : S10 #1
		S 20ms submit 7 : S1 #1
		S 20ms poll 0 : S14 0/1:7
		R 30ms slice 1 0/1 7 : R1
		R 30ms poll : R25 1:1
		R 30ms read : R16 chunk=7
		S 40ms ack 1 1 : S10 #2
		S 40ms submit 4097 : S1 =00000 #2
		S 40ms poll 4,3,2,1,0 : S14 4,3,2,1,0
		R 50ms slice 2 4/5 1 : R2 =00001
		R 50ms slice 2 3/5 : R5
		R 50ms slice 2 2/5 : R5
		R 50ms slice 2 1/5 : R5
		R 50ms slice 2 0/5 : R6
		R 50ms poll : R25 2:11111
		R 50ms read : R16 chunk=4097
		S 60ms ack 2 11111 : S10 #3`},
}
