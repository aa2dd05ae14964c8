package port

import (
	"math"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// channelOperations are those of channels (CHO-1), with records in JSON as their layout has them (CHO-4).
var channelOperations = map[string]operation{
	contract.OpChannelReport:   channelReport,
	contract.OpChannelReceiver: machine(channels.Receiver), contract.OpChannelSender: machine(channels.Sender),
}

// anyInt returns a number that an int holds everywhere; what lies beyond is as wrong.
func (o *object) anyInt(name string) int {
	return int(min(max(o.number(name), math.MinInt32), math.MaxInt32))
}

// channel returns a channel: all that do not exist are as wrong.
func (o *object) channel() uint8 {
	if id := o.number("channel"); id >= 0 && id < channel.MaxChannels {
		return uint8(id)
	}
	return channel.MaxChannels
}

// ascending reads sequences that ascend strictly from base (CHO-5).
func ascending(q *object, base uint16) (missing []uint16) {
	for _, text := range q.list("missing") {
		v, err := integer(text)
		if err != nil || v < 0 || v > math.MaxUint16 {
			q.bad()
		}
		missing = append(missing, uint16(v))
	}
	if !slices.IsSortedFunc(missing, func(a, b uint16) int { return int(a-base) - int(b-base) }) || len(slices.Compact(slices.Clone(missing))) < len(missing) {
		q.bad()
	}
	return missing
}
