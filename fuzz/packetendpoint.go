package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Two ends of a connection send each other packets over a network that loses, doubles,
// delays and reorders datagrams, and damages and forges them; they are polled late, and
// their clock goes back. At each event each end does what its oracle does, and the judge is
// asked (section 11): as long as nothing is forged, for all promises; then for those that
// need no assumptions. At last nothing is lost any more, every number is settled, and both
// ends fall silent.
//
// An input is a configuration and the events of a conform.Talk.
var targetPacketEndpoint = newTarget("PacketEndpoint", "both ends of a connection are their oracles, and keep their promises and their bounds, whatever arrives", runPacketEndpoint, seedPacketEndpoints)

// mostTalk is how many events both ends get.
const mostTalk = 1500

func runPacketEndpoint(t T, data []byte) {
	packets.Converse(t, &conform.Input{Left: data}, mostTalk, func(p *conform.Pair) { judge(p) })
}

// seedPacketEndpoints are the traces of endpoints, whose peer is forged, and conversations
// on networks that lose, double and delay.
func seedPacketEndpoints(files []testvectors.File) (seeds [][]byte) {
	add := func(c packets.WholeConfig, traces ...[]conform.Timed) {
		head := packets.Whole.Encode(c, nil, nil)
		seeds = append(seeds, packets.NewConversation(c, oracleOf).Encode(head, traces...))
	}
	for _, tr := range packets.Endpoint.Traces(testvectors.Requests(files)) {
		add(packets.WholeConfig{EndpointConfig: tr.Config.(packets.EndpointConfig), Profile: "default"}, tr.Events)
	}
	first := packets.EndpointConfig{FragmentSize: 8, MaxFragments: 4, FragmentAbove: 8, NextToSend: 65_500, NextToReceive: 1<<32 - 5}
	for rings := range 7 {
		for how := range 6 {
			c := packets.WholeConfig{EndpointConfig: first, Profile: []string{"default", "article"}[how%2], Rings: rings, Held: how * rings}
			v := packets.NewConversation(c, oracleOf)
			talk(v, how)
			add(c, trace(v.Ends[0]), trace(v.Ends[1]))
		}
	}
	return seeds
}

// talk lets both ends send for some seconds: packets of all sizes, bursts of them, with layers above
// that refuse some. The network gets worse by how.
func talk(v *packets.Conversation, how int) {
	v.Mend(20_000)
	carry, sent := v.Carry, 0
	v.Carry = func(at int64, from *conform.End, e conform.Event, b conform.Bytes) {
		switch sent++; {
		case how > 0 && sent%(11-how) == 0: // lost
		case how > 1 && sent%7 == 0: // late
			carry(at+int64(sent)*10_000, from, e, b)
		case how > 2 && sent%5 == 0: // twice
			carry(at+30_000, from, e, b)
			carry(at, from, e, b)
		default:
			carry(at, from, e, b)
		}
	}
	now := int64(0)
	for n := range 40 {
		end := v.Ends[n/3%2]
		payload := conform.Bytes(bytes.Repeat([]byte{byte(n)}, 1+n*7%32))
		v.Do(now, end, []conform.Event{packets.Send{Payload: payload}, packets.Send{Payload: payload}, packets.Quiet{Payload: payload}}[n%3])
		if n%13 == 12 && how > 3 {
			for range 100 * (how - 3) {
				v.Do(now, end, packets.Send{Payload: "burst"})
			}
		}
		if how%2 == 1 {
			v.Do(now, end, packets.Above{Says: []string{"take", "refuse", "take", "quietly"}[n/5%4]})
		}
		now += []int64{5_000, 40_000, 300_000, 1_000}[n%4] * int64(1+how)
		v.Run(now, nil)
	}
	v.Run(now+10_000_000, nil)
}
