package fuzz

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/testvectors"
)

// A sender and a receiver of a channel talk over a network in which a packet stays: packets
// come in any order, late, twice, or never, as far as the packet layer takes them. Both are their oracles at
// every event, also with fewer bits of a sequence; and the judge knows the messages that were sent. At
// last everything arrives: then all is delivered or skipped, and released, and both ends are
// silent, unless one has given up.
//
// An input is a configuration and the events of a conform.Talk.
var targetChannelConversation = newTarget("ChannelConversation", "both ends of a channel are their oracles, and deliver all at last", runChannelConversation, seedChannelConversations)

func runChannelConversation(t T, data []byte) {
	channels.Converse(t, &conform.Input{Left: data}, mostTalk, func(p *conform.Pair) {
		if verbose() {
			p.Judges = append(p.Judges, logged{p})
		}
	})
}

// seedChannelConversations are conversations on networks that lose and turn packets, in each space.
func seedChannelConversations([]testvectors.File) (seeds [][]byte) {
	for space := range 5 {
		for _, kind := range []string{"ordered", "unordered"} {
			for how, f := range []channels.Format{{Window: 32, Data: 1, Group: 2}, {Window: 32, Data: 4, Group: 4}, {Window: 32, Data: 40, Group: 64}} {
				c := channels.TalkConfig{Kind: kind, Format: f, SendQueue: 64, First: 65_530, GiveUp: 2_000_000, Space: space}.Fit().(channels.TalkConfig)
				v := channels.NewConversation(recorder{}, c)
				talkOverChannel(v, how)
				seeds = append(seeds, channels.Encode(recorder{}, c, v))
			}
		}
	}
	return seeds
}

// talkOverChannel lets an application send and read for some seconds, with lifetimes, until an
// outage fails both ends. The network gets worse by how.
func talkOverChannel(v *channels.Conversation, how int) {
	sent, gone := 0, false
	v.Carry = func(at int64, from *conform.End, _ conform.Event, b conform.Bytes) {
		to := v.Other(from)
		arrive := func(at int64) { v.Do(at, to, channels.Packet{Hex: b}) }
		if sent++; gone || how > 0 && sent%(6-how) == 0 {
			return
		}
		late := int64(sent%3*how) * 7_000
		if v.Add(at+10_000+late, conform.Arrival, arrive); sent%9 == 8 {
			v.Add(at+40_000, conform.Arrival, arrive)
		}
	}
	for n := range int64(40) {
		now := n * 30_000
		if n == 5 {
			for _, end := range v.Ends {
				v.Do(now, end, channels.Path{SRTT: 50_000, Patience: 10_000})
			}
		}
		v.Do(now, v.Ends[0], channels.Say{Size: n * 7, Small: n%3 > 0, Times: 1 + n%2, Lifetime: []int64{0, 0, 1, 100_000}[n%4]})
		if v.Run(now+20_000, nil); n%8 > 3 {
			v.Do(now+20_000, v.Ends[1], channels.Take{Times: 100})
		}
		gone = n > 35
	}
	v.Run(8_000_000, nil)
}
